import { isText } from "./Encoding.ts"
import type { Turnpike } from "./Contract.ts"
import { nameOfPath, operations, written } from "./Operations.ts"
import { type CallOptions, operation, type Parts, type Route, transport, type TransportOptions } from "./Transport.ts"

export type TurnpikeOptions = TransportOptions

/** What a function of the API takes, such as `RequestOf<Turnpike["wallets"]["create"]>`. */
export type RequestOf<Method extends (...args: never) => unknown> = NonNullable<Parameters<Method>[0]>

/** What a function of the API answers. */
export type AnswerOf<Method extends (...args: never) => unknown> = Awaited<ReturnType<Method>>

type Call = (parts?: Parts, options?: CallOptions) => Promise<unknown>

/** The items of all pages: by cursor where the list has one, else by page number. */
async function* all(call: Call, parts: Parts = {}, options: CallOptions = {}): AsyncGenerator<unknown, void, void> {
  let query: object | undefined = parts.query ?? {}
  while (query) {
    const { data, pagination } = Object(await call({ ...parts, query }, options))
    yield* data
    query = following(query, pagination, data.length)
  }
}

const following = (query: object, pagination: { [name: string]: unknown }, items: number): object | undefined => {
  const { next_cursor: cursor, page, totalPages } = pagination
  if (isText(cursor)) return { ...query, cursor }
  const isMore = typeof page === "number" && typeof totalPages === "number" && page < totalPages && items > 0
  return isMore ? { ...query, page: page + 1 } : undefined
}

/** The operations of a group by name, from its line of the table. */
const routesIn = (group: string, line: string): { readonly [name: string]: Route } => {
  const words = written(line).split(" ")
  const prefix = (/^[A-Z]/.test(words[0] ?? "") ? nameOfPath(group) : (words.shift() ?? "")).replace(/^\w/, "/v1/$&")
  const routes: { [name: string]: Route } = {}
  let method = ""
  let kind: string | undefined
  for (const word of words) {
    const [first = "", ...rest] = word.split("/")
    if (/^[A-Z]/.test(first)) [method = "", kind] = first.split("+")
    else routes[first] = [method, [prefix, ...rest].join("/").replace(/\/$/, `/${first}`), kind]
  }
  return routes
}

/** The API of the Turnpike at `baseUrl`, with a function for every operation. */
export const turnpike = (options: TurnpikeOptions): Turnpike => {
  const calls = transport(options)
  const groups = Object.entries(operations).map(([group, line]) => {
    const methods = Object.entries(routesIn(group, line)).map(([name, route]) => {
      const call = operation(calls, route)
      return [name, Object.assign(call, { all: (parts?: Parts, about?: CallOptions) => all(call, parts, about) })]
    })
    return [group, Object.fromEntries(methods)]
  })
  return Object.fromEntries(groups)
}
