import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { FlowRate } from "#domain/FlowRate.ts"
import { MoneyStream, type StreamState } from "#domain/MoneyStream.ts"
import * as Change from "#domain/MoneyStream/Change.ts"
import { exhaustsAt, levelOf, nextAlertAt, settledAt, shownAt } from "#domain/MoneyStream/Flow.ts"
import { begin, day, later, rate, started, streamOf, year } from "./MoneyStreamHarness.ts"

const done = (change: Result.Result<Change.Change, unknown>): StreamState => Result.getOrThrow(change).stream
const tagOf = (change: Result.Result<Change.Change, { readonly _tag: string }>) =>
  Result.isFailure(change) ? change.failure._tag : undefined

describe("a rate of flow", () => {
  it("has up to 18 decimals and is written back exactly", () => {
    for (const text of [
      "0.000385802469135802",
      "0.000000000000000001",
      "1",
      "10.5",
      "9999999999999.999999999999999999"
    ]) {
      assert.strictEqual(Schema.encodeSync(FlowRate)(Schema.decodeUnknownSync(FlowRate)(text)), text)
    }
  })

  it("in any other spelling is refused", () => {
    const spellings =
      "0|0.0|-1|+1|1e3|0x10|NaN|Infinity|1,000.00| 1 ||.|1.|.5|01|0.0000000000000000001|１|١|10000000000000|9223372036854775808".split(
        "|"
      )
    for (const text of [...spellings, 0.1, 1, null, ["1"], {}, true]) {
      assert.isTrue(Result.isFailure(Schema.decodeUnknownResult(FlowRate)(text)), String(text))
    }
  })

  it("that is too high is told the bound it is not below", () => {
    const read = Schema.decodeUnknownResult(FlowRate)("10000000000000")
    assert.match(Result.isFailure(read) ? read.failure.message : "", /below 10000000000000,/)
  })
})

describe("what has accrued", () => {
  it("is the exact product of rate and time, rounded down to a micro-unit only to be shown", () => {
    // A thousand a month of 30 days, to the eighteenth decimal.
    const stream = streamOf(2_000_000_000n, rate("0.000385802469135802"))
    assert.strictEqual(shownAt(stream, later(30 * day)).recipient_balance, 999_999_999n)
    assert.strictEqual(settledAt(stream, later(30 * day)).accrued, 385_802_469_135_802n * 2_592_000_000n)
    assert.strictEqual(shownAt(stream, later(1)).recipient_balance, 0n)
    assert.strictEqual(shownAt(stream, later(2593)).recipient_balance, 1_000n)
    assert.strictEqual(shownAt(stream, later(2592)).recipient_balance, 999n)
  })

  it("at the smallest rate for ten years is not lost", () => {
    const stream = streamOf(1_000_000n, rate("0.000000000000000001"))
    assert.strictEqual(settledAt(stream, later(10 * year)).accrued, BigInt(10 * year))
    assert.strictEqual(shownAt(stream, later(10 * year)).recipient_balance, 0n)
  })

  it("of everything the ledger can hold, for ten years, does not overflow", () => {
    const stream = streamOf(9_223_372_036_854_775_807n, rate("29247.100000000000000001"))
    const shown = shownAt(stream, later(10 * year))
    assert.strictEqual(shown.recipient_balance, (rate("29247.100000000000000001") * BigInt(10 * year)) / 10n ** 15n)
    assert.strictEqual(shown.recipient_balance + shown.wrapped_balance, 9_223_372_036_854_775_807n)
    Schema.encodeSync(MoneyStream)(shown)
  })

  it("never grows less when the clock goes back, and never counts time twice", () => {
    const stream = streamOf(10_000_000n, rate("0.001"))
    const at = done(Change.withdraw(stream, later(60_000), undefined))
    const back = done(Change.changeRate(at, later(-5_000), rate("0.001")))
    assert.deepStrictEqual([back.accrued, back.since, back.updated_at], [at.accrued, at.since, at.updated_at])
    assert.strictEqual(shownAt(back, later(-day)).recipient_balance, 0n)
    assert.strictEqual(shownAt(back, later(120_000)).recipient_balance, 60_000n)
  })

  it("stays when the rate changes, and grows at the new one from then on", () => {
    const stream = done(Change.changeRate(streamOf(10_000_000n, rate("0.001")), later(10_000), rate("0.1")))
    assert.strictEqual(shownAt(stream, later(10_000)).recipient_balance, 10_000n)
    assert.strictEqual(shownAt(stream, later(20_000)).recipient_balance, 1_010_000n)
  })

  it("is all that moves: to pause, to resume and to change the rate take, pay and return nothing", () => {
    const flowing = streamOf(10_000_000n, rate("0.001"))
    const paused = Change.pause(flowing, later(10_000))
    const resumed = Change.resume(done(paused), later(20_000))
    for (const change of [paused, resumed, Change.changeRate(flowing, later(10_000), rate("0.002"))]) {
      assert.deepInclude(Result.getOrThrow(change), { taken: 0n, paid: 0n, returned: 0n })
    }
  })

  it("does not grow while the stream is paused", () => {
    const paused = done(Change.pause(streamOf(10_000_000n, rate("0.001")), later(10_000)))
    assert.deepInclude(shownAt(paused, later(year)), { recipient_balance: 10_000n, exhausted_at: null })
    const resumed = done(Change.resume(paused, later(year)))
    assert.strictEqual(shownAt(resumed, later(year + 10_000)).recipient_balance, 20_000n)
  })
})

describe("a stream that runs dry", () => {
  const stream = streamOf(1_500_000n, rate("0.3"), 500_000n)
  const instant = later(3334)

  it("is paused from the very millisecond in which the last of it has accrued", () => {
    assert.deepStrictEqual(exhaustsAt(stream), instant)
    assert.deepInclude(shownAt(stream, later(3333)), { status: "active", wrapped_balance: 100n, exhausted_at: instant })
    const dry = {
      status: "paused",
      pause_reason: "exhausted",
      wrapped_balance: 0n,
      recipient_balance: 1_000_000n
    } as const
    assert.deepInclude(shownAt(stream, instant), { ...dry, exhausted_at: instant, updated_at: instant })
    assert.deepInclude(shownAt(stream, later(year)), { ...dry, exhausted_at: instant, updated_at: instant })
  })

  it("keeps its buffer, which goes back to the sender", () => {
    const { paid, returned } = Result.getOrThrow(Change.cancel(stream, later(day)))
    assert.deepStrictEqual([paid, returned], [1_000_000n, 500_000n])
  })

  it("resumes only after a top-up, and then from that moment on", () => {
    assert.strictEqual(tagOf(Change.resume(stream, later(day))), "STREAM_EXHAUSTED")
    const topped = done(Change.topUp(stream, later(day), 600_000n))
    assert.deepInclude(shownAt(topped, later(2 * day)), {
      status: "paused",
      wrapped_balance: 600_000n,
      runway_seconds: 2,
      exhausted_at: null
    })
    const resumed = done(Change.resume(topped, later(2 * day)))
    assert.deepInclude(shownAt(resumed, later(2 * day + 1000)), { status: "active", recipient_balance: 1_300_000n })
  })

  it("is topped up in time just before, and too late at that instant", () => {
    assert.strictEqual(done(Change.topUp(stream, later(3333), 1n)).status, "active")
    assert.strictEqual(done(Change.topUp(stream, instant, 1n)).status, "paused")
  })
})

describe("the runway", () => {
  it("is what may still flow by the rate, in whole seconds", () => {
    const stream = streamOf(1_000_000_000n, rate("0.001"), 100_000_000n)
    assert.deepInclude(shownAt(stream, begin), { wrapped_balance: 900_000_000n, runway_seconds: 900_000 })
    assert.strictEqual(shownAt(stream, later(1)).runway_seconds, 899_999)
  })

  it("of more than can be told is the largest exact number, without an end", () => {
    const shown = shownAt(streamOf(1_000_000_000_000n, 1n), begin)
    assert.deepInclude(shown, { runway_seconds: Number.MAX_SAFE_INTEGER, exhausted_at: null })
    assert.strictEqual(nextAlertAt(streamOf(1_000_000_000_000n, 1n)), null)
  })
})

describe("alerts", () => {
  // Two days.
  const stream = streamOf(172_800_000n, rate("0.001"))

  it("are due in the first millisecond with less than a day, less than an hour, and nothing", () => {
    let now = stream
    for (const [severity, millis] of [
      ["warning", day + 1],
      ["critical", 2 * day - 3_600_000 + 1],
      ["exhausted", 2 * day]
    ] as const) {
      assert.deepStrictEqual(nextAlertAt(now), later(millis))
      assert.deepStrictEqual(Result.getOrThrow(Change.observe(now, later(millis - 1))).alerts, [])
      const { alerts, stream: next } = Result.getOrThrow(Change.observe(now, later(millis)))
      assert.deepStrictEqual(
        alerts.map((alert) => alert.severity),
        [severity]
      )
      now = next
      assert.deepStrictEqual(Result.getOrThrow(Change.observe(now, later(millis))).alerts, [])
    }
    assert.strictEqual(nextAlertAt(now), null)
    assert.deepInclude(now, { status: "paused", pause_reason: "exhausted" })
  })

  it("come at once for a stream that starts short, only the gravest", () => {
    assert.deepStrictEqual(started(86_400_000n, rate("0.001")).alerts, [])
    assert.deepStrictEqual(
      started(86_399_999n, rate("0.001")).alerts.map(({ severity }) => severity),
      ["warning"]
    )
    assert.deepStrictEqual(
      started(3_599_999n, rate("0.001")).alerts.map(({ severity }) => severity),
      ["critical"]
    )
  })

  it("come again after a top-up that lifted it", () => {
    const warned = done(Change.observe(stream, later(day + 1)))
    const lifted = done(Change.topUp(warned, later(day + 1), 86_400_000n))
    assert.strictEqual(lifted.alerted, "none")
    const again = Result.getOrThrow(Change.observe(lifted, later(2 * day + 1)))
    assert.deepStrictEqual(
      again.alerts.map(({ severity }) => severity),
      ["warning"]
    )
  })

  it("do not come for a stream that somebody paused, and come at once when it flows again", () => {
    const slow = done(Change.pause(stream, begin))
    const fast = Result.getOrThrow(Change.changeRate(slow, later(1), rate("0.01")))
    assert.deepStrictEqual([fast.alerts, nextAlertAt(fast.stream), levelOf(fast.stream)], [[], null, "warning"])
    const resumed = Result.getOrThrow(Change.resume(fast.stream, later(2)))
    assert.deepStrictEqual(
      resumed.alerts.map(({ severity }) => severity),
      ["warning"]
    )
  })
})

describe("what is far off", () => {
  it("is predicted up to the last instant with a year of four digits, and not beyond", () => {
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999) - begin.getTime()
    // A micro-unit every 1,000 seconds, so that the last of it is there in a moment that is known exactly.
    const lasting = (millis: number) => streamOf(BigInt(millis) / 1_000_000n, rate("0.000000001"))
    assert.deepStrictEqual(exhaustsAt(lasting(last)), later(Math.floor(last / 1_000_000) * 1_000_000))
    assert.isNull(exhaustsAt(lasting(last + 1_000_000)))
    assert.isNull(nextAlertAt(lasting(last + 2 * day)))
  })
})

describe("a cancelled stream", () => {
  it("is not paused any more, whatever it was before", () => {
    const paused = done(Change.pause(streamOf(10_000_000n, rate("0.001")), later(10_000)))
    const dry = done(Change.observe(streamOf(1_000n, rate("0.001")), later(day)))
    for (const stream of [paused, dry]) {
      assert.isNotNull(stream.pause_reason)
      assert.deepInclude(shownAt(done(Change.cancel(stream, later(2 * day))), later(3 * day)), {
        status: "cancelled",
        pause_reason: null
      })
    }
  })
})

describe("refusals", () => {
  it("of a buffer that leaves nothing to flow", () => {
    assert.throws(() => started(1_000_000n, 1n, 1_000_000n))
    assert.strictEqual(started(1_000_000n, 1n, 999_999n).taken, 1_000_000n)
  })

  it("of a withdrawal tell what there is", () => {
    const stream = streamOf(10_000_000n, rate("1"))
    assert.strictEqual(tagOf(Change.withdraw(stream, begin, undefined)), "NOTHING_ACCRUED")
    const refused = Result.merge(Change.withdraw(stream, later(1500), 1_500_001n))
    assert.deepInclude(refused, { _tag: "AMOUNT_EXCEEDS_ACCRUED", requested: "1.500001", available: "1.50" })
    assert.strictEqual(Result.getOrThrow(Change.withdraw(stream, later(1500), 1_500_000n)).paid, 1_500_000n)
  })

  it("are the same whatever is done to a cancelled stream", () => {
    const over = done(Change.cancel(streamOf(10_000_000n, rate("1")), later(1500)))
    for (const change of [
      Change.topUp(over, later(2000), 1n),
      Change.pause(over, later(2000)),
      Change.resume(over, later(2000)),
      Change.changeRate(over, later(2000), 1n),
      Change.withdraw(over, later(2000), undefined),
      Change.cancel(over, later(2000)),
      Change.observe(over, later(2000))
    ]) {
      assert.strictEqual(tagOf(change), "STATE_TRANSITION_INVALID")
    }
    assert.deepInclude(shownAt(over, later(year)), {
      wrapped_balance: 0n,
      buffer: 0n,
      recipient_balance: 0n,
      withdrawn: 1_500_000n,
      returned: 8_500_000n,
      runway_seconds: 0,
      exhausted_at: null
    })
  })

  it("of more than a stream can count", () => {
    const stream = streamOf(9_223_372_036_854_775_800n, 1n)
    assert.strictEqual(Result.getOrThrow(Change.topUp(stream, begin, 7n)).taken, 7n)
    const refused = Result.merge(Change.topUp(stream, begin, 8n))
    assert.deepInclude(refused, { _tag: "AMOUNT_TOO_LARGE", maximum: "0.000007" })
  })
})
