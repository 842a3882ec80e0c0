import { assert, layer } from "@effect/vitest"
import { Clock, Context, Deferred, Duration, Effect, Exit, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { Refunds } from "#services/Refunds.ts"
import { another as anotherOfStreams, open, parties, platform as streams } from "./MoneyStreamsHarness.ts"
import { paid, platform as refunds, refundOf, services as refundServices } from "./RefundsHarness.ts"

/** How long a hasty ledger lets anybody wait, and how many wait for each other: many times as long if each waited for himself. */
const patience = 300
const callers = 100

/** A process whose ledger gives its callers up so soon that tests do not wait for long. */
const hasty = Effect.provideService(LanePolicy, {
  ...LanePolicy.defaultValue(),
  groupTimeout: Duration.millis(200),
  commandTimeout: Duration.millis(patience),
  reconnect: Duration.millis(50)
})

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

/** All are given up before each could have waited for himself; when the ledger is back, so is who asks again. */
const areGivenUpTogether = Effect.fnUntraced(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
  const { took, value } = yield* whileAway(
    Effect.all(
      Array.from({ length: callers }, () => Effect.exit(call)),
      { concurrency: callers }
    )
  )
  assert.isTrue(value.every(Exit.isFailure))
  assert.isBelow(took, callers * patience)
  assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.retry(Effect.sandbox(call), { times: 50 }))))
})

const live = { excludeTestServices: true, timeout: "60 seconds" } as const

layer(streams.pipe(Layer.provideMerge(quiet)), live)("changes of one stream", (it) => {
  it.effect("that wait for each other while the ledger is away are given up together, and then go on", () =>
    Effect.gen(function* () {
      const both = yield* parties(2_000_000_000n)
      const { id } = (yield* open(both)).stream
      const process = yield* hasty(anotherOfStreams)
      yield* areGivenUpTogether(process.streams.topUp(both.caller, id, { amount: 1n }))
    })
  )
})

layer(refunds.pipe(Layer.provideMerge(quiet)), live)("refunds of one transfer", (it) => {
  it.effect("that wait for each other while the ledger is away are given up together, and then go on", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const process = yield* hasty(Layer.build(Layer.fresh(refundServices)))
      yield* areGivenUpTogether(Context.get(process, Refunds).create(caller, refundOf(id, 1n)))
    })
  )
})
