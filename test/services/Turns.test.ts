import { assert, layer } from "@effect/vitest"
import { Clock, Context, Deferred, Duration, Effect, Exit, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { LanePolicy } from "#services/Ledger/Lane.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Refunds } from "#services/Refunds.ts"
import { open, parties, platform as streams } from "./MoneyStreamsHarness.ts"
import { paid, platform as refunds, refundOf } from "./RefundsHarness.ts"

/** A ledger that gives its callers up after 300 ms, so that tests do not wait for long. */
const hasty = Layer.effectContext(
  Effect.map(LanePolicy, (defaults) =>
    Context.make(LanePolicy, {
      ...defaults,
      groupTimeout: Duration.millis(200),
      commandTimeout: Duration.millis(300),
      reconnect: Duration.millis(50)
    })
  )
)

// What is given up on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")

/** What happens while somebody keeps the ledger's head, and how long it took in milliseconds. */
const whileAway = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const [taken, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  yield* sql`SELECT log FROM ledger_head FOR UPDATE`.pipe(
    Effect.andThen(Deferred.succeed(taken, undefined)),
    Effect.andThen(Deferred.await(over)),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* Deferred.await(taken)
  const start = yield* Clock.currentTimeMillis
  const value = yield* effect
  const took = (yield* Clock.currentTimeMillis) - start
  yield* Deferred.succeed(over, undefined)
  return { value, took }
})

const live = { excludeTestServices: true, timeout: "60 seconds" } as const

layer(streams.pipe(Layer.provide(hasty), Layer.provideMerge(quiet)), live)("changes of one stream", (it) => {
  it.effect("that wait for each other while the ledger is away are given up together, and then go on", () =>
    Effect.gen(function* () {
      const { topUp } = yield* MoneyStreams
      const both = yield* parties(2_000_000_000n)
      const { id } = (yield* open(both)).stream
      const change = topUp(both.caller, id, { amount: 1n })
      const { took, value } = yield* whileAway(
        Effect.all(
          Array.from({ length: 20 }, () => Effect.exit(change)),
          { concurrency: 20 }
        )
      )
      assert.isTrue(value.every(Exit.isFailure))
      assert.isBelow(took, 3000)
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.retry(Effect.sandbox(change), { times: 20 }))))
    })
  )
})

layer(refunds.pipe(Layer.provide(hasty), Layer.provideMerge(quiet)), live)("refunds of one transfer", (it) => {
  it.effect("that wait for each other while the ledger is away are given up together, and then go on", () =>
    Effect.gen(function* () {
      const { create } = yield* Refunds
      const { caller, id } = yield* paid
      const refund = create(caller, refundOf(id, 1n))
      const { took, value } = yield* whileAway(
        Effect.all(
          Array.from({ length: 20 }, () => Effect.exit(refund)),
          { concurrency: 20 }
        )
      )
      assert.isTrue(value.every(Exit.isFailure))
      assert.isBelow(took, 3000)
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.retry(Effect.sandbox(refund), { times: 20 }))))
    })
  )
})
