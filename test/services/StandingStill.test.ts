import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as Transactions from "#layers/RailEvm/Transactions.ts"
import * as Pipeline from "#services/Database/Pipeline.ts"
import { EventLog } from "#services/EventLog.ts"
import * as Appended from "#services/EventLog/Appended.ts"
import * as Following from "#services/EventLog/Following.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import * as Connection from "#services/WebhookDeliveries/Connection.ts"
import { Claim, noWords } from "#services/Scans/Claims.ts"
import * as Scanned from "#services/Scans/Records.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { Webhooks } from "#services/Webhooks.ts"
import { keyOf } from "../layers/RailEvmHarness.ts"
import { findings } from "./ScansHarness.ts"
import { subscribe, testLayer } from "./WebhookDeliveriesHarness.ts"

const Test = Layer.mergeAll(Ledger.layer, EventLog.layer).pipe(
  Layer.provideMerge(Appended.layer),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, BusMemory.layer))
)

/** Comes as far as `held`, with what it has locked by then, and no further. */
const frozen = Effect.fnUntraced(function* <E, R>(work: (held: Effect.Effect<never>) => Effect.Effect<unknown, E, R>) {
  const held = yield* Latch.make(false)
  yield* work(Effect.andThen(held.open, Effect.never)).pipe(Effect.ignoreCause, Effect.forkScoped)
  yield* held.await
})

// A statement of ours waits for ten seconds at most.
layer(Test, { timeout: "60 seconds" })("a process that stands still in a transaction", (it) => {
  it.effect("does not have those wait for long who follow the log under the same name", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const name = newUuid()
      const { pass } = yield* Following.make(name)
      const { append } = yield* EventLog
      yield* append([{ tenant_id: newUuid(), type: "transfer.created", data: {} }])
      yield* frozen((held) => pass(Effect.succeed(1), () => held))
      yield* sql`SELECT 1 FROM followers WHERE name = ${name} FOR UPDATE`
    })
  )

  it.effect("nor those who send webhooks", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { fly, transaction } = yield* Connection.make(newUuid())
      const lock = Pipeline.statement([], "SELECT 1 FROM ledger_head FOR UPDATE")
      const took = fly([Connection.begin, { statement: lock, values: [] }])
      yield* frozen((held) => transaction(Effect.andThen(took, held)))
      yield* sql`SELECT 1 FROM ledger_head FOR UPDATE`
    })
  )

  it.effect("nor those whose money the same relayer brings to a chain", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { first } = yield* Transactions.make(keyOf("7"), 84_532n)
      const order = Effect.fnUntraced(function* () {
        const settlement = newUuid()
        yield* sql`INSERT INTO chain_settlements (id, "authorization", network, asset, payer, nonce, amount, state, due_at, give_up_at,
          created_at) VALUES (${settlement}, '{}', 'base-sepolia', 'a', 'p', ${settlement}, 1, 'prepared', now(), now(), now())`
        const fees = { maxFee: 2n, tip: 1n }
        return first({ settlement, to: `0x${"1".repeat(40)}`, data: "0x", gas: 21_000n, fees, fromBlock: 1n }, 0n)
      })
      const [one, other] = [yield* order(), yield* order()]
      yield* frozen((held) => sql.withTransaction(Effect.andThen(one, held)))
      assert.strictEqual((yield* other).nonce, 0n)
    })
  )

  it.effect("nor those who end a scan", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { store } = yield* Scanned.make({ url: () => "", verify: () => true }, Duration.hours(1))
      const claim = Claim.make({
        kind: "scan",
        domain: "still.example.com",
        variant: "",
        id: newUuid(),
        holder: newUuid(),
        created_at: yield* DateTime.nowAsDate
      })
      yield* frozen((held) => sql.withTransaction(Effect.andThen(store(claim, findings(), noWords), held)))
      yield* sql`SELECT 1 FROM merchant_scan_head FOR UPDATE`
    })
  )
})

layer(testLayer(), { timeout: "60 seconds" })("a process that stands still with a subscription", (it) => {
  const locked = (id: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1 FROM webhooks WHERE id = ${id} FOR NO KEY UPDATE`)

  it.effect("that its owner changes does not have those wait for long who write what came of calls", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { caller, id } = yield* subscribe("http://127.0.0.1:1/")
      const { update } = yield* Webhooks
      const changing = update(caller, id, { description: "Changed" })
      yield* frozen((held) => sql.withTransaction(Effect.andThen(changing, held)))
      yield* locked(id)
    })
  )

  it.effect("whose lost attempts it makes again does not, either", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { id, tenant_id } = yield* Effect.map(subscribe("http://127.0.0.1:1/"), ({ caller, id }) => ({
        id,
        ...caller
      }))
      const now = yield* DateTime.nowAsDate
      yield* sql`INSERT INTO webhook_deliveries (webhook_id, id, chain_id, tenant_id, cause, event_id, event_type, event_seq, attempt,
          again, first_at, due_at, sent_at, lease_until, status, created_at)
        SELECT ${id}, u, u, ${tenant_id}, 'event', u, 'transfer.created', 1, 1, false, ${now}::timestamptz, ${now}::timestamptz,
          ${now}::timestamptz, ${now}::timestamptz, 'sending', ${now}::timestamptz FROM new_uuid() AS u`
      const { tidy } = yield* WebhookDeliveries
      yield* frozen((held) => sql.withTransaction(Effect.andThen(tidy, held)))
      yield* locked(id)
    })
  )
})
