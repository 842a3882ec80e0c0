import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Ledger } from "#services/Ledger.ts"
import { Lookout } from "#services/Lookout.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, Test, transfer, wallet } from "./LedgerHarness.ts"

layer(Test, { timeout: "60 seconds" })("forgetting idempotency keys", (it) => {
  it.effect(
    "spares a key that is used again at the same moment, and waits for nobody who does: its next repetition moves nothing",
    () =>
      Effect.gen(function* () {
        const { forgetKeys, post } = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const [payer, payee] = [yield* wallet(10n), yield* wallet()]
        const tenant_id = newUuid()
        const pay = (key: string) => {
          const idempotency = { tenant_id, operation: "test", key, fingerprint: "f" }
          return post({ ...transfer(payer, payee, 1n), idempotency, result: () => "paid" })
        }
        yield* pay("used once")
        yield* pay("used again")
        yield* TestClock.adjust("25 hours")
        // The head of the log is taken before a key is written: whoever waits for the head has not written yet.
        const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* sql`UPDATE idempotency_keys SET expires_at = expires_at + interval '25 hours'
          WHERE tenant_id = ${tenant_id} AND key = 'used again'`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(release)),
          sql.withTransaction,
          Effect.forkChild
        )
        yield* Deferred.await(locked)
        assert.strictEqual(yield* forgetKeys, 1)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(holder)
        assert.strictEqual(yield* forgetKeys, 0)
        assert.deepInclude(yield* pay("used again"), { replayed: true, result: "paid" })
        assert.deepStrictEqual(yield* balance(payee), { posted: 2n, held: 0n })
      })
  )

  /** So many keys that are over, of which those that were written later were over sooner. */
  const ended = Effect.fnUntraced(function* (count: number) {
    const sql = yield* SqlClient.SqlClient
    const operation = newUuid()
    yield* sql`INSERT INTO idempotency_keys (tenant_id, operation, key, fingerprint, command_id, result, expires_at)
      SELECT gen_random_uuid(), ${operation}, n::text, 'f', gen_random_uuid(), '{}', '1969-01-01'::timestamptz - make_interval(mins => n)
      FROM generate_series(1, ${count}::int) AS n`
    return sql<{ key: string }>`SELECT key FROM idempotency_keys WHERE operation = ${operation}`
  })

  it.effect("begins with those that were over first, wherever they are", () =>
    Effect.gen(function* () {
      const left = yield* ended(5001)
      assert.strictEqual(yield* (yield* Ledger).forgetKeys, 5000)
      assert.deepStrictEqual(yield* left, [{ key: "1" }])
      assert.strictEqual(yield* (yield* Ledger).forgetKeys, 1)
    })
  )

  it.effect("goes on while there are any: more are used in a minute than go at once", () =>
    Effect.gen(function* () {
      const left = yield* ended(10_001)
      yield* Layer.build(Layer.provide(Ledger.layerWorker, Lookout.layer))
      const remaining = yield* Effect.repeat(left, { until: (rows) => rows.length === 0, times: 2000 })
      assert.deepStrictEqual(remaining, [])
    })
  )
})
