import { assert, describe, it as plainly, layer } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import * as Delay from "#layers/TransferRail/Delay.ts"
import * as TransferRailSimulated from "#layers/TransferRailSimulated.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Settlements } from "#services/Settlements.ts"
import {
  balance,
  begun,
  broken,
  eventsOf,
  pair,
  sandboxLayer,
  settlementOf,
  transferOf
} from "../services/SettlementsHarness.ts"

const usual = { shortest: Duration.seconds(2), longest: Duration.seconds(5) }
const settleDue = Effect.flatMap(Settlements, (settlements) => settlements.settleDue)

/** What became of a transfer after each of these milliseconds since its creation, the worker running all the while. */
const watched = Effect.fnUntraced(function* (until: number, changed: Parameters<typeof begun>[1]) {
  const parties = yield* pair()
  const { id } = yield* begun(parties, changed)
  const changes: Array<readonly [millis: number, status: string]> = []
  for (let millis = 0; millis <= until; millis += 100) {
    yield* settleDue
    const { failure_reason, status } = yield* transferOf(parties.caller, id)
    const shown = failure_reason ?? status
    if (changes.at(-1)?.[1] !== shown) changes.push([millis, shown])
    yield* TestClock.adjust("100 millis")
  }
  return { id, parties, changes }
})

layer(sandboxLayer(usual), { timeout: "60 seconds" })("the sandbox's rail", (it) => {
  it.effect("leaves a second to cancel, and settles 2 to 5 seconds after the creation", () =>
    Effect.gen(function* () {
      for (let times = 0; times < 5; times++) {
        const { changes } = yield* watched(6000, {})
        assert.deepStrictEqual(changes.slice(0, 2), [
          [0, "pending"],
          [1000, "processing"]
        ])
        const [millis = 0, status] = changes[2] ?? []
        assert.strictEqual(status, "completed")
        assert.isAtLeast(millis, 2000)
        assert.isAtMost(millis, 5100)
      }
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  for (const [index, reason] of [
    "insufficient_funds",
    "rail_error",
    "compliance_block",
    "rejected_by_recipient"
  ].entries()) {
    it.effect(`rejects as ${reason} by memo and by amount, and the money is free again`, () =>
      Effect.gen(function* () {
        for (const changed of [
          { memo: `Test simulate:${reason}.` },
          { quotedAmount: 5_000_000n + BigInt(index + 1) }
        ]) {
          const { changes, id, parties } = yield* watched(6000, changed)
          assert.deepStrictEqual(
            changes.map(([, status]) => status),
            ["pending", "processing", reason]
          )
          assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 0n })
          assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
            "transfer.created pending",
            "transfer.failed failed"
          ])
        }
        assert.deepStrictEqual(yield* broken, [])
      })
    )
  }

  it.effect("loses its first answers with simulate:unknown, and settles all the same", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties, { memo: "simulate:unknown" })
      yield* TestClock.adjust("1 second")
      yield* settleDue
      assert.strictEqual((yield* settlementOf(id)).state, "unknown")
      for (let millis = 0; millis < 8000; millis += 100) {
        yield* TestClock.adjust("100 millis")
        yield* settleDue
      }
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
    })
  )

  it.effect("takes a minute with simulate:slow", () =>
    Effect.gen(function* () {
      const { id, parties } = yield* watched(2000, { memo: "simulate:slow" })
      yield* TestClock.adjust("57 seconds")
      yield* settleDue
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "processing")
      yield* TestClock.adjust("1 second")
      yield* settleDue
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
    })
  )

  it.effect("hears of simulate:stay_pending after a minute, so that it can be cancelled", () =>
    Effect.gen(function* () {
      const { id, parties } = yield* watched(500, { memo: "simulate:stay_pending" })
      yield* TestClock.adjust("58 seconds")
      assert.strictEqual(yield* settleDue, 0)
      assert.strictEqual((yield* (yield* CrossBorder).cancel(parties.caller, id)).transfer.status, "cancelled")
      const { id: left } = yield* begun(parties, { memo: "simulate:stay_pending" })
      yield* TestClock.adjust("60 seconds")
      yield* settleDue
      assert.strictEqual((yield* transferOf(parties.caller, left)).status, "completed")
    })
  )

  it.effect("takes a memo that only sounds like a wish for what it is", () =>
    Effect.gen(function* () {
      const { changes } = yield* watched(6000, { memo: "simulate:everything dissimulate:rail_error" })
      assert.deepStrictEqual(changes.at(-1)?.[1], "completed")
    })
  )

  it.effect("finds a wish anywhere in a memo", () =>
    Effect.gen(function* () {
      const { changes } = yield* watched(6000, { memo: "simulate:everything, or better simulate:rail_error" })
      assert.deepStrictEqual(changes.at(-1)?.[1], "rail_error")
    })
  )
})

const instant = { shortest: Duration.zero, longest: Duration.zero }
layer(sandboxLayer(instant), { timeout: "60 seconds" })("the sandbox's rail without a delay", (it) => {
  it.effect("settles at once", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      yield* settleDue
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "completed")
    })
  )
})

describe("how long the simulated rail takes", () => {
  const read = (text?: string) =>
    Effect.runSync(
      Effect.result(
        Delay.config.parse(ConfigProvider.fromUnknown(text === undefined ? {} : { TURNPIKE_SETTLEMENT_DELAY: text }))
      )
    )
  const millis = (text?: string) =>
    Result.map(read(text), ({ longest, shortest }) => [Duration.toMillis(shortest), Duration.toMillis(longest)])

  for (const [text, expected] of Object.entries({
    "0": [0, 0],
    "0 seconds": [0, 0],
    "3 seconds": [3000, 3000],
    "1 second": [1000, 1000],
    "2-5 s": [2000, 5000],
    "2 - 5 Seconds": [2000, 5000],
    "0.5-1.5s": [500, 1500],
    "200 millis": [200, 200],
    "1 minute": [60_000, 60_000]
  })) {
    plainly(`is read from ${text}`, () => assert.deepStrictEqual(millis(text), Result.succeed(expected)))
  }
  plainly("is 2 to 5 seconds when nobody says", () =>
    assert.deepStrictEqual(millis(undefined), Result.succeed([2000, 5000]))
  )
  for (const text of [" ", "soon", "-1 s", "5-2 s", "3", "1 week", "1e3 s", "NaN s"]) {
    plainly(`is not read from "${text}"`, () => assert.isTrue(Result.isFailure(read(text)), text))
  }

  plainly("is the same whoever asks, within the range, and not the same for all", () => {
    const order = (reference: string) =>
      ({ reference, memo: null }) as Parameters<typeof TransferRailSimulated.settlingTime>[1]
    const times = Array.from({ length: 100 }, (_, index) =>
      Duration.toMillis(TransferRailSimulated.settlingTime(usual, order(`tx_${index}`)))
    )
    assert.deepStrictEqual(
      times,
      times.map((_, index) => Duration.toMillis(TransferRailSimulated.settlingTime(usual, order(`tx_${index}`))))
    )
    assert.isTrue(times.every((time) => time >= 2000 && time <= 5000))
    assert.isAbove(new Set(times).size, 50)
  })
})
