import { ConfigProvider, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as Http from "#http/Http.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Node from "#layers/Node.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Settlements } from "#services/Settlements.ts"
import { newcomer } from "./WalletsServer.ts"

/** A sandbox whose settlements take a moment, with the worker that settles them. */
export const server = Layer.merge(Http.layer, Settlements.layerWorker).pipe(
  Layer.provideMerge(Platform.layer),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, Node.layer)),
  Layer.provide(
    ConfigProvider.layer(
      ConfigProvider.fromUnknown({
        ...process.env,
        PORT: "0",
        TURNPIKE_RATE_LIMIT: "off",
        TURNPIKE_SETTLEMENT_DELAY: "400-800 ms"
      })
    )
  )
)

/** A tenant with USDC on one network and a wallet for EURC on another. */
export const payer = Effect.fnUntraced(function* (funds = "1000.00") {
  const { call, tenant } = yield* newcomer
  const wallet = (input: object) => Effect.map(call("POST", "/v1/wallets", input), ({ body }) => String(body.id))
  const from = yield* wallet({ currency: "USDC", network: "solana-devnet" })
  const to = yield* wallet({ currency: "EURC", network: "base-sepolia" })
  yield* call("POST", `/v1/wallets/${from}/fund`, { amount: funds, currency: "USDC" })
  const quote = (over: object = {}) =>
    Effect.map(
      call("POST", "/v1/quotes", { from_currency: "USDC", to_currency: "EURC", amount: "100.00", ...over }),
      ({ body }) => body
    )
  const order = (quote_id: string, over: object = {}) => ({
    type: "cross_border",
    from_wallet_id: from,
    to_wallet_id: to,
    quote_id,
    ...over
  })
  const create = (body: object, headers?: Record<string, string>) => call("POST", "/v1/transfers", body, headers)
  const get = (id: string) => Effect.map(call("GET", `/v1/transfers/${id}`), ({ body }) => body)
  const cancel = (id: string, headers?: Record<string, string>) =>
    call("POST", `/v1/transfers/${id}/cancel`, undefined, headers)
  /** Polls as an integrator does. */
  const ended = (id: string) =>
    Effect.repeat(get(id), {
      until: ({ status }) => status !== "pending" && status !== "processing",
      schedule: Schedule.spaced("20 millis")
    })
  const balances = (id: string) =>
    Effect.map(call("GET", `/v1/wallets/${id}`), ({ body }) => [body.balance_available, body.balance_pending])
  return { call, tenant, from, to, quote, order, create, get, cancel, ended, balances }
})

export const eventsOf = Effect.fnUntraced(function* (id: string) {
  const rows =
    yield* (yield* SqlClient.SqlClient)`SELECT type FROM events WHERE data #>> '{transfer,id}' = ${id} ORDER BY seq`
  return rows.map(({ type }) => type)
})
