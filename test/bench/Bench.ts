import { Effect, FiberSet } from "effect"
import { setTimeout } from "node:timers/promises"

/** The middle value; of an even number of values the mean of the two in the middle. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? (sorted[middle] ?? NaN) : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2
}

/** The value below which this share of the values lies. */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN

/** One measured stretch: how many per second, and how long each took in milliseconds. */
export interface Round {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** Runs `work` in `concurrency` loops for `millis` and measures it. */
export const load = <E>(options: {
  readonly concurrency: number
  readonly millis: number
  readonly work: (loop: number, turn: number) => Effect.Effect<unknown, E>
}): Effect.Effect<Round, E> =>
  Effect.gen(function* () {
    const latencies: Array<number> = []
    const start = performance.now()
    const end = start + options.millis
    const loop = (index: number) =>
      Effect.gen(function* () {
        for (let turn = 0; performance.now() < end; turn++) {
          const before = performance.now()
          yield* options.work(index, turn)
          latencies.push(performance.now() - before)
        }
      })
    yield* Effect.all(
      Array.from({ length: options.concurrency }, (_, index) => loop(index)),
      {
        concurrency: options.concurrency,
        discard: true
      }
    )
    const seconds = (performance.now() - start) / 1000
    return { perSecond: latencies.length / seconds, p50: median(latencies), p99: percentile(latencies, 0.99) }
  })

/**
 * Starts `work` so many times a second for `millis`, whether or not what began before has ended: callers who do not know of each
 * other. Each is timed from the moment it was due.
 */
export const arrive = <E>(options: {
  readonly perSecond: number
  readonly millis: number
  readonly work: () => Effect.Effect<unknown, E>
}): Effect.Effect<Round, E> =>
  Effect.gen(function* () {
    const { millis, perSecond, work } = options
    const latencies: Array<number> = []
    const start = performance.now()
    const all = Math.floor((millis / 1000) * perSecond)
    const timed = (due: number) =>
      Effect.tap(work(), () => Effect.sync(() => void latencies.push(performance.now() - due)))
    // Holds those under way only: the collector copies what is held, and every arrival would wait for that.
    const underWay = yield* FiberSet.make<unknown, E>()
    for (let begun = 0; begun < all; ) {
      const due = Math.min(all, Math.floor(((performance.now() - start) / 1000) * perSecond) + 1)
      for (; begun < due; begun++) yield* FiberSet.run(underWay, timed(start + (begun / perSecond) * 1000))
      yield* Effect.promise(() => setTimeout(1))
    }
    yield* Effect.raceFirst(FiberSet.join(underWay), FiberSet.awaitEmpty(underWay))
    const seconds = (performance.now() - start) / 1000
    return { perSecond: latencies.length / seconds, p50: median(latencies), p99: percentile(latencies, 0.99) }
  }).pipe(Effect.scoped)

/** Runs the sides in turn, A B A B …, after one uncounted round each, and keeps every counted round. */
export const alternate = <E>(
  rounds: number,
  sides: { readonly [side: string]: Effect.Effect<Round, E> }
): Effect.Effect<{ readonly [side: string]: ReadonlyArray<Round> }, E> =>
  Effect.gen(function* () {
    const results: { [side: string]: Array<Round> } = {}
    for (let round = -1; round < rounds; round++) {
      for (const [side, run] of Object.entries(sides)) {
        const result = yield* run
        if (round >= 0) results[side] = [...(results[side] ?? []), result]
      }
    }
    return results
  })

/** The median over rounds of the ratio of two sides, taken round by round. */
export const ratio = (
  a: ReadonlyArray<Round>,
  b: ReadonlyArray<Round>,
  of: (round: Round) => number = (round) => round.perSecond
): number => median(a.map((round, index) => of(round) / of(b[index] ?? round)))

/** A line of the result table, and whether the target was met. */
export const report = (
  label: string,
  value: number,
  target: number,
  direction: "at least" | "at most",
  unit = "x"
): boolean => {
  const met = direction === "at least" ? value >= target : value <= target
  process.stdout.write(
    `${met ? "ok  " : "MISS"} ${label.padEnd(64)} ${value.toFixed(2).padStart(9)} ${unit}  (${direction} ${target} ${unit})\n`
  )
  return met
}

export const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
