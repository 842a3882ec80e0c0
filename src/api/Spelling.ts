import { Context, Option } from "effect"
import { OpenApi } from "effect/http-api"

interface Body {
  properties?: Record<string, unknown>
  required?: ReadonlyArray<string>
}

/**
 * Describes a body by one spelling of its fields: `others` are accepted and not shown, and `needed` are fields that there must be in
 * one of their spellings. The body's schema must have no name of its own.
 */
export const oneSpelling = (
  about: Context.Context<never>,
  { needed = [], others }: { readonly needed?: ReadonlyArray<string>; readonly others: ReadonlyArray<string> }
): Context.Context<never> => {
  const inner = Option.getOrElse(
    Context.getOption(about as Context.Context<OpenApi.Transform>, OpenApi.Transform),
    () => (spec: Record<string, unknown>) => spec
  )
  const transform = (undescribed: Record<string, unknown>) => {
    const spec = inner(undescribed)
    const body: Body = Object(Object(Object(spec["requestBody"])["content"])["application/json"]).schema
    for (const name of others) delete body.properties?.[name]
    body.required = [...needed, ...(body.required ?? [])]
    return spec
  }
  return Context.merge(about, OpenApi.annotations({ transform }))
}
