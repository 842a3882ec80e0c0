import { describe, it } from "@effect/vitest"
import { assert } from "vitest"
import { longestUnwritten, maxReplayed, maxReplayedAtOnce, readUntil, replayedOf } from "#domain/Delivery.ts"
import { crowding, nextAttempt, retryAfterOf, retrySchedule, streakAfter } from "#domain/DeliverySchedule.ts"
import { EventType } from "#domain/Event.ts"
import { patternsOf } from "#domain/Webhook.ts"
import { serviceSignature, standardSignature } from "#domain/WebhookSignature.ts"

const hour = 3_600_000
const failed = { attempt: 1, firstAt: 0, now: 0, notBefore: undefined, chance: 0 }

describe("the next attempt", () => {
  it("has its place in the schedule from the first attempt, however long the one before took", () => {
    for (const [attempt, offset] of retrySchedule.entries()) {
      if (attempt === 0) continue
      const before = retrySchedule[attempt - 1] ?? 0
      assert.strictEqual(nextAttempt({ ...failed, attempt, now: before + 15_000 }), offset)
    }
    assert.isUndefined(nextAttempt({ ...failed, attempt: 8, now: 48 * hour }))
  })

  it("is late by up to a fiftieth of the pause and 30 s, and never early", () => {
    for (const [attempt, offset] of retrySchedule.entries()) {
      if (attempt === 0) continue
      const due = nextAttempt({ ...failed, attempt, chance: 0.999 }) ?? 0
      const pause = offset - (retrySchedule[attempt - 1] ?? 0)
      const latest = offset + Math.min(pause / 50, 30_000)
      assert.isAbove(due, latest - 60)
      assert.isBelow(due, latest)
    }
  })

  it("of a chain that is late takes the next place that is still to come, ten seconds later at least", () => {
    assert.strictEqual(nextAttempt({ ...failed, attempt: 2, now: 13 * hour }), 24 * hour)
    assert.strictEqual(nextAttempt({ ...failed, attempt: 2, now: 24 * hour }), 48 * hour)
    assert.strictEqual(nextAttempt({ ...failed, attempt: 2, now: 24 * hour - 4000 }), 24 * hour + 6000)
    assert.isUndefined(nextAttempt({ ...failed, attempt: 2, now: 48 * hour }))
  })

  it("is made at the first place that is not before what the receiver asks for, and the last stays where it is", () => {
    assert.strictEqual(nextAttempt({ ...failed, notBefore: 30_000 }), 30_000)
    assert.strictEqual(nextAttempt({ ...failed, notBefore: 90_000 }), 300_000)
    assert.strictEqual(nextAttempt({ ...failed, notBefore: 1000 }), 30_000)
    assert.strictEqual(nextAttempt({ ...failed, notBefore: 99 * hour }), 48 * hour)
    assert.strictEqual(nextAttempt({ ...failed, attempt: 7, now: 47 * hour, notBefore: 99 * hour }), 48 * hour)
  })

  /** When the attempts of a chain are made, each of which fails after a moment; `asks` is what the receiver then asks for. */
  const chain = (asks: (attempt: number) => number | undefined, late: (attempt: number) => number = () => 0) => {
    const made = [0]
    for (;;) {
      const now = (made.at(-1) ?? 0) + 50
      const wait = asks(made.length)
      const notBefore = wait === undefined ? undefined : now + wait
      const next = nextAttempt({ attempt: made.length, firstAt: 0, now, notBefore, chance: 0 })
      if (next === undefined) return made.map((at) => at / 1000)
      made.push(next + late(made.length))
    }
  }

  it("leaves out the places that went by, instead of making up for them", () => {
    const once = chain((attempt) => (attempt === 1 ? 4 * hour : undefined))
    assert.deepStrictEqual(once, [0, 43_200, 86_400, 172_800])
    assert.deepStrictEqual(
      chain(() => 60 * hour),
      [0, 172_800]
    )
    const outage = (attempt: number) => (attempt === 2 ? 13 * hour : 0)
    assert.deepStrictEqual(
      chain(() => undefined, outage),
      [0, 30, 300 + 46_800, 86_400, 172_800]
    )
    const long = (attempt: number) => (attempt === 2 ? 50 * hour : 0)
    assert.deepStrictEqual(
      chain(() => undefined, long),
      [0, 30, 300 + 180_000]
    )
  })

  it("is asked for in seconds or by a date, and by nothing else", () => {
    assert.strictEqual(retryAfterOf(" 120 ", 5), 120_005)
    for (const date of [
      "Thu, 01 Jan 1970 00:02:00 GMT",
      "Thursday, 01-Jan-70 00:02:00 GMT",
      "Thu Jan  1 00:02:00 1970",
      "Thu Jan 01 00:02:00 1970"
    ]) {
      assert.strictEqual(retryAfterOf(date, 5), 120_000, date)
    }
    for (const nonsense of [
      undefined,
      "",
      "-1",
      "1.5",
      "soon",
      "1e9",
      "99999999999",
      "2026-01-01",
      "Thu, never",
      "Thu Jan 99 never"
    ]) {
      assert.isUndefined(retryAfterOf(nonsense, 5), nonsense)
    }
  })
})

describe("a streak of failures", () => {
  const none = { failures: 0, failingSince: null, failedAt: null }
  const run = (count: number, at: number, delivered = false) =>
    Array.from({ length: count }, () => ({ delivered, isTest: false, at }))

  it("is told of when it is ten long, once", () => {
    const nine = { failures: 9, failingSince: 5, failedAt: 5, told: 0, tooLong: false }
    assert.deepStrictEqual(streakAfter(none, run(9, 5)), nine)
    assert.strictEqual(streakAfter(none, run(25, 5)).told, 1)
    assert.strictEqual(streakAfter({ failures: 10, failingSince: 1, failedAt: 4 }, run(5, 5)).told, 0)
    assert.strictEqual(streakAfter(none, [...run(10, 5), ...run(1, 6, true), ...run(10, 7)]).told, 2)
  })

  it("ends with a success, and is too long after 72 hours", () => {
    const long = { failures: 3, failingSince: 0, failedAt: 71 * hour }
    assert.deepStrictEqual(streakAfter(long, run(1, 73 * hour, true)), { ...none, told: 0, tooLong: false })
    assert.isFalse(streakAfter(long, run(1, 72 * hour - 1)).tooLong)
    assert.isTrue(streakAfter(long, run(1, 72 * hour)).tooLong)
    assert.isFalse(streakAfter(long, [...run(1, 72 * hour), ...run(1, 72 * hour, true)]).tooLong)
  })

  it("is as long as attempts were made that failed: after a pause in which nothing was tried it begins anew", () => {
    const quiet = { failures: 8, failingSince: 0, failedAt: 48 * hour }
    const later = streakAfter(quiet, run(1, 240 * hour))
    assert.deepInclude(later, { failures: 9, failingSince: 240 * hour, failedAt: 240 * hour, tooLong: false })
    // A chain's own longest pause is none, although its attempts are late by some seconds.
    const { failingSince } = streakAfter({ ...quiet, failedAt: 24 * hour }, run(1, 48 * hour + 45_000))
    assert.strictEqual(failingSince, 0)
    const unknown = streakAfter({ ...quiet, failedAt: null }, run(1, 240 * hour))
    assert.strictEqual(unknown.failingSince, 240 * hour)
    const known = { ...quiet, failingSince: 230 * hour, failedAt: null }
    assert.strictEqual(streakAfter(known, run(1, 240 * hour)).failingSince, 230 * hour)
  })

  it("that goes on after such a pause is told of again", () => {
    const told = { failures: 12, failingSince: 0, failedAt: 48 * hour }
    assert.strictEqual(streakAfter(told, [...run(1, 240 * hour), ...run(1, 241 * hour)]).told, 1)
  })

  it("is no longer for a test that fails, and ends with one that arrives", () => {
    const long = { failures: 9, failingSince: 0, failedAt: 71 * hour }
    const test = { isTest: true, at: 72 * hour }
    const same = { ...long, told: 0, tooLong: false }
    assert.deepStrictEqual(streakAfter(long, [{ ...test, delivered: false }]), same)
    assert.deepStrictEqual(streakAfter(long, [{ ...test, delivered: true }]), { ...none, told: 0, tooLong: false })
  })
})

describe("a signature", () => {
  it("is that of both families, the newer secret first, without a space after a comma", () => {
    const signed = { event: "evt_1", timestamp: 1, body: Buffer.from("{}") }
    const [one, other] = ["whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "whsec_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"]
    assert.match(serviceSignature([one], signed), /^t=1,v1=[0-9a-f]{64}$/)
    assert.match(serviceSignature([one, other], signed), /^t=1,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    assert.match(standardSignature([one, other], signed), /^v1,\S{44} v1,\S{44}$/)
    assert.isTrue(serviceSignature([one, other], signed).startsWith(serviceSignature([one], signed)))
  })
})

it("no type of event has more than three parts: the statements that look for its families know no more", () => {
  for (const type of EventType.literals) assert.isAtMost(patternsOf(type).length, 4, type)
})

describe("what one call replays", () => {
  /** So many facts at each of these moments, in the order of the log. */
  const facts = (...instants: ReadonlyArray<readonly [count: number, at: number]>) =>
    instants.flatMap(([count, at]) => Array.from({ length: count }, () => ({ at: new Date(at) })))

  it("is everything, if that is not too much", () => {
    assert.strictEqual(replayedOf([]), 0)
    assert.strictEqual(replayedOf(facts([maxReplayed, 1])), maxReplayed)
  })

  it("parts no instant, as long as there are not too many of it", () => {
    assert.strictEqual(replayedOf(facts([600, 1], [600, 2])), 600)
    assert.strictEqual(replayedOf(facts([1_700, 1], [1, 2])), 1_700)
    assert.strictEqual(replayedOf(facts([1, 1], [2_000, 2])), 1)
    assert.strictEqual(replayedOf(facts([maxReplayedAtOnce + 1, 1])), maxReplayedAtOnce)
  })

  it("ends where all that follow happened later, also when the log is not in the order of time", () => {
    assert.strictEqual(replayedOf(facts([500, 1], [100, 3], [1, 2], [600, 4])), 601)
    assert.strictEqual(replayedOf(facts([1_001, 5], [1, 1])), 1_002)
    assert.strictEqual(replayedOf(facts([500, 1], [100, 3], [500, 2], [600, 4])), 500)
    // Before the last of these are some that happened later, so it is no end, however its neighbours look.
    assert.strictEqual(replayedOf(facts([500, 5], [1, 1], [600, 3])), 1_101)
    assert.strictEqual(replayedOf(facts([500, 2], [100, 3], [501, 1])), 1_101)
  })

  it("is read up to its end, or as far as all that happened is written", () => {
    const now = new Date(10 * longestUnwritten)
    const written = new Date(9 * longestUnwritten)
    const [longAgo, justNow] = [new Date(0), new Date(now.getTime() - 1)]
    assert.deepStrictEqual(readUntil({ since: longAgo, until: new Date(1) }, now), new Date(1))
    assert.deepStrictEqual(readUntil({ since: longAgo, until: now }, now), written)
    assert.deepStrictEqual(readUntil({ since: justNow, until: now }, now), justNow)
    assert.deepStrictEqual(readUntil({ since: now, until: justNow }, now), justNow)
  })
})

describe("the places for calls", () => {
  const calls = (counts: { readonly [tenant: string]: number }) => new Map(Object.entries(counts))

  it("are for those who have fewer calls under way than there are places left", () => {
    assert.deepStrictEqual(crowding(calls({ a: 5, b: 1 }), 6), [])
    assert.deepStrictEqual(crowding(calls({ a: 5, b: 1 }), 5), ["a"])
    assert.deepStrictEqual(crowding(calls({ a: 6, b: 1 }), 5), ["a"])
    assert.deepStrictEqual(crowding(calls({ a: 4, b: 4, c: 1 }), 3), ["a", "b"])
  })

  it("always have room for who has none", () => {
    assert.deepStrictEqual(crowding(calls({ a: 11 }), 1), ["a"])
  })
})
