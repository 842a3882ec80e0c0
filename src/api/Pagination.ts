import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { Base64Url } from "effect/encoding"
import { maxMicros } from "#domain/Money.ts"

/** The query parameters of lists as the reference shows them; what they are decoded by only knows that they come as text. */
export const listParameters = {
  page: { type: "integer", minimum: 1, maximum: 1_000_000, default: 1, description: "Which page, from 1" },
  limit: { type: "integer", minimum: 1, maximum: 200, default: 50, description: "How many items at most" }
} as const

/** A whole number within a range, and which one it is when it is left out. */
export const between = (range: { readonly minimum: number; readonly maximum: number; readonly default: number }) =>
  Schema.Int.check(Schema.isBetween(range)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(range.default)))

const limit = between(listParameters.limit)

/** Query of a bounded list; spread it into an endpoint's `query`. */
export const pageQuery = { page: between(listParameters.page), limit }

export interface PageQuery {
  readonly page: number
  readonly limit: number
}

/** A page of a bounded list. */
export const page = <Item extends Schema.Top>(item: Item) =>
  Schema.Struct({
    data: Schema.Array(item),
    pagination: Schema.Struct({ page: Schema.Int, limit: Schema.Int, total: Schema.Int, totalPages: Schema.Int })
  })

/** The page that holds these items out of `total`. */
export const pageOf = <Item>(query: PageQuery, data: ReadonlyArray<Item>, total: number) => ({
  data,
  pagination: { page: query.page, limit: query.limit, total, totalPages: Math.ceil(total / query.limit) }
})

/** How many items come before the page. */
export const offsetOf = (query: PageQuery): number => (query.page - 1) * query.limit

const noCursor = { message: "must be a cursor that an earlier answer gave as next_cursor" }

/** A place in a log, opaque to callers; `position` is the codec of what it stands for and refuses anything made up. */
export const cursor = <Position>(position: Schema.Codec<Position, string>) => {
  const [decode, encode] = [Schema.decodeEffect(position), Schema.encodeSync(position)]
  return Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{1,200}$/u, noCursor)).pipe(
    Schema.decodeTo(
      Schema.toType(position),
      SchemaTransformation.transformEffect({
        decode: (text: string) =>
          Effect.mapError(
            Effect.flatMap(Effect.fromResult(Base64Url.decodeString(text)), (place) => decode(place)),
            () => new SchemaIssue.InvalidValue(noCursor)
          ),
        encode: (place: Position) => Effect.succeed(Base64Url.encode(encode(place)))
      })
    )
  )
}

/** A line's place in the log of all movements. */
export const Position = Schema.BigIntFromString.check(Schema.isBetweenBigInt({ minimum: 1n, maximum: maxMicros }))

/** Query of an unbounded log, such as `cursorQuery(Position)`; spread it into an endpoint's `query`. */
export const cursorQuery = <Position>(position: Schema.Codec<Position, string>) => ({
  cursor: Schema.optionalKey(cursor(position)),
  limit
})

/** A stretch of an unbounded log; `next_cursor` is null at its end. */
export const cursorPage = <Item extends Schema.Top, Position>(item: Item, position: Schema.Codec<Position, string>) =>
  Schema.Struct({
    data: Schema.Array(item),
    pagination: Schema.Struct({ limit: Schema.Int, next_cursor: Schema.NullOr(cursor(position)) })
  })

/** The stretch made of the first `limit` of the items found; ask the database for one more, to know whether there is more. */
export const cursorPageOf = <Item, Position>(
  limit: number,
  found: ReadonlyArray<Item>,
  position: (item: Item) => Position
) => {
  const data = found.slice(0, limit)
  const last = data.at(-1)
  return {
    data,
    pagination: { limit, next_cursor: found.length > limit && last !== undefined ? position(last) : null }
  }
}
