import { assert, describe, it } from "vitest"
import {
  stateAfter,
  type ChainEvent,
  ChainState,
  eventOf,
  finalStates,
  openStates,
  outcomeOf,
  retryAfter
} from "#domain/ChainSettlement.ts"

const events: ReadonlyArray<ChainEvent> = ["taken", "sent", "unanswered", "settled", "refused", "given_up", "resumed"]
const states = ChainState.literals
const no = undefined

/** Rows are states, columns are the events above. */
const table: Record<ChainState, ReadonlyArray<ChainState | undefined>> = {
  prepared: ["submitting", no, no, no, no, no, no],
  submitting: ["submitting", "pending", "unknown", "confirmed", "refused", "unresolved", no],
  pending: ["pending", "pending", "pending", "confirmed", "refused", "unresolved", no],
  unknown: ["unknown", "pending", "unknown", "confirmed", "refused", "unresolved", no],
  unresolved: [no, no, no, "confirmed", "refused", no, "unknown"],
  confirmed: [no, no, no, no, no, no, no],
  refused: [no, no, no, no, no, no, no]
}

describe("a settlement on a chain", () => {
  for (const state of states) {
    it(`goes on from ${state} as the table says`, () => {
      assert.deepStrictEqual(
        events.map((event) => stateAfter(state, event)),
        table[state]
      )
    })
  }

  it("is never asked about before it is taken, and never changed once its end is known", () => {
    assert.deepStrictEqual(
      states.filter((state) => stateAfter(state, "taken") !== undefined),
      [...openStates]
    )
    for (const state of finalStates) for (const event of events) assert.isUndefined(stateAfter(state, event))
  })

  it("reaches an end from every other state", () => {
    for (const start of states.filter((state) => !finalStates.includes(state))) {
      const seen = new Set<ChainState>([start])
      for (const state of seen) {
        for (const event of events) {
          const next = stateAfter(state, event)
          if (next !== undefined) seen.add(next)
        }
      }
      for (const end of finalStates) assert.isTrue(seen.has(end), `${start} never becomes ${end}`)
    }
  })

  it("takes an answer without a transaction for no answer", () => {
    assert.strictEqual(eventOf({ _tag: "Pending", transaction: undefined }), "unanswered")
    assert.strictEqual(eventOf({ _tag: "Pending", transaction: "0x1" }), "sent")
    assert.strictEqual(eventOf({ _tag: "Settled", transaction: "0x1" }), "settled")
    assert.strictEqual(eventOf({ _tag: "Refused", reason: "r" }), "refused")
  })

  it("is neither success nor failure until its end is known", () => {
    for (const state of states) {
      const { _tag } = outcomeOf({ state, transaction: "0x1", reason: "r" })
      assert.strictEqual(_tag, state === "confirmed" ? "Settled" : state === "refused" ? "Refused" : "Pending")
    }
  })

  it("is asked about soon at first, then seldom, and never in less than the longest pause", () => {
    const policy = { first: 500, longest: 60_000 }
    const pauses = Array.from({ length: 100 }, (_, index) => retryAfter(index + 1, policy))
    assert.strictEqual(pauses[0], 500)
    assert.strictEqual(pauses.at(-1), 60_000)
    assert.deepStrictEqual(
      pauses,
      [...pauses].sort((a, b) => a - b)
    )
  })
})
