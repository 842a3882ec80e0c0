import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Latch, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Webhooks } from "#services/Webhooks.ts"
import { eventually } from "./CredentialsHarness.ts"
import { append, head, platform, row, subscribed, tenant, wanted } from "./WebhooksHarness.ts"

const all = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: Schema.String, since: Schema.BigInt }),
    execute: () => sql`SELECT id, since FROM webhooks`
  })(undefined)
)

layer(platform, { timeout: "60 seconds" })("where a webhook begins", (it) => {
  it.effect(
    "is behind every fact that was committed before it was asked for, and before every one after its answer",
    () =>
      Effect.gen(function* () {
        const { create } = yield* Webhooks
        const caller = yield* tenant
        const writer = yield* Effect.forkScoped(
          Effect.forEach(Array.from({ length: 60 }), () => append(2), { concurrency: 4 })
        )
        const made = yield* Effect.forEach(
          Array.from({ length: 20 }),
          Effect.fnUntraced(function* () {
            const before = yield* head
            const { id } = yield* create(caller, wanted)
            return { before, after: yield* head, since: (yield* row(id)).since }
          }),
          { concurrency: 4 }
        )
        yield* Fiber.join(writer)
        for (const { after, before, since } of made) assert.isTrue(before <= since && since <= after)
      })
  )

  it.effect("is behind a fact that is being committed while it is made", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { create, update } = yield* Webhooks
      const { caller, id } = yield* subscribed
      yield* update(caller, id, { status: "paused" })
      const [appended, done] = [yield* Latch.make(false), yield* Latch.make(false)]
      const committing = yield* Effect.forkScoped(
        append().pipe(Effect.andThen(appended.open), Effect.andThen(done.await), sql.withTransaction)
      )
      yield* appended.await
      const made = yield* Effect.forkScoped(create(caller, wanted))
      const activated = yield* Effect.forkScoped(update(caller, id, { status: "active" }))
      const waiting = sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
      yield* eventually(waiting, (found) => found.length >= 2)
      yield* done.open
      yield* Fiber.join(committing)
      const [one] = [yield* Fiber.join(made), yield* Fiber.join(activated)]
      assert.deepStrictEqual([(yield* row(one.id)).since, (yield* row(id)).since], [yield* head, yield* head])
    })
  )

  it.effect("is seen by whoever has seen a fact behind it", () =>
    Effect.gen(function* () {
      const { create } = yield* Webhooks
      const caller = yield* tenant
      const writer = yield* Effect.forkScoped(
        Effect.forEach(Array.from({ length: 60 }), () => append(), { concurrency: 4 })
      )
      const maker = yield* Effect.forkScoped(
        Effect.forEach(Array.from({ length: 30 }), () => create(caller, wanted), { concurrency: 4 })
      )
      // As a follower does: first how far the log goes, then who subscribed.
      const looks = yield* Effect.forEach(Array.from({ length: 60 }), () => Effect.all([head, all]))
      yield* Fiber.join(writer)
      yield* Fiber.join(maker)
      const made = yield* all
      for (const [upTo, found] of looks) {
        const seen = new Set(found.map(({ id }) => id))
        for (const { id, since } of made) assert.isTrue(since >= upTo || seen.has(id))
      }
    })
  )
})
