import { assert, layer } from "@effect/vitest"
import { DateTime, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { newUuid } from "#services/NewId.ts"
import { Settlements } from "#services/Settlements.ts"
import { Transfers } from "#services/Transfers.ts"
import { another, balance, begun, broken, eventsOf, pair, rail, testLayer, transferOf } from "./SettlementsHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

const claimOf = ({ tenant_id }: Principal, id: TransferId): IdempotencyClaim => ({
  tenant_id,
  operation: "transfers.cancel",
  key: "one",
  fingerprint: id
})

layer(testLayer(), { timeout: "60 seconds" })("cancelling a transfer", (it) => {
  it.effect("that is pending frees its money, and the rail never hears of it", () =>
    Effect.gen(function* () {
      yield* rail.questions
      const parties = yield* pair()
      const { id, transfer } = yield* begun(parties)
      yield* TestClock.adjust("5 seconds")
      const { replayed, transfer: cancelled } = yield* (yield* CrossBorder).cancel(parties.caller, id)
      assert.isFalse(replayed)
      assert.deepStrictEqual(cancelled, {
        ...transfer,
        status: "cancelled",
        updated_at: DateTime.toDate(DateTime.add(DateTime.makeUnsafe(transfer.created_at), { seconds: 5 }))
      })
      assert.deepStrictEqual(yield* transferOf(parties.caller, id), cancelled)
      assert.deepStrictEqual(yield* balance(parties.from), { posted: 1_000_000_000n, held: 0n })
      assert.deepStrictEqual(yield* eventsOf(toTypeId("tx", id)), [
        "transfer.created pending",
        "transfer.cancelled cancelled"
      ])
      assert.strictEqual(yield* (yield* Settlements).settleDue, 0)
      assert.deepStrictEqual(yield* rail.questions, [])
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("is refused in every other status, and changes nothing", () =>
    Effect.gen(function* () {
      const { cancel } = yield* CrossBorder
      const { settleDue } = yield* Settlements
      const parties = yield* pair()
      const refused = Effect.fnUntraced(function* (id: TransferId, from: string) {
        const before = yield* transferOf(parties.caller, id)
        const refusal = yield* Effect.flip(cancel(parties.caller, id))
        assert.deepInclude({ ...refusal }, { _tag: "STATE_TRANSITION_INVALID", from, to: "cancelled" })
        assert.deepStrictEqual(yield* transferOf(parties.caller, id), before)
      })
      const { id: withdrawn } = yield* begun(parties)
      yield* cancel(parties.caller, withdrawn)
      yield* refused(withdrawn, "cancelled")
      for (const [behaviour, status] of [
        ["pending", "processing"],
        ["complete", "completed"],
        ["reject", "failed"]
      ] as const) {
        yield* rail.does(behaviour)
        const { id } = yield* begun(parties)
        yield* settleDue
        yield* refused(id, status)
      }
      const { id: neighbour } = yield* walletOf(parties.caller)
      const { transfer: atOnce } = yield* (yield* Transfers).create(parties.caller, {
        type: "internal",
        from_wallet_id: parties.from,
        to_wallet_id: neighbour,
        amount: 1n,
        currency: "USDC"
      })
      yield* refused(atOnce.id, "completed")
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("of somebody else finds nothing", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      const { cancel } = yield* CrossBorder
      const stranger = yield* tenant()
      assert.strictEqual((yield* Effect.flip(cancel(stranger, id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(cancel(stranger, TransferId.make(newUuid()))))._tag, "NOT_FOUND")
      assert.strictEqual((yield* transferOf(parties.caller, id)).status, "pending")
      yield* cancel(parties.caller, id)
    })
  )

  it.effect("a hundred times at once cancels once", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      const { cancel } = yield* CrossBorder
      const answers = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () =>
          Effect.match(cancel(parties.caller, id), {
            onFailure: ({ _tag }) => _tag,
            onSuccess: ({ transfer }) => transfer.status
          }),
        { concurrency: 100 }
      )
      assert.strictEqual(answers.filter((one) => one === "cancelled").length, 1)
      assert.strictEqual(answers.filter((one) => one === "STATE_TRANSITION_INVALID").length, 99)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("a hundred times at once under one key, in two processes, cancels once and tells everybody so", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { id } = yield* begun(parties)
      const here = yield* CrossBorder
      const { crossBorder: there } = yield* another()
      const answers = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => (index % 2 ? here : there)),
        ({ cancel }) => cancel(parties.caller, id, claimOf(parties.caller, id)),
        { concurrency: 100 }
      )
      const cancelled = yield* transferOf(parties.caller, id)
      for (const { transfer } of answers) assert.deepStrictEqual(transfer, cancelled)
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      assert.lengthOf(yield* eventsOf(toTypeId("tx", id)), 2)
      assert.deepStrictEqual(yield* broken, [])
    })
  )

  it.effect("under a key is told again for a day, and to nobody who names another transfer", () =>
    Effect.gen(function* () {
      const { caller, ...parties } = yield* pair()
      const { id } = yield* begun({ caller, ...parties })
      const { id: other } = yield* begun({ caller, ...parties })
      const { cancel } = yield* CrossBorder
      const first = yield* cancel(caller, id, claimOf(caller, id))
      yield* TestClock.adjust("23 hours")
      assert.deepStrictEqual(yield* cancel(caller, id, claimOf(caller, id)), { ...first, replayed: true })
      for (const named of [other, TransferId.make(newUuid())]) {
        const reused = yield* Effect.flip(cancel(caller, named, claimOf(caller, named)))
        assert.strictEqual(reused._tag, "IDEMPOTENCY_KEY_REUSED")
      }
      assert.strictEqual((yield* transferOf(caller, other)).status, "pending")
      yield* TestClock.adjust("61 minutes")
      const late = yield* Effect.flip(cancel(caller, id, claimOf(caller, id)))
      assert.strictEqual(late._tag, "STATE_TRANSITION_INVALID")
      yield* cancel(caller, other, claimOf(caller, other))
    })
  )

  it.effect("that is refused leaves its key free", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const { caller, ...parties } = yield* pair()
      const { id } = yield* begun({ caller, ...parties })
      yield* (yield* Settlements).settleDue
      const { cancel } = yield* CrossBorder
      const refused = yield* Effect.flip(cancel(caller, id, claimOf(caller, id)))
      assert.strictEqual(refused._tag, "STATE_TRANSITION_INVALID")
      const { id: next } = yield* begun({ caller, ...parties })
      assert.isFalse((yield* cancel(caller, next, claimOf(caller, next))).replayed)
    })
  )
})

layer(testLayer(), { timeout: "120 seconds" })("cancelling against submitting", (it) => {
  it.effect("exactly one wins, 200 times: never cancelled and settled", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const { settlements: there } = yield* another()
      const { cancel } = yield* CrossBorder
      const parties = yield* pair(200n * 1_000_000n)
      const won = { cancelled: 0, completed: 0 }
      for (let round = 0; round < 200; round++) {
        const { id, quote } = yield* begun(parties, { quotedAmount: 1_000_000n })
        const before = yield* balance(parties.to)
        const cancelling = Effect.match(cancel(parties.caller, id), {
          onFailure: ({ _tag }) => _tag,
          onSuccess: ({ transfer }) => transfer.status
        })
        // Neither always comes first; a round in ten is no race, so that each wins on any machine.
        const concurrency = round % 20 < 2 ? 1 : 2
        const [first, second] = [cancelling, Effect.as(there.settleDue, "asked")]
        const answers = yield* Effect.all(round % 2 === 0 ? [first, second] : [second, first], { concurrency })
        const { status } = yield* transferOf(parties.caller, id)
        const asked = (yield* rail.settled).has(toTypeId("tx", id))
        if (answers.includes("cancelled")) {
          won.cancelled++
          assert.deepStrictEqual([status, asked], ["cancelled", false])
          assert.deepStrictEqual(yield* balance(parties.to), before)
        } else {
          won.completed++
          assert.include(answers, "STATE_TRANSITION_INVALID")
          assert.deepStrictEqual([status, asked], ["completed", true])
          assert.strictEqual((yield* balance(parties.to)).posted, before.posted + quote.receive_amount)
        }
        assert.strictEqual((yield* balance(parties.from)).held, 0n)
        assert.strictEqual((yield* eventsOf(toTypeId("tx", id))).length, 2)
      }
      assert.isAbove(won.cancelled, 0)
      assert.isAbove(won.completed, 0)
      assert.strictEqual((yield* balance(parties.from)).posted, BigInt(200 - won.completed) * 1_000_000n)
      assert.deepStrictEqual(yield* broken, [])
      yield* TestClock.adjust(Duration.days(2))
      assert.strictEqual(yield* there.settleDue, 0)
      const sql = yield* SqlClient.SqlClient
      const both = yield* sql`SELECT data->'transfer'->>'id' AS id FROM events
        WHERE type IN ('transfer.cancelled', 'transfer.completed') GROUP BY 1 HAVING count(*) > 1`
      assert.deepStrictEqual(both, [])
    })
  )

  it.effect("under one key tells every repetition the same: cancelled and never submitted, or refused", () =>
    Effect.gen(function* () {
      yield* rail.does("complete")
      const { crossBorder: there, settlements } = yield* another()
      const here = yield* CrossBorder
      const parties = yield* pair(100n * 1_000_000n)
      const won = { cancelled: 0, completed: 0 }
      for (let round = 0; round < 100; round++) {
        const { id } = yield* begun(parties, { quotedAmount: 1_000_000n })
        const cancelling = [here, there, here, there].map(({ cancel }) =>
          Effect.match(cancel(parties.caller, id, { ...claimOf(parties.caller, id), key: id }), {
            onFailure: ({ _tag }) => _tag,
            onSuccess: ({ replayed, transfer }) => `${transfer.status}${replayed ? " again" : ""}`
          })
        )
        // Submitting is first or last; a round in ten is no race, so that each wins on any machine.
        const concurrency = round % 20 < 2 ? 1 : 5
        const submitting = Effect.as(settlements.settleDue, "asked")
        const order = round % 2 === 0 ? [...cancelling, submitting] : [submitting, ...cancelling]
        const answers = (yield* Effect.all(order, { concurrency })).filter((one) => one !== "asked").sort()
        const { status } = yield* transferOf(parties.caller, id)
        const isCancelled = status === "cancelled"
        won[isCancelled ? "cancelled" : "completed"]++
        assert.deepStrictEqual(
          answers,
          isCancelled
            ? ["cancelled", "cancelled again", "cancelled again", "cancelled again"]
            : Array(4).fill("STATE_TRANSITION_INVALID")
        )
        assert.strictEqual((yield* rail.settled).has(toTypeId("tx", id)), !isCancelled)
        assert.lengthOf(yield* eventsOf(toTypeId("tx", id)), 2)
      }
      assert.isAbove(Math.min(won.cancelled, won.completed), 0, JSON.stringify(won))
      assert.deepStrictEqual(yield* broken, [])
    })
  )
})
