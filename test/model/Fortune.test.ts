import { assert, layer } from "@effect/vitest"
import { Cause, Config, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import * as Platform from "#layers/Platform.ts"
import * as Test from "#layers/Test.ts"
import { within } from "#services/RealTime.ts"
import { inOrder } from "../services/SignedPaymentsHarness.ts"
import { owner, type Process, railLayer, services } from "./Fortune.ts"
import * as Deeds from "./FortuneDeeds.ts"
import { diceOf } from "./PaymentLives.ts"

const settings = Config.all({
  // The same fortunes every time, unless somebody looks for what none has shown yet.
  first: Config.Int("FORTUNE_SEED").pipe(Config.withDefault(4000)),
  count: Config.Int("FORTUNES").pipe(Config.withDefault(6))
})
const steps = 150
const pauses = ["1 milli", "1 second", "7 seconds", "31 seconds", "61 seconds", "1 hour", "1 day", "31 days"] as const

/** Text that is equal for equal answers, whatever the order of their fields. */
const text = (answer: unknown) =>
  JSON.stringify(answer, (name, value: unknown) => {
    if (name === "replayed") return undefined
    if (typeof value === "bigint") return `${value}n`
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value)
    return isRecord ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))) : value
  })

/** What one owner does in two processes, as a seed says: alone and at once, answered, repeated and cut off. What went wrong. */
const lived = Effect.fnUntraced(function* (
  seed: number,
  processes: readonly [Process, Process],
  coverage: Map<string, number>
) {
  const dice = diceOf(seed)
  const below = (most: number) => Math.floor(dice() * most)
  const pick = <Thing>(things: ReadonlyArray<Thing>): Thing => things[below(things.length)]!
  const who = yield* owner
  const next = yield* Deeds.make(who, below)
  const trace: Array<string> = []
  const wrong: Array<string> = []
  const say = (what: string) => {
    trace.push(what)
    coverage.set(what, (coverage.get(what) ?? 0) + 1)
  }
  let keys = 0
  let kept:
    | { readonly deed: Deeds.Deed; readonly claim: IdempotencyClaim; readonly answer: string | undefined }
    | undefined

  const judge = ({ name }: Deeds.Deed, exit: Exit.Exit<{ readonly replayed: boolean }, { readonly _tag: string }>) => {
    if (Exit.isSuccess(exit)) return say(`${name}: ${exit.value.replayed ? "again" : "done"}`)
    const refused = exit.cause.reasons.find(Cause.isFailReason)
    say(`${name}: ${refused?.error._tag ?? "defect"}`)
    if (refused === undefined) wrong.push(`${name}: ${Cause.pretty(exit.cause)}`)
  }
  const act = Effect.gen(function* () {
    const deed = yield* next
    if (deed === undefined) return
    const { tenant_id } = who.caller
    const claim =
      dice() < 0.5 ? { tenant_id, operation: deed.name, key: `key ${++keys}`, fingerprint: String(keys) } : undefined
    const once = Effect.exit(deed.ask(pick(processes), claim))
    const way = dice()
    // Its caller hangs up, or its process dies.
    if (way < 0.15) {
      yield* within(Effect.asVoid(once), { duration: "1 milli", orElse: () => Effect.void })
      say(`${deed.name}: perhaps cut off`)
    }
    if (way < 0.7) return judge(deed, yield* once)
    const both = yield* Effect.all([once, Effect.exit(deed.ask(pick(processes), claim))], { concurrency: 2 })
    for (const exit of both) judge(deed, exit)
    const done = both.filter(Exit.isSuccess).map(({ value }) => value)
    if (claim === undefined || done.length < 2 || deed.name === "call") return
    if (text(done[0]) !== text(done[1]))
      wrong.push(`${deed.name}: ${text(done[0])}, and at the same time ${text(done[1])}`)
    if (done.some(({ replayed }) => replayed)) kept = { deed, claim, answer: text(done[0]) }
  })
  /** The last request that was kept, once more. */
  const again = Effect.gen(function* () {
    if (kept === undefined) return
    const { answer, claim, deed } = kept
    const later = text(yield* deed.ask(pick(processes), claim))
    if (later !== answer) wrong.push(`${deed.name}: ${answer}, and later ${later}`)
  })

  for (let step = 0; step < steps && wrong.length === 0; step++) {
    const atOnce = dice() < 0.3 ? 3 : 1
    yield* Effect.all(
      Array.from({ length: atOnce }, () => act),
      { concurrency: atOnce }
    )
    yield* again
    if (dice() < 0.15) {
      const pause = pick(pauses)
      if (pause.includes("day")) kept = undefined
      yield* TestClock.adjust(pause)
      say(`… ${pause}`)
    }
    if ((yield* who.gain) > 0n) wrong.push("The owner has more than was given")
  }
  yield* who.end(processes)
  if ((yield* who.gain) > 0n) wrong.push("The owner has more than was given, in the end")
  for (const { id, what } of yield* who.unsettled) wrong.push(`${what} ${id} never ends`)
  return wrong.length === 0 ? undefined : `FORTUNE_SEED=${seed} FORTUNES=1\n${trace.join("\n")}\n${wrong.join("\n")}`
})

layer(Test.layer.pipe(Layer.provide(railLayer)), { timeout: "60 seconds" })(
  "whoever uses all that moves money",
  (it) => {
    it.effect(
      "at once, again and half, in two processes, gains nothing, loses nothing on the way, and is answered the same under one key",
      () =>
        Effect.gen(function* () {
          const { count, first } = yield* settings
          console.log(`FORTUNE_SEED=${first} FORTUNES=${count}`)
          const other = yield* Layer.build(Layer.fresh(Platform.layer).pipe(Layer.provide(railLayer)))
          const processes = [yield* services, yield* Effect.provide(services, other)] as const
          const coverage = new Map<string, number>()
          for (let seed = first; seed < first + count; seed++) {
            const broken = yield* lived(seed, processes, coverage)
            if (broken !== undefined) assert.fail(broken)
          }
          const seen = [...coverage].sort(([one], [other]) => (one < other ? -1 : 1))
          console.log(seen.map(([what, times]) => `${what}: ${times}`).join("\n"))
          assert.deepStrictEqual(yield* inOrder, [])
        }),
      { timeout: 600_000 }
    )
  }
)
