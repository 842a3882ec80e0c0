import { assert, layer } from "@effect/vitest"
import { randomInt } from "node:crypto"
import { Config, Effect, Option } from "effect"
import * as fc from "fast-check"
import { Doctor } from "#services/Doctor.ts"
import { pauses, sequence, type Sequence, tell } from "./Actions.ts"
import { platform } from "./Platform.ts"
import { type Coverage, run } from "./Runner.ts"

const settings = Config.all({
  seed: Config.option(Config.Int("MODEL_SEED")),
  count: Config.Int("MODEL_SEQUENCES").pipe(Config.withDefault(10_000))
})

/** How many sequences run side by side. */
const width = 64

/** A sequence that still differs, as small as many attempts could make it. All candidates of one step run side by side. */
const shrink = Effect.fnUntraced(function* (found: Sequence, waits: ReadonlyArray<number>) {
  let smallest = found
  for (let round = 0; round < 50; round++) {
    const candidates = [...sequence.shrink(smallest, undefined).take(256)].map(({ value }) => value)
    const differing = yield* run(candidates, waits)
    const smaller = candidates.find((candidate) => differing.has(candidate))
    if (smaller === undefined) break
    smallest = smaller
  }
  const difference = (yield* run([smallest], waits)).get(smallest)
  return { smallest, difference }
})

layer(platform, { timeout: "60 seconds", excludeTestServices: true })("random sequences", (it) => {
  it.effect(
    "of transfers, holds, freezes, refunds, disputes and streams do to the platform what they do to a plain model",
    () =>
      Effect.gen(function* () {
        const { count, ...given } = yield* settings
        const seed = Option.getOrElse(given.seed, () => randomInt(2 ** 31))
        console.log(`MODEL_SEED=${seed} MODEL_SEQUENCES=${count}`)
        const sequences = fc.sample(sequence, { seed, numRuns: count })
        const waves = fc.sample(pauses, { seed, numRuns: Math.ceil(count / width) })
        const coverage: Coverage = new Map()
        for (const [wave, waits] of waves.entries()) {
          const side = sequences.slice(wave * width, (wave + 1) * width)
          const [first] = yield* run(side, waits, coverage)
          if (first === undefined) continue
          const [found, said] = first
          const { difference, smallest } = yield* shrink(found, waits)
          assert.fail(
            `MODEL_SEED=${seed}, sequence ${sequences.indexOf(found)}:\n${tell(smallest, waits)}\n${difference ?? said}`
          )
        }
        const answers = [...coverage.entries()].sort(([one], [other]) => (one < other ? -1 : 1))
        console.log(answers.map(([answer, times]) => `${answer}: ${times}`).join("\n"))
        const broken = (yield* (yield* Doctor).examine).filter((finding) => finding.broken.length > 0)
        assert.deepStrictEqual(broken, [])
      }),
    { timeout: 600_000 }
  )
})
