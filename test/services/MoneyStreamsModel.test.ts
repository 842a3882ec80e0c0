import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { type Act, Model, type Story, stories } from "../domain/MoneyStreamModel.ts"
import { another, eventsOf, faults, money, parties, platform } from "./MoneyStreamsHarness.ts"

/** `STREAM_RUNS` is how many lives are lived, `STREAM_SEED` the seed that a failure printed. */
const runs = Number(process.env["STREAM_RUNS"] ?? 200)
const seed = Number(process.env["STREAM_SEED"] ?? Math.floor(Math.random() * 2 ** 31))

const live = Effect.fnUntraced(function* (story: Story, processes: ReadonlyArray<MoneyStreams["Service"]>) {
  const both = yield* parties(story.funds)
  const { caller } = both
  const { buffer, deposit, rate } = story
  const ends = { from_wallet_id: both.payer, to_wallet_id: both.payee }
  const model = new Model(story)
  const [first] = processes
  const { stream } = yield* first!.open(caller, { ...ends, buffer, flow_rate: rate, initial_deposit: deposit })
  const { id } = stream
  const perform = (streams: MoneyStreams["Service"], act: Act): Effect.Effect<unknown, { readonly _tag: string }> => {
    switch (act.kind) {
      case "top_up":
        return streams.topUp(caller, id, { amount: act.amount })
      case "pause":
        return streams.pause(caller, id)
      case "resume":
        return streams.resume(caller, id)
      case "rate":
        return streams.changeRate(caller, id, act.rate)
      case "withdraw":
        return streams.withdraw(caller, id, act.amount === undefined ? {} : { amount: act.amount })
      case "cancel":
        return streams.cancel(caller, id, {})
      case "look":
        return streams.alertDue
    }
  }
  for (const [turn, [wanted, act]] of story.acts.entries()) {
    // The pool of connections looks around every minute of the virtual years.
    const pause = wanted % 100_000_000
    yield* TestClock.adjust(`${pause} millis`)
    model.pass(pause)
    const expected = model.act(act)
    const outcome = yield* Effect.result(Effect.asVoid(perform(processes[turn % processes.length]!, act)))
    assert.strictEqual(Result.isFailure(outcome) ? outcome.failure._tag : undefined, expected)
    const [shown, held] = yield* Effect.all([first!.get(caller, id), money(both, id)], { concurrency: 2 })
    assert.strictEqual(shown.recipient_balance, model.ready)
    assert.strictEqual(shown.flow_rate, model.rate)
    assert.deepStrictEqual(held, [model.payer, model.stream, model.recipient])
  }
  const alerts = yield* eventsOf(caller, "stream.alert")
  assert.deepStrictEqual(
    alerts.map(({ data }) => data.alert.severity),
    model.alerts
  )
})

layer(platform)("any life of a stream over the database", (it) => {
  it.effect(
    `lived by two processes in turn moves what a plain model says (${runs} lives, seed ${seed})`,
    () =>
      Effect.gen(function* () {
        const processes = [yield* MoneyStreams, (yield* another).streams]
        for (const story of fc.sample(stories(8), { numRuns: runs, seed })) {
          const before = yield* DateTime.now
          yield* Effect.onError(live(story, processes), () => Effect.logError(before, story))
        }
        assert.deepStrictEqual(yield* faults, [])
      }),
    300_000
  )
})
