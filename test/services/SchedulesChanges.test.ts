import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import type { ScheduleId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import type { ScheduleTrigger } from "#domain/Schedule.ts"
import { orderOf } from "#domain/ScheduleOrder.ts"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { Schedules } from "#services/Schedules.ts"
import { ahead, another, eventsOf, isSound, pair, platform, turn, whileLedgerWaits } from "./SchedulesHarness.ts"
import { claimOf, tenant, usdc, walletOf } from "./WalletsHarness.ts"

layer(platform, { timeout: "60 seconds" })("creating a schedule", (it) => {
  it.effect("moves nothing, and is done once under one key", () =>
    Effect.gen(function* () {
      const { caller, from, to } = yield* pair(100n)
      const service = yield* Schedules
      const scheduled_at = yield* ahead({ hours: 1 })
      const order = Result.getOrThrow(
        orderOf({ from_wallet_id: from.id, to_wallet_id: to.id, ...usdc(10n), scheduled_at })
      )
      const claim = { ...claimOf(caller, "once"), operation: "scheduled_transfers.create" }
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, () => service.create(caller, order, claim)),
        { concurrency: 50 }
      )
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.strictEqual((yield* service.list(caller, {}, { limit: 10, offset: 0 })).total, 1)
      assert.strictEqual(yield* turn("1 hour"), 1)
      // The time is past now: the repetition is still the first answer.
      const again = yield* service.create(caller, order, claim)
      assert.deepStrictEqual(again, { schedule: answers[0]!.schedule, replayed: true })
      const other = yield* Effect.flip(service.create(caller, order, { ...claim, fingerprint: "2" }))
      assert.strictEqual(other._tag, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(yield* turn("1 day"), 0)
    })
  )

  it.effect("is refused for what could never be transferred, and for times that are none", () =>
    Effect.gen(function* () {
      const { from, schedule, to } = yield* pair(100n)
      const caller = yield* tenant()
      const [theirs, euros] = [yield* walletOf(caller), yield* walletOf(caller, { currency: "EURC" })]
      const scheduled_at = yield* ahead({ hours: 1 })
      const now = yield* DateTime.nowAsDate
      const far = new Date((yield* ahead({ years: 5 })).getTime() + 1)
      const refusals = [
        ["NOT_FOUND", { scheduled_at, to_wallet_id: theirs.id }],
        ["NOT_FOUND", { scheduled_at, from_wallet_id: euros.id }],
        ["SAME_WALLET", { scheduled_at, to_wallet_id: from.id }],
        ["CURRENCY_MISMATCH", { scheduled_at, currency: "EURC" }],
        ["SCHEDULE_IN_THE_PAST", { scheduled_at: now }],
        ["SCHEDULE_TOO_FAR", { scheduled_at: far }],
        ["SCHEDULE_IN_THE_PAST", { frequency: "daily", start_at: now }],
        ["SCHEDULE_TOO_FAR", { frequency: "daily", start_at: far }],
        ["TIME_ZONE_UNKNOWN", { frequency: "daily", timezone: "Europe/Nowhere" }],
        ["SCHEDULE_NEVER_RUNS", { frequency: "cron", cron_expression: "0 0 30 2 *" }],
        ["SCHEDULE_NEVER_RUNS", { frequency: "daily", end_at: scheduled_at }]
      ] as const
      for (const [code, order] of refusals) {
        assert.strictEqual((yield* Effect.flip(schedule(order)))._tag, code, JSON.stringify(order))
      }
      yield* schedule({ scheduled_at: yield* ahead({ years: 5 }) })
      yield* schedule({ scheduled_at: new Date(now.getTime() + 1), to_wallet_id: to.id })
    })
  )
})

layer(platform, { timeout: "60 seconds" })("pausing, resuming and cancelling", (it) => {
  const codeOf = (schedules: Schedules["Service"], ...change: Parameters<Schedules["Service"]["change"]>) =>
    Effect.map(Effect.result(schedules.change(...change)), (result) =>
      Result.isSuccess(result) ? result.success.schedule.status : result.failure._tag
    )

  it.effect("happen from the states they start from, and from no other", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const service = yield* Schedules
      const { id } = yield* schedule({ frequency: "daily" })
      const no = "STATE_TRANSITION_INVALID"
      const steps = [
        ["resume", no],
        ["pause", "paused"],
        ["pause", no],
        ["resume", "scheduled"],
        ["pause", "paused"],
        ["cancel", "cancelled"],
        ["cancel", no],
        ["pause", no],
        ["resume", no]
      ] as const
      for (const [trigger, expected] of steps)
        assert.strictEqual(yield* codeOf(service, caller, id, trigger), expected, trigger)
      assert.strictEqual(yield* codeOf(service, yield* tenant(), id, "cancel"), "NOT_FOUND")
      const done = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      yield* turn("1 hour")
      for (const trigger of ["pause", "resume", "cancel"] as const) {
        assert.strictEqual(yield* codeOf(service, caller, done.id, trigger), no, trigger)
      }
      yield* isSound
    })
  )

  it.effect("a paused or cancelled schedule transfers nothing", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const service = yield* Schedules
      for (const trigger of ["pause", "cancel"] as const) {
        const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
        assert.isNull((yield* service.change(caller, id, trigger)).schedule.next_execution_at)
      }
      assert.strictEqual(yield* turn("1 day"), 0)
      assert.strictEqual(yield* received, 0n)
    })
  )

  it.effect("a one-shot whose time passed in the pause is made when it is resumed", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const service = yield* Schedules
      const { id } = yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
      yield* service.change(caller, id, "pause")
      assert.strictEqual(yield* turn("1 day"), 0)
      yield* service.change(caller, id, "resume")
      assert.strictEqual(yield* service.executeDue, 1)
      assert.strictEqual(yield* received, 10n)
    })
  )

  it.effect("a resumed recurring schedule goes on with its next occurrence, and is over when there is none", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const service = yield* Schedules
      const open = yield* schedule({ frequency: "daily" })
      const ending = yield* schedule({ frequency: "daily", end_at: yield* ahead({ days: 2 }) })
      for (const { id } of [open, ending]) yield* service.change(caller, id, "pause")
      assert.strictEqual(yield* turn("60 hours"), 0)
      const { schedule: resumed } = yield* service.change(caller, open.id, "resume")
      assert.deepStrictEqual(resumed.next_execution_at, yield* ahead({ hours: 12 }))
      assert.deepInclude((yield* service.change(caller, ending.id, "resume")).schedule, {
        status: "cancelled",
        executions_completed: 0
      })
      assert.notInclude(yield* eventsOf(caller), "scheduled_transfer.completed")
      assert.deepStrictEqual([yield* service.executeDue, yield* turn("12 hours")], [0, 1])
      assert.strictEqual(yield* received, 10n)
      yield* isSound
    })
  )

  it.effect("a recurring schedule that was paused and resumed before the worker came makes what was due", () =>
    Effect.gen(function* () {
      const { caller, received, schedule } = yield* pair(100n)
      const service = yield* Schedules
      const start_at = yield* ahead({ hours: 1 })
      const end_at = yield* ahead({ hours: 1, milliseconds: 1 })
      const monthly = yield* schedule({ frequency: "monthly", start_at, end_at })
      const often = yield* schedule({ frequency: "cron", cron_expression: "* * * * *", start_at })
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("150 millis")
      for (const { id } of [monthly, often]) {
        yield* service.change(caller, id, "pause")
        assert.strictEqual((yield* service.change(caller, id, "resume")).schedule.status, "scheduled")
      }
      assert.strictEqual(yield* service.executeDue, 2)
      assert.strictEqual(yield* received, 20n)
      assert.deepInclude(yield* service.get(caller, monthly.id), { status: "executed", executions_completed: 1 })
      // What it missed in the pause stays missed.
      yield* service.change(caller, often.id, "pause")
      assert.strictEqual(yield* turn("10 minutes"), 0)
      yield* service.change(caller, often.id, "resume")
      assert.strictEqual(yield* service.executeDue, 0)
      assert.strictEqual(yield* turn("1 minute"), 1)
      yield* isSound
    })
  )

  it.effect("a resumed recurring schedule that only ever failed has failed when nothing is left, and says so", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(0n)
      const service = yield* Schedules
      const { id } = yield* schedule({ frequency: "daily", end_at: yield* ahead({ days: 2 }), retry_enabled: false })
      assert.strictEqual(yield* turn("1 day"), 1)
      yield* service.change(caller, id, "pause")
      yield* turn("2 days")
      const before = (yield* eventsOf(caller)).length
      assert.strictEqual((yield* service.change(caller, id, "resume")).schedule.status, "failed")
      assert.deepStrictEqual((yield* eventsOf(caller)).slice(before), ["scheduled_transfer.failed"])
      yield* isSound
    })
  )

  /** What two processes answer to the same change when both have decided on it before either has made it. */
  const twice = Effect.fnUntraced(function* (caller: Principal, id: ScheduleId, trigger: ScheduleTrigger) {
    const ask = (of: Schedules["Service"]) => Effect.forkChild(codeOf(of, caller, id, trigger))
    const [here, elsewhere] = [yield* Schedules, yield* another]
    const asked = yield* whileLedgerWaits((blocked) =>
      Effect.gen(function* () {
        const both = [yield* ask(here), yield* ask(elsewhere)]
        yield* blocked(2)
        return both
      })
    )
    return (yield* Effect.all(asked.map((one) => Fiber.join(one)))).toSorted()
  })

  it.effect("asked for by two at the same time is done for one of them; the other comes too late", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { id } = yield* schedule({ frequency: "daily" })
      for (const [trigger, status] of [
        ["pause", "paused"],
        ["resume", "scheduled"],
        ["cancel", "cancelled"]
      ] as const) {
        assert.deepStrictEqual(yield* twice(caller, id, trigger), ["STATE_TRANSITION_INVALID", status], trigger)
      }
      yield* isSound
    })
  )

  it.effect("a resumption that ends the schedule is one, too", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { id } = yield* schedule({ frequency: "daily", end_at: yield* ahead({ days: 2 }) })
      yield* (yield* Schedules).change(caller, id, "pause")
      yield* turn("3 days")
      assert.deepStrictEqual(yield* twice(caller, id, "resume"), ["STATE_TRANSITION_INVALID", "cancelled"])
      yield* isSound
    })
  )
})

/** A ledger whose first answer to every fenced command is lost: it posts again by itself, as after a connection that was cut. */
const forgetful = Layer.effect(
  Ledger,
  Effect.map(Ledger, (ledger) => {
    const post = (command: LedgerCommand) =>
      command.fences === undefined
        ? ledger.post(command)
        : Effect.andThen(Effect.exit(ledger.post(command)), ledger.post(command))
    return Ledger.of({ ...ledger, post: post as Ledger["Service"]["post"] })
  })
)

layer(Layer.fresh(Schedules.layer).pipe(Layer.provide(forgetful), Layer.provideMerge(platform)), {
  timeout: "60 seconds"
})("a change whose answer is lost on its way", (it) => {
  it.effect("was made once, and is answered as what it is", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { change, get } = yield* Schedules
      const { id } = yield* schedule({ frequency: "daily" })
      for (const trigger of ["pause", "resume", "cancel"] as const) {
        const changed = yield* change(caller, id, trigger)
        assert.deepStrictEqual(changed, { schedule: yield* get(caller, id), replayed: false }, trigger)
      }
      assert.strictEqual((yield* get(caller, id)).status, "cancelled")
      yield* isSound
    })
  )

  it.effect("under a key is no replay of itself", () =>
    Effect.gen(function* () {
      const { caller, schedule } = yield* pair(100n)
      const { change, get } = yield* Schedules
      const { id } = yield* schedule({ frequency: "daily" })
      const changed = yield* change(caller, id, "pause", claimOf(caller, id))
      assert.deepStrictEqual(changed, { schedule: yield* get(caller, id), replayed: false })
    })
  )
})
