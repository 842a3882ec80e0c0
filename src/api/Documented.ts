import type { Schema } from "effect"
import { OpenApi } from "effect/http-api"

type Media = Record<string, { example?: Schema.Json }>
interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Media }
  readonly responses: Record<string, { readonly content?: Media }>
}

const show = (content: Media | undefined, example: Schema.Json | undefined) => {
  if (content === undefined || example === undefined) return
  for (const [type, media] of Object.entries(content)) if (type === "application/json") media.example = example
}

/** What the reference says about an operation, with an example of the body it takes and of the answer it gives. */
export const documented = (about: {
  readonly summary: string
  readonly description: string
  readonly body?: Schema.Json
  readonly answer?: Schema.Json
  /** What is said of query parameters in place of what they are decoded by. */
  readonly query?: Readonly<Record<string, { readonly description: string; readonly schema: Schema.Json }>>
}) =>
  OpenApi.annotations({
    summary: about.summary,
    description: about.description,
    transform: (spec) => {
      const { parameters = [], requestBody, responses } = spec as Operation
      for (const one of parameters) if (one.in === "query") Object.assign(one, about.query?.[one.name])
      show(requestBody?.content, about.body)
      for (const status of ["200", "201", "202"]) show(responses[status]?.content, about.answer)
      return spec
    }
  })
