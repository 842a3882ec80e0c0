import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Postgres from "#layers/Postgres.ts"
import { Batches } from "#services/Batches.ts"
import { Database } from "#services/Database.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { balance, broken, claims, item, paying } from "./BatchesHarness.ts"

/** Loses the answer to a flight that is on its way: 1 is the next one, 2 the one after it. */
class Weather extends Context.Service<
  Weather,
  { readonly lose: (flight: number) => void; readonly lost: () => number }
>()("turnpike/test/services/BatchesLoss.test/Weather") {}

/** The ledger's way to the database: a socket of our own in front of the database's. */
const way = Effect.gen(function* () {
  const { config } = yield* Database
  const directory = mkdtempSync(join(tmpdir(), "turnpike-way-"))
  const path = join(directory, "socket")
  let until = 0
  let lost = 0
  const server = createServer((near) => {
    const far = connect(config.path ?? "")
    let isLosing = false
    near.on("data", (bytes) => {
      if (until > 0) isLosing = --until === 0
      far.write(bytes)
    })
    far.on("data", (bytes) => {
      if (!isLosing) return near.write(bytes)
      lost++
      near.destroy()
      return far.destroy()
    })
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(path, () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        server.close()
        rmSync(directory, { recursive: true, force: true })
      })
  )
  return Context.make(Database, { config: { ...config, path }, embedded: false }).pipe(
    Context.add(Weather, {
      lose: (flight) => {
        until = flight
      },
      lost: () => lost
    })
  )
})

// What is lost on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const Test = Layer.mergeAll(Batches.layer, Transfers.layer, Doctor.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(Layer.effectContext(way)),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, quiet))
)

const counts = Effect.fnUntraced(function* (tenant_id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT
      (SELECT count(*)::int FROM batches WHERE tenant_id = ${tenant_id}) AS batches,
      (SELECT count(*)::int FROM transfers WHERE tenant_id = ${tenant_id}) AS transfers,
      (SELECT count(*)::int FROM events WHERE tenant_id = ${tenant_id} AND type LIKE 'transfer.%') AS facts,
      (SELECT count(*)::int FROM events WHERE tenant_id = ${tenant_id} AND type = 'batch.completed') AS told`
  return row
})

// Connections are lost in real time.
layer(Test, { timeout: "60 seconds", excludeTestServices: true })(
  "a batch whose answer from the database is lost",
  (it) => {
    for (const [when, flight] of [
      ["after it was posted", 2],
      ["before it was posted", 1]
    ] as const) {
      for (const key of ["key", undefined]) {
        it.effect(
          `${when}, ${key === undefined ? "without a key" : "under a key"}, is made once and answered whole`,
          () =>
            Effect.gen(function* () {
              const batches = yield* Batches
              const { lose, lost } = yield* Weather
              const { caller, purse, till } = yield* paying(10n)
              const transfers = [
                item(till, 1n),
                item(till, 2n, { idempotency_key: "item" }),
                item(purse, 1n, { idempotency_key: "hopeless" }),
                item(till, 100n),
                item(till, 3n, { idempotency_key: "item" })
              ]
              const before = lost()
              lose(flight)
              const { batch, replayed } = yield* batches.create(
                caller,
                { from_wallet_id: purse, transfers },
                claims(caller, key)
              )
              assert.strictEqual(lost(), before + 1)
              assert.isFalse(replayed)
              assert.deepStrictEqual(
                batch.transfers.map(({ failure_reason }) => failure_reason),
                [null, null, "same_wallet", "insufficient_funds", "idempotency_key_reused"]
              )
              assert.deepStrictEqual(yield* batches.get(caller, batch.batch_id), batch)
              assert.deepStrictEqual(yield* counts(caller.tenant_id), { batches: 1, transfers: 5, facts: 10, told: 1 })
              assert.deepStrictEqual([yield* balance(purse), yield* balance(till)], [7n, 3n])
              assert.deepStrictEqual(yield* broken, [])
              const { examine } = yield* Doctor
              assert.deepStrictEqual(
                (yield* examine).flatMap((finding) => finding.broken),
                []
              )
            })
        )
      }
    }
  }
)
