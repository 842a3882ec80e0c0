import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { Disputes } from "#services/Disputes.ts"
import { Refunds } from "#services/Refunds.ts"
import { answer, claimOf, receipt, verdict } from "./DisputesHarness.ts"
import {
  aDispute,
  available,
  dispute,
  disputeOf,
  eventsAbout,
  hundred,
  paid,
  platform,
  refund,
  services,
  sound,
  tagsOf
} from "./RefundsHarness.ts"
import { tenant } from "./WalletsHarness.ts"

const typesOf = (events: ReadonlyArray<{ readonly type: string }>) => events.map(({ type }) => type)

layer(platform, { timeout: "60 seconds" })("opening a dispute", (it) => {
  it.effect("names both sides, what is disputed, and the end of 30 days to answer", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      yield* refund(caller, id, 30_000_000n)
      const opened = yield* dispute(caller, id, { evidence: [receipt], requested_resolution: "full_refund" })
      assert.deepInclude(opened, {
        transfer_id: id,
        status: "open",
        amount_disputed: 70_000_000n,
        currency: "USDC",
        filer_account_id: caller.account_id,
        respondent_account_id: caller.account_id,
        requested_resolution: "full_refund",
        resolution: null,
        refund_id: null
      })
      assert.deepStrictEqual(opened.evidence, [receipt])
      assert.deepStrictEqual(opened.response_window_ends_at.getTime() - opened.created_at.getTime(), 30 * 86_400_000)
      assert.deepStrictEqual(yield* (yield* Disputes).get(caller, opened.id), opened)
      const [event, ...more] = yield* eventsAbout(toTypeId("dp", opened.id))
      assert.deepInclude(event, { type: "dispute.opened" })
      assert.deepInclude(event?.data["dispute"], { status: "open", amount_disputed: "70.00" })
      assert.deepStrictEqual(more, [])
    })
  )

  it.effect("is of at most what is left", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const refused = yield* Effect.flip(dispute(caller, id, { amount_disputed: hundred + 1n }))
      assert.deepInclude(refused, { _tag: "AMOUNT_EXCEEDS_REMAINING", remaining: "100.00" })
      assert.strictEqual((yield* dispute(caller, id, { amount_disputed: 1n })).amount_disputed, 1n)
    })
  )

  it.effect("is of a completed transfer, and not of a refund", () =>
    Effect.gen(function* () {
      const { caller, id, pay } = yield* paid
      const failed = yield* pay()
      assert.deepInclude(yield* Effect.flip(dispute(caller, failed.id)), {
        _tag: "STATE_TRANSITION_INVALID",
        to: "disputed"
      })
      const { refund: made } = yield* refund(caller, id)
      const back = made.refund_transfer_id ?? id
      assert.strictEqual((yield* Effect.flip(dispute(caller, back)))._tag, "NOT_REFUNDABLE")
    })
  )

  it.effect("is possible 119 days after completion, when a refund no longer is, and not after 121", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const other = yield* paid
      yield* TestClock.adjust("119 days")
      const { id: dp } = yield* dispute(caller, id)
      const { dispute: resolved } = yield* (yield* Disputes).resolve(caller, dp, verdict("full_refund"))
      assert.isNotNull(resolved.refund_id)
      yield* TestClock.adjust("2 days")
      assert.strictEqual((yield* Effect.flip(dispute(other.caller, other.id)))._tag, "DISPUTE_WINDOW_EXPIRED")
    })
  )

  it.effect("is refused while another is not resolved, and possible again after", () =>
    Effect.gen(function* () {
      const { resolve } = yield* Disputes
      const { caller, id } = yield* paid
      const first = yield* dispute(caller, id)
      assert.strictEqual((yield* Effect.flip(dispute(caller, id)))._tag, "ALREADY_DISPUTED")
      yield* resolve(caller, first.id, verdict("no_refund"))
      assert.strictEqual((yield* dispute(caller, id)).status, "open")
    })
  )

  it.effect("20 times at once, in two processes, opens one", () =>
    Effect.gen(function* () {
      const { caller, id } = yield* paid
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const one = Effect.result(dispute(caller, id))
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : Effect.provide(one, elsewhere))),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(tagsOf(answers), [...Array.from({ length: 19 }, () => "ALREADY_DISPUTED"), "done"])
    })
  )

  it.effect("under one key 50 times at once opens one, and every answer is the first one", () =>
    Effect.gen(function* () {
      const { open } = yield* Disputes
      const { caller, id } = yield* paid
      const once = open(caller, disputeOf(id), claimOf(caller, "open"))
      const answers = yield* Effect.all(
        Array.from({ length: 50 }, () => once),
        { concurrency: 50 }
      )
      assert.strictEqual(new Set(answers.map(({ dispute }) => dispute.id)).size, 1)
      assert.strictEqual(answers.filter(({ replayed }) => !replayed).length, 1)
      const other = open(caller, disputeOf(id, { reason: "other" }), claimOf(caller, "open", "2"))
      assert.strictEqual((yield* Effect.flip(other))._tag, "IDEMPOTENCY_KEY_REUSED")
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a dispute", (it) => {
  it.effect("goes from open over review and escalation to its end, and each step is told", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id, payer } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      const { dispute: supplemented } = yield* disputes.addEvidence(caller, dp, [receipt])
      assert.deepInclude(supplemented, { status: "open" })
      const { dispute: answered } = yield* disputes.respond(caller, dp, answer)
      assert.deepInclude(answered, { status: "under_review", response: answer.response })
      assert.deepStrictEqual([answered.evidence, answered.counter_evidence], [[receipt], [receipt]])
      assert.strictEqual((yield* Effect.flip(dispute(caller, id)))._tag, "ALREADY_DISPUTED")
      const { dispute: escalated } = yield* disputes.escalate(caller, dp, "we do not agree")
      assert.deepInclude(escalated, { status: "escalated", escalation_reason: "we do not agree" })
      const last = { resolution: "partial_refund", refund_amount: 40_000_000n, notes: "half of it" } as const
      const { dispute: ended } = yield* disputes.resolve(caller, dp, last)
      assert.deepInclude(ended, { status: "resolved", resolution: "partial_refund", notes: "half of it" })
      assert.isNotNull(ended.resolved_at)
      assert.deepStrictEqual(yield* disputes.get(caller, dp), ended)

      const made = yield* (yield* Refunds).get(caller, ended.refund_id!)
      assert.deepInclude(made, {
        transfer_id: id,
        dispute_id: dp,
        amount: 40_000_000n,
        status: "completed",
        reason: "service_not_rendered"
      })
      assert.strictEqual(yield* available(caller, payer), 40_000_000n)
      assert.deepStrictEqual(typesOf(yield* eventsAbout(toTypeId("dp", dp), toTypeId("rf", made.id))), [
        "dispute.opened",
        "dispute.updated",
        "dispute.updated",
        "dispute.updated",
        "refund.created",
        "refund.completed",
        "dispute.resolved"
      ])
      yield* sound
    })
  )

  for (const from of ["open", "under_review", "escalated"] as const) {
    for (const resolution of ["full_refund", "credit", "no_refund", "other"] as const) {
      it.effect(`that is ${from} may end with ${resolution}, and then nothing more happens to it`, () =>
        Effect.gen(function* () {
          const disputes = yield* Disputes
          const { caller, id, payer } = yield* paid
          const { id: dp } = yield* dispute(caller, id, { amount_disputed: 60_000_000n })
          if (from !== "open") yield* disputes.respond(caller, dp, answer)
          if (from === "escalated") yield* disputes.escalate(caller, dp, null)
          const { dispute: ended } = yield* disputes.resolve(caller, dp, verdict(resolution))
          assert.deepInclude(ended, { status: "resolved", resolution })
          const refunds = resolution === "full_refund"
          assert.strictEqual(ended.refund_id !== null, refunds)
          assert.strictEqual(yield* available(caller, payer), refunds ? 60_000_000n : 0n)
          const late: ReadonlyArray<Effect.Effect<object, { readonly _tag: string }>> = [
            disputes.respond(caller, dp, answer),
            disputes.addEvidence(caller, dp, [receipt]),
            disputes.escalate(caller, dp, null),
            disputes.resolve(caller, dp, verdict("full_refund"))
          ]
          for (const more of late) {
            assert.deepInclude(Object(yield* Effect.flip(more)), { _tag: "STATE_TRANSITION_INVALID", from: "resolved" })
          }
          assert.deepStrictEqual(yield* disputes.get(caller, dp), ended)
        })
      )
    }
  }

  it.effect("is escalated under review only, and answered once", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      assert.deepInclude(yield* Effect.flip(disputes.escalate(caller, dp, null)), {
        _tag: "STATE_TRANSITION_INVALID",
        from: "open"
      })
      yield* disputes.respond(caller, dp, answer)
      assert.deepInclude(yield* Effect.flip(disputes.respond(caller, dp, answer)), {
        _tag: "STATE_TRANSITION_INVALID",
        from: "under_review"
      })
    })
  )

  it.effect("holds 50 pieces of evidence", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id, { evidence: Array.from({ length: 20 }, () => receipt) })
      yield* disputes.addEvidence(
        caller,
        dp,
        Array.from({ length: 20 }, () => receipt)
      )
      const tooMany = disputes.addEvidence(
        caller,
        dp,
        Array.from({ length: 11 }, () => receipt)
      )
      assert.deepInclude(yield* Effect.flip(tooMany), { _tag: "EVIDENCE_LIMIT_REACHED", limit: 50 })
      const { dispute: all } = yield* disputes.addEvidence(
        caller,
        dp,
        Array.from({ length: 10 }, () => receipt)
      )
      assert.strictEqual(all.evidence.length, 50)
    })
  )

  it.effect("keeps every piece of evidence that is added at once", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      const elsewhere = yield* Layer.build(Layer.fresh(services))
      const add = (index: number) =>
        Effect.flatMap(Disputes, (one) => one.addEvidence(caller, dp, [{ ...receipt, type: `piece ${index}` }]))
      yield* Effect.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? add(index) : Effect.provide(add(index), elsewhere))),
        { concurrency: 20 }
      )
      const { evidence } = yield* disputes.get(caller, dp)
      assert.strictEqual(new Set(evidence.map(({ type }) => type)).size, 20)
    })
  )

  it.effect("of somebody else's is nobody's, whatever is asked", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const { caller, id } = yield* paid
      const { id: dp } = yield* dispute(caller, id)
      const stranger = yield* tenant()
      const asked = (
        who: Principal,
        id: typeof dp
      ): ReadonlyArray<Effect.Effect<object, { readonly _tag: string }>> => [
        disputes.get(who, id),
        disputes.respond(who, id, answer),
        disputes.addEvidence(who, id, [receipt]),
        disputes.escalate(who, id, null),
        disputes.resolve(who, id, verdict("full_refund"))
      ]
      for (const each of [...asked(stranger, dp), ...asked(caller, yield* aDispute)]) {
        assert.strictEqual((yield* Effect.flip(each))._tag, "NOT_FOUND")
      }
      assert.strictEqual((yield* Effect.flip(dispute(stranger, id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* disputes.list(stranger, {}, { limit: 10, offset: 0 })).total, 0)
      assert.strictEqual((yield* disputes.get(caller, dp)).status, "open")
    })
  )
})
