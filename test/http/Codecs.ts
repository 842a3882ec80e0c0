import { Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "#api/Api.ts"

/** What the code takes and gives, by the id of the operation in the description. */
export const codecs = new Map<
  string,
  {
    readonly bodies: ReadonlyArray<Schema.Top>
    readonly answers: ReadonlyArray<Schema.Top>
    readonly query: Schema.Top | undefined
  }
>()
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group, successes }) => {
    const bodies = [...endpoint.payload.values()].map(({ schemas }) => Schema.Union(schemas))
    const answers = [...successes.values()].flat()
    codecs.set(`${group.identifier}.${endpoint.identifier}`, { bodies, answers, query: endpoint.query })
  }
})

/** The example as the code reads it, which throws where it does not. */
export const decodes = (schema: Schema.Top, example: unknown) =>
  Schema.decodeUnknownSync(Schema.toCodecJson(schema) as never, { onExcessProperty: "error" })(example)
