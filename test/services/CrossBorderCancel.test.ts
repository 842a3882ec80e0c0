import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Ledger } from "#services/Ledger.ts"
import { Quotes } from "#services/Quotes.ts"
import { Settlements } from "#services/Settlements.ts"
import { balance, begun, broken, eventsOf, orderFor, pair, rail, testLayer, transferOf } from "./SettlementsHarness.ts"

const claimOf = ({ tenant_id }: Principal) => ({
  tenant_id,
  operation: "transfers.create",
  key: "one",
  fingerprint: "1"
})

layer(testLayer(), { timeout: "120 seconds" })("a cross-border transfer that is cancelled", (it) => {
  it.effect("while it is submitted is cancelled or settled, 200 times, and never both (L41)", () =>
    Effect.gen(function* () {
      const { cancel } = yield* CrossBorder
      const { settleDue } = yield* Settlements
      yield* rail.does("complete")
      const ends = { cancelled: 0, completed: 0 }
      for (let round = 0; round < 200; round++) {
        const parties = yield* pair()
        const { id } = yield* begun(parties)
        const cancelling = Effect.result(cancel(parties.caller, id))
        const both = round % 2 === 0 ? ([cancelling, settleDue] as const) : ([settleDue, cancelling] as const)
        // A round in ten is no race, so that both ends come up on any machine.
        yield* Effect.all(both, { concurrency: round % 20 < 2 ? 1 : 2 })
        const { status } = yield* transferOf(parties.caller, id)
        assert.isTrue(status === "cancelled" || status === "completed", status)
        const isSettled = status === "completed"
        ends[isSettled ? "completed" : "cancelled"] += 1
        assert.strictEqual((yield* rail.settled).has(toTypeId("tx", id)), isSettled)
        assert.deepStrictEqual(yield* balance(parties.from), {
          posted: isSettled ? 900_000_000n : 1_000_000_000n,
          held: 0n
        })
        assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
          "transfer.created pending",
          `transfer.${status} ${status}`
        ])
      }
      assert.isAbove(Math.min(ends.cancelled, ends.completed), 0, JSON.stringify(ends))
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("answers its key as it did at first, for a day; its quote stays used for ever", () =>
    Effect.gen(function* () {
      const { cancel, create } = yield* CrossBorder
      const parties = yield* pair()
      const claim = claimOf(parties.caller)
      const { id, order, transfer } = yield* begun(parties, {}, claim)
      yield* cancel(parties.caller, id)
      assert.deepStrictEqual(yield* create(parties.caller, order, claim), { transfer, replayed: true })
      assert.strictEqual((yield* Effect.flip(cancel(parties.caller, id)))._tag, "STATE_TRANSITION_INVALID")
      const other = yield* orderFor(parties)
      const reused = yield* Effect.flip(create(parties.caller, other.order, { ...claim, fingerprint: "2" }))
      assert.strictEqual(reused._tag, "IDEMPOTENCY_KEY_REUSED")
      yield* TestClock.adjust("25 hours")
      yield* (yield* Ledger).forgetKeys
      yield* (yield* Quotes).forgetExpired
      const late = yield* Effect.flip(create(parties.caller, order, claim))
      assert.strictEqual(late._tag, "QUOTE_ALREADY_USED")
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
