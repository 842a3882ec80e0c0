import { assert, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Option, Schedule } from "effect"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { authorization, chain, order, testLayer } from "./ChainSettlementsHarness.ts"

const real = Clock.Clock.defaultValue()
let back = 0
const now = () => real.currentTimeMillisUnsafe() - back
/** A clock whose time is set back by hand. */
const set: Clock.Clock = Object.assign(Object.create(real), {
  currentTimeMillisUnsafe: now,
  currentTimeMillis: Effect.sync(now)
})

/** One settlement at a time is waited for, and not for long. */
const impatient = testLayer({ wait: Duration.millis(200), concurrency: 1 }).pipe(
  Layer.provideMerge(Layer.succeed(Clock.Clock, set))
)

const wanted = () => order({ authorization: authorization({ validUntil: new Date(now() + 300_000) }) })

layer(impatient, { timeout: "60 seconds", excludeTestServices: true })("when the time is set back", (it) => {
  it.effect("a settlement that nobody waits for any more is in nobody's way", () =>
    Effect.gen(function* () {
      const { settle } = yield* ChainSettlements
      const [first, second] = [wanted(), wanted()]
      yield* chain.does(({ id }) =>
        Effect.sync(() => {
          if (id !== first.id) return { _tag: "Settled", transaction: "0x2" }
          back = 3_600_000
          return { _tag: "Pending", transaction: "0x1" }
        })
      )
      assert.strictEqual((yield* settle(first))._tag, "Pending")
      yield* Effect.repeat(settle(second), {
        until: ({ _tag }) => _tag === "Settled",
        schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ times: 50 }))
      })
      assert.strictEqual((yield* settle(second))._tag, "Settled")
    })
  )
})

layer(impatient, { timeout: "60 seconds", excludeTestServices: true })(
  "when the time is set back while a chain is asked",
  (it) => {
    it.effect("about a settlement, it is asked again soon, and not when the time is there again", () =>
      Effect.gen(function* () {
        const { bringForward, get, reconcileDue, settle } = yield* ChainSettlements
        back = 0
        const asked = wanted()
        yield* chain.does("hang")
        yield* Effect.forkScoped(settle(asked))
        yield* chain.asked(asked.id)
        yield* bringForward
        assert.strictEqual(yield* reconcileDue, 0, "it is being asked about")
        back = 3_600_000
        yield* chain.does("settle")
        yield* bringForward
        assert.strictEqual(yield* reconcileDue, 1)
        assert.strictEqual(Option.getOrUndefined(yield* get(asked.id))?.state, "confirmed")
      })
    )
  }
)
