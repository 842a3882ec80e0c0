import type { Schema } from "effect"
import { OpenApi } from "effect/http-api"

type Media = Record<string, { example?: Schema.Json }>
interface Operation {
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
}) =>
  OpenApi.annotations({
    summary: about.summary,
    description: about.description,
    transform: (spec) => {
      const { requestBody, responses } = spec as Operation
      show(requestBody?.content, about.body)
      for (const status of ["200", "201", "202"]) show(responses[status]?.content, about.answer)
      return spec
    }
  })
