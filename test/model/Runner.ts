import { Cause, Effect, Exit } from "effect"
import type { Sequence } from "./Actions.ts"
import { beginning } from "./Actions.ts"
import { Model } from "./Model.ts"
import * as Platform from "./Platform.ts"

/** How often each answer was given to each action: what the run has really seen. */
export type Coverage = Map<string, number>

/**
 * Runs sequences side by side, each in a tenant of its own, through the same pauses, and holds every answer and, after every phase,
 * everything that is stored against the model. What differed, for each sequence that did.
 */
export const run = Effect.fnUntraced(function* (
  sequences: ReadonlyArray<Sequence>,
  pauses: ReadonlyArray<number>,
  coverage: Coverage = new Map()
) {
  const act = yield* Platform.make
  const tenants = yield* Platform.tenants(sequences.length)
  const pairs = sequences.map((sequence, index) => ({
    sequence,
    tenant: tenants[index]!,
    model: new Model(beginning)
  }))
  const differences = new Map<Sequence, string>()
  const differ = (sequence: Sequence, what: string) => {
    if (!differences.has(sequence)) differences.set(sequence, what)
  }
  const count = (what: string) => coverage.set(what, (coverage.get(what) ?? 0) + 1)
  for (let phase = 0; phase <= pauses.length; phase++) {
    yield* Effect.forEach(
      pairs,
      Effect.fnUntraced(function* ({ model, sequence, tenant }) {
        for (const [place, action] of (sequence[phase] ?? []).entries()) {
          if (differences.has(sequence)) return
          const expected = model.apply(action)
          if (expected === "none") continue
          const exit = yield* Effect.exit(act(tenant, action))
          const actual = Exit.isSuccess(exit) ? exit.value : Cause.pretty(exit.cause)
          count(`${action.do} ${actual}`)
          if (actual === expected) continue
          const where = `phase ${phase}, action ${place} (${action.do})`
          differ(sequence, `${where}: the model says ${expected}, the platform ${actual}`)
        }
      }),
      { concurrency: sequences.length, discard: true }
    )
    const seen = yield* Platform.look(tenants)
    for (const [index, { model, sequence }] of pairs.entries()) {
      for (const [what, expected] of Object.entries(model.seen)) {
        const actual = seen[index]![what as keyof Platform.Seen]
        const [one, other] = [JSON.stringify(expected), JSON.stringify(actual)]
        if (one !== other)
          differ(sequence, `${what} after phase ${phase}: the model says ${one}, the platform ${other}`)
      }
    }
    const pause = pauses[phase]
    if (pause === undefined) break
    yield* Platform.pass(pause)
    for (const { model } of pairs) {
      model.pass(pause)
      if (model.owed.length > 0) count("a refund is owed")
    }
  }
  return differences
})
