import type { Schema } from "effect"
import { OpenApi } from "effect/http-api"

type Media = Record<string, { schema?: { readonly anyOf?: ReadonlyArray<object> }; example?: Schema.Json }>
interface Parameter {
  readonly name: string
  readonly in: string
}

interface Operation {
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: { required?: boolean; readonly content: Media }
  readonly responses: Record<string, { readonly content?: Media }>
}

const show = (content: Media | undefined, example: Schema.Json | undefined, shown = "application/json") => {
  if (content === undefined || example === undefined) return
  for (const [type, media] of Object.entries(content)) if (type === shown) media.example = example
}

/** A body that is declared as `[Body, Schema.Null]` may be left out; the description would say that it may be null. */
const mayBeLeftOut = (body: Operation["requestBody"]) => {
  if (body === undefined) return
  body.required = false
  for (const media of Object.values(body.content)) Object.assign(media, { schema: media.schema?.anyOf?.[0] })
}

/** Generators of clients parse a stream and hold each event's data against its schema, which is an object; as a whole it is text. */
const events = { description: "The text of the stream; to readers who take it apart, the data of one of its events" }

/** What the reference says about an operation, with an example of the body it takes and of the answer it gives. */
export const documented = (about: {
  readonly summary: string
  readonly description: string
  readonly body?: Schema.Json
  readonly bodyIsOptional?: true
  readonly answer?: Schema.Json
  /** The answer's media type, when it is not JSON. */
  readonly answerType?: string
  /** The same of an answer that is a stream of events. */
  readonly stream?: string
  /** What is said of query parameters in place of what they are decoded by. */
  readonly query?: Readonly<Record<string, { readonly description: string; readonly schema?: Schema.Json }>>
  /** Query parameters that `description` tells of, and no list: generators of clients give two names apart by `-` or `_` one name. */
  readonly toldInWords?: ReadonlyArray<string>
}) =>
  OpenApi.annotations({
    summary: about.summary,
    description: about.description,
    transform: (spec) => {
      const { parameters, requestBody, responses } = spec as Operation
      const isTold = (one: Parameter) => one.in === "query" && about.toldInWords?.includes(one.name)
      const listed = parameters?.filter((one) => !isTold(one))
      for (const one of listed ?? []) if (one.in === "query") Object.assign(one, about.query?.[one.name])
      if (about.bodyIsOptional) mayBeLeftOut(requestBody)
      show(requestBody?.content, about.body)
      for (const status of ["200", "201", "202"]) show(responses[status]?.content, about.answer, about.answerType)
      const stream = responses["200"]?.content?.["text/event-stream"]
      if (stream !== undefined) Object.assign(stream, { schema: events, example: about.stream })
      return { ...spec, ...(listed && { parameters: listed }) }
    }
  })
