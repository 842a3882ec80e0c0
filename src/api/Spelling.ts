import { Context, Option } from "effect"
import { OpenApi } from "effect/http-api"

interface Body {
  properties?: Record<string, object>
  required?: ReadonlyArray<string>
}

// With `anyOf` or `oneOf` beside `properties`, generators of clients make a body of anything, or lose its fields, and models are refused
// such a tool. What follows they leave alone, and validators hold it.

/** Says of an object that it has this field or one of the others. */
export const oneNeeded = (field: string, ...others: ReadonlyArray<string>) => ({
  if: { required: [field] },
  else: { anyOf: others.map((other) => ({ required: [other] })) }
})

/** Says of an object that it has not both of these fields. */
export const oneOnly = (field: string, other: string) => ({
  dependentSchemas: { [field]: { not: { required: [other] } } }
})

/**
 * Describes a body some of whose fields have another spelling: `others` says which of them, by that spelling, and `needed` is a field
 * that there must be in one of its spellings. The body's schema must have no name of its own.
 */
export const spellings = (
  about: Context.Context<never>,
  { needed, others }: { readonly needed?: string; readonly others: Readonly<Record<string, string>> }
): Context.Context<never> => {
  const inner = Option.getOrElse(
    Context.getOption(about as Context.Context<OpenApi.Transform>, OpenApi.Transform),
    () => (spec: Record<string, unknown>) => spec
  )
  const transform = (undescribed: Record<string, unknown>) => {
    const spec = inner(undescribed)
    const body: Body = Object(Object(Object(spec["requestBody"])["content"])["application/json"]).schema
    for (const [other, field] of Object.entries(others)) {
      const description = `Another spelling of \`${field}\`: send one of the two`
      body.properties = { ...body.properties, [other]: { ...body.properties?.[other], deprecated: true, description } }
    }
    if (needed !== undefined) {
      const spelledOtherwise = Object.keys(others).filter((other) => others[other] === needed)
      Object.assign(body, oneNeeded(needed, ...spelledOtherwise))
    }
    return spec
  }
  return Context.merge(about, OpenApi.annotations({ transform }))
}
