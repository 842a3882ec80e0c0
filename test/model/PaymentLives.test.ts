import { assert, layer } from "@effect/vitest"
import { Config, Duration, Effect, Layer } from "effect"
import * as Test from "#layers/Test.ts"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import { inOrder, live } from "../services/SignedPaymentsHarness.ts"
import { type Coverage, lived } from "./PaymentLives.ts"
import { twoProcesses } from "./PaymentProcesses.ts"
import { inOurBooks, onChain, type Shop } from "./PaymentSubjects.ts"

const settings = Config.all({
  // The same lives every time, unless somebody looks for what no life has shown yet.
  first: Config.Int("LIVES_SEED").pipe(Config.withDefault(7000)),
  count: Config.Int("LIVES").pipe(Config.withDefault(150))
})

/** Lives of payments one after the other, in two processes, with the seeds from the given one on. */
const explore = Effect.fnUntraced(function* <E, R>(openShops: Effect.Effect<ReadonlyArray<Shop>, E, R>) {
  const { count, first } = yield* settings
  console.log(`LIVES_SEED=${first} LIVES=${count}`)
  const processes = yield* twoProcesses
  const shops = yield* openShops
  const coverage: Coverage = new Map()
  for (let seed = first; seed < first + count; seed++) {
    const subject = yield* shops[seed % shops.length]!(seed)
    const broken = yield* lived(seed, subject, processes, coverage)
    if (broken !== undefined) assert.fail(`LIVES_SEED=${seed} LIVES=1\n${broken}`)
  }
  const seen = [...coverage].sort(([one], [other]) => (one < other ? -1 : 1))
  console.log(seen.map(([what, times]) => `${what}: ${times}`).join("\n"))
  assert.deepStrictEqual(yield* inOrder, [])
})

/** Nobody holds an answer back that could not be kept: time passes only when it is told to. */
const impatient = Layer.effect(
  PaymentPolicy,
  Effect.map(PaymentPolicy, (usual) => ({ ...usual, holdLife: Duration.zero }))
)
const chain = live({ wait: Duration.millis(1) }).pipe(Layer.provideMerge(impatient))

const promise =
  "is charged once and for a call, keeps its money and its answer for whom they are, and ends, whoever sleeps or dies on the way"

layer(Test.layer, { timeout: "60 seconds" })("a payment in our own books", (it) => {
  it.effect(promise, () => explore(inOurBooks), { timeout: 600_000 })
})

layer(chain, { timeout: "60 seconds" })("a payment on a chain", (it) => {
  it.effect(promise, () => explore(onChain), { timeout: 600_000 })
})
