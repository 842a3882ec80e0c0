import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { Database } from "#services/Database.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { load, type Round } from "../Bench.ts"

interface Order {
  readonly concurrency: number
  readonly millis: number
}

const configName = "BENCH_DATABASE"

/** A process of its own that posts transfers between any two of the wallets when it is told to. */
export const start = (config: PgClient.PgClientConfig): ChildProcess =>
  fork(fileURLToPath(import.meta.url), { env: { ...process.env, [configName]: JSON.stringify(config) } })

/** One round of this process. */
export const round = async (process: ChildProcess, order: Order): Promise<Round> => {
  process.send(order)
  const [result] = await once(process, "message")
  return result
}

const work = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { post } = yield* Ledger
  const rows = yield* sql`SELECT id FROM ledger_accounts WHERE purpose = 'wallet' ORDER BY id`
  const ids = rows.map(({ id }) => String(id))
  const tenant = newUuid()
  return () => {
    const from = Math.floor(Math.random() * ids.length)
    const [debit = "", credit = ""] = [
      ids[from],
      ids[(from + 1 + Math.floor(Math.random() * (ids.length - 1))) % ids.length]
    ]
    const id = newUuid()
    return post({
      id,
      steps: [{ kind: "transfer", debit, credit, amount: 1n, currency: "USDC", code: "bench" }],
      idempotency: { tenant_id: tenant, operation: "bench", key: id, fingerprint: id },
      result: () => ({ transfer_id: id }),
      events: () => [
        { tenant_id: tenant, type: "x402.endpoint.updated", data: { transfer: { id, amount: "0.000001" } } }
      ]
    })
  }
})

const serve = Effect.gen(function* () {
  const transfer = yield* work
  const Orders = Schema.decodeUnknownSync(Schema.Struct({ concurrency: Schema.Int, millis: Schema.Int }))
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  process.on("message", (message) => {
    void run(load({ ...Orders(message), work: transfer })).then((result) => process.send?.(result))
  })
  return yield* Effect.never
})

if (process.send !== undefined && process.argv[1] === fileURLToPath(import.meta.url)) {
  const config: PgClient.PgClientConfig = JSON.parse(process.env[configName] ?? "{}")
  const layers = Ledger.layer.pipe(
    Layer.provideMerge(PgClient.layerFrom(PgClient.make({ ...config, maxConnections: 4 }))),
    Layer.provideMerge(Layer.succeed(Database, { config, embedded: true }))
  )
  process.on("disconnect", () => process.exit())
  await Effect.runPromise(serve.pipe(Effect.provide(layers), Effect.scoped))
}
