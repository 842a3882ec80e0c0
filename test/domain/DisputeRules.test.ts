import { assert, describe, it } from "vitest"
import { Duration, Result } from "effect"
import fc from "fast-check"
import {
  type Disputable,
  type Dispute,
  type Disputed,
  disputesScope,
  escalate,
  judgeDispute,
  respond,
  supplement,
  tooLate
} from "#domain/Dispute.ts"
import { decide, resolve, resolveByDefault, type Verdict } from "#domain/DisputeEnd.ts"
import { type Evidence, evidenceLimits } from "#domain/DisputeEvidence.ts"
import { DisputeId, TransferId, WalletId } from "#domain/Ids.ts"
import { StateTransitionInvalid } from "#domain/Refusal.ts"
import type { Transfer } from "#domain/Transfer.ts"

const day = 86_400_000
const completed = Date.UTC(2026, 2, 1)
const at = (days: number) => new Date(completed + days * day)
const uuid = (digit: string) => `${digit.repeat(8)}-0000-7000-8000-000000000000`
const window = Duration.days(120)

const transfer = (given: Partial<Transfer> = {}): Transfer => ({
  id: TransferId.make(uuid("a")),
  type: "internal",
  status: "completed",
  amount: 100n,
  currency: "USDC",
  from_wallet_id: WalletId.make(uuid("1")),
  to_wallet_id: WalletId.make(uuid("2")),
  from_account_id: null,
  to_account_id: null,
  memo: null,
  quote_id: null,
  destination_amount: null,
  destination_currency: null,
  fee: 0n,
  batch_id: null,
  stream_id: null,
  scheduled_at: null,
  initiated_by: { type: "api_key", id: "key" },
  protocol: "internal",
  protocol_metadata: {},
  failure_reason: null,
  refunded_amount: 0n,
  created_at: at(0),
  updated_at: at(1),
  completed_at: at(0),
  ...given
})
const disputable = (given: Partial<Transfer> = {}, over: Partial<Disputable> = {}): Disputable => ({
  transfer: transfer(given),
  reserved: 0n,
  version: 0n,
  disputes: 0n,
  disputed: false,
  decided: [],
  ...over
})
const disputed = (given: Partial<Transfer> = {}, over: Partial<Disputed> = {}): Disputed => ({
  transfer: transfer(given),
  reserved: 0n,
  version: 0n,
  since: 0n,
  ...over
})
const dispute = (given: Partial<Dispute> = {}): Dispute => ({
  id: DisputeId.make(uuid("d")),
  transfer_id: TransferId.make(uuid("a")),
  status: "open",
  reason: "other",
  description: "It never came",
  amount_disputed: 60n,
  currency: "USDC",
  filed_by: { type: "api_key", id: "key" },
  filer_account_id: null,
  respondent_account_id: null,
  requested_resolution: null,
  evidence: [],
  response: null,
  counter_evidence: [],
  escalation_reason: null,
  response_window_ends_at: at(30),
  resolution: null,
  refund_id: null,
  notes: null,
  created_at: at(0),
  updated_at: at(0),
  resolved_at: null,
  ...given
})
const verdict = (resolution: Verdict["resolution"], refund_amount?: bigint): Verdict => ({
  resolution,
  refund_amount,
  notes: "so be it"
})
const said = <A, E extends { readonly _tag: string }>(one: Result.Result<A, E>) =>
  Result.isFailure(one) ? one.failure._tag : one.success

describe("a dispute that is to be opened", () => {
  const judged = (of: Disputable, amount_disputed?: bigint, days = 1) =>
    judgeDispute(of, { amount_disputed, reason: "other" }, at(days), window)

  it("is of what it names, or of all that is left", () => {
    assert.strictEqual(said(judged(disputable({ refunded_amount: 30n }), 69n)), 69n)
    assert.strictEqual(said(judged(disputable({ refunded_amount: 30n }))), 70n)
    assert.strictEqual(said(judged(disputable({ refunded_amount: 30n }), 71n)), "AMOUNT_EXCEEDS_REMAINING")
  })
  it("comes until its window ends, counted from completion, and not a millisecond later", () => {
    assert.strictEqual(said(judged(disputable(), 1n, 120)), 1n)
    const late = judged(disputable(), 1n, 120 + 1 / day)
    assert.deepInclude(Result.isFailure(late) ? late.failure : {}, {
      _tag: "DISPUTE_WINDOW_EXPIRED",
      ended_at: "2026-06-29T00:00:00.000Z"
    })
  })
  it("is refused in a fixed order", () => {
    const all = {
      of: { status: "failed", protocol: "x402", refunded_amount: 100n } as Partial<Transfer>,
      over: { disputed: true, decided: ["other"] } as Partial<Disputable>
    }
    const order = [
      judged(disputable(all.of, all.over), 1n, 121),
      judged(disputable({ ...all.of, status: "completed" }, all.over), 1n, 121),
      judged(disputable({ refunded_amount: 100n }, all.over), 1n, 121),
      judged(disputable({ refunded_amount: 100n }, all.over), 1n),
      judged(disputable({ refunded_amount: 100n }, { decided: ["other"] }), 1n),
      judged(disputable({ refunded_amount: 100n }, { decided: ["unauthorized"] }), 1n)
    ]
    assert.deepStrictEqual(order.map(said), [
      "STATE_TRANSITION_INVALID",
      "NOT_REFUNDABLE",
      "DISPUTE_WINDOW_EXPIRED",
      "ALREADY_DISPUTED",
      "DISPUTE_DECIDED",
      "AMOUNT_EXCEEDS_REMAINING"
    ])
    assert.deepInclude(Result.isFailure(order[0]!) ? order[0].failure : {}, { from: "failed", to: "disputed" })
  })
  it("has a fence of its own for each transfer", () => {
    const [one, two] = [uuid("a"), uuid("b")].map((id) => disputesScope(TransferId.make(id)))
    assert.notStrictEqual(one, two)
  })
})

describe("an answer to a dispute", () => {
  const answer = { response: "It did", counter_evidence: [] }

  it("comes before the window ends, and not at its end", () => {
    const early = respond(dispute(), answer, new Date(at(30).getTime() - 1))
    assert.deepStrictEqual(said(early), { ...answer, status: "under_review" })
    const late = respond(dispute(), answer, at(30))
    assert.deepInclude(Result.isFailure(late) ? late.failure : {}, {
      _tag: "RESPONSE_WINDOW_EXPIRED",
      ended_at: at(30).toISOString()
    })
  })
  it("is given once, whenever another comes", () => {
    for (const status of ["under_review", "escalated", "resolved"] as const) {
      assert.isUndefined(tooLate(dispute({ status }), at(31)))
      assert.strictEqual(said(respond(dispute({ status }), answer, at(31))), "STATE_TRANSITION_INVALID")
    }
  })
  it("that is refused says what the dispute should have become", () => {
    const to = <A, E>(one: Result.Result<A, E | StateTransitionInvalid>) =>
      Result.isFailure(one) && one.failure instanceof StateTransitionInvalid
        ? `${one.failure.from} ${one.failure.to}`
        : ""
    const over = dispute({ status: "resolved" })
    assert.strictEqual(to(escalate(over, null)), "resolved escalated")
    assert.strictEqual(to(escalate(dispute(), "why")), "open escalated")
    assert.strictEqual(to(supplement(over, [])), "resolved supplemented")
    assert.strictEqual(to(resolve(over, verdict("other"), disputed())), "resolved resolved")
    assert.strictEqual(to(respond(over, answer, at(1))), "resolved under_review")
  })
})

describe("evidence", () => {
  const piece: Evidence = { type: "note", description: "" }

  it("is added to what is there, up to as many pieces as one side may have", () => {
    const old = { ...piece, type: "old" }
    assert.deepStrictEqual(said(supplement(dispute({ evidence: [old] }), [piece])), {
      status: "open",
      evidence: [old, piece]
    })
    const many = dispute({ evidence: Array.from({ length: evidenceLimits.side - 1 }, () => piece) })
    assert.isTrue(Result.isSuccess(supplement(many, [piece])))
    assert.strictEqual(said(supplement(many, [piece, piece])), "EVIDENCE_LIMIT_REACHED")
  })
  it("is at most as many bytes as one side may have, whatever characters they are", () => {
    const filled = (bytes: number) => {
      const rest = bytes - JSON.stringify([piece]).length
      return [{ ...piece, description: "é".repeat(Math.floor(rest / 2)) + "x".repeat(rest % 2) }]
    }
    assert.isTrue(Result.isSuccess(supplement(dispute(), filled(evidenceLimits.bytes))))
    assert.strictEqual(said(supplement(dispute(), filled(evidenceLimits.bytes + 1))), "EVIDENCE_LIMIT_REACHED")
  })
  it("of a dispute that is over is refused for that", () => {
    const many = Array.from({ length: evidenceLimits.side + 1 }, () => piece)
    assert.strictEqual(said(supplement(dispute({ status: "resolved" }), many)), "STATE_TRANSITION_INVALID")
  })
})

describe("the end of a dispute", () => {
  const ends = (one: ReturnType<typeof decide>) =>
    Result.isFailure(one) ? one.failure._tag : [one.success.change.resolution, one.success.refund]

  it("is what somebody decides, unless the time to answer is over and nobody has", () => {
    const ended = decide(dispute(), verdict("full_refund"), disputed(), new Date(at(30).getTime() - 1))
    assert.deepStrictEqual(said(ended), {
      change: { resolution: "full_refund", notes: "so be it", status: "resolved" },
      refund: 60n
    })
    assert.strictEqual(ends(decide(dispute(), verdict("full_refund"), disputed(), at(30))), "RESPONSE_WINDOW_EXPIRED")
    const answered = dispute({ status: "under_review" })
    assert.deepStrictEqual(ends(decide(answered, verdict("no_refund"), disputed(), at(31))), ["no_refund", undefined])
  })
  it("without a refund needs no money, nor a transfer of which some could come back", () => {
    for (const resolution of ["credit", "no_refund", "other"] as const) {
      const gone = disputed({ refunded_amount: 100n, protocol: "x402" })
      assert.deepStrictEqual(ends(resolve(dispute(), verdict(resolution), gone)), [resolution, undefined])
    }
    assert.strictEqual(
      ends(resolve(dispute(), verdict("full_refund"), disputed({ protocol: "x402" }))),
      "NOT_REFUNDABLE"
    )
  })
  it("refunds what is disputed less what came back since, as far as it is left, and in part no more than that", () => {
    const some = fc.bigInt({ min: 0n, max: 100n })
    fc.assert(
      fc.property(
        some,
        some,
        some,
        some,
        fc.bigInt({ min: 1n, max: 100n }),
        (amount_disputed, refunded_amount, reserved, since, asked) => {
          const of = disputed({ refunded_amount }, { reserved, since })
          const one = dispute({ amount_disputed })
          const left = Math.min(Number(100n - refunded_amount - reserved), Number(amount_disputed - since))
          const full = ends(resolve(one, verdict("full_refund"), of))
          assert.deepStrictEqual(full, left > 0 ? ["full_refund", BigInt(left)] : "AMOUNT_EXCEEDS_REMAINING")
          const part = ends(resolve(one, verdict("partial_refund", asked), of))
          const fits = left > 0 && Number(asked) <= left
          assert.deepStrictEqual(part, fits ? ["partial_refund", asked] : "AMOUNT_EXCEEDS_REMAINING")
        }
      )
    )
  })
  it("in full is of everything, whatever amount stands beside it", () => {
    assert.deepStrictEqual(ends(resolve(dispute(), verdict("full_refund", 1n), disputed())), ["full_refund", 60n])
  })
  it("that asks for too much says how much there is, which is never less than nothing", () => {
    const remaining = (of: Disputed) => {
      const one = resolve(dispute(), verdict("partial_refund", 61n), of)
      return Result.isFailure(one) && "remaining" in one.failure ? one.failure.remaining : undefined
    }
    assert.strictEqual(remaining(disputed()), "0.00006")
    assert.strictEqual(remaining(disputed({}, { since: 70n })), "0.00")
  })
})

describe("a dispute that nobody answered", () => {
  const ended = (given: Partial<Dispute>, of = disputed()) => {
    const one = resolveByDefault(dispute(given), of)
    return Result.isFailure(one) ? one.failure._tag : [one.success.change.resolution, one.success.refund]
  }

  it("ends as its filer asked, or with everything that is disputed", () => {
    assert.deepStrictEqual(ended({}), ["full_refund", 60n])
    assert.deepStrictEqual(ended({ requested_resolution: "credit" }), ["full_refund", 60n])
    assert.deepStrictEqual(ended({ requested_resolution: "partial_refund" }), ["partial_refund", 60n])
    assert.deepStrictEqual(ended({ requested_resolution: "no_refund" }), ["no_refund", undefined])
  })
  it("ends without a refund where as much has come back meanwhile", () => {
    const one = resolveByDefault(dispute(), disputed({}, { since: 60n }))
    assert.deepInclude(Result.isSuccess(one) ? one.success.change : {}, {
      resolution: "no_refund",
      notes: "Not answered in time; what is disputed had been refunded before."
    })
    assert.deepStrictEqual(ended({}, disputed({}, { since: 59n })), ["full_refund", 1n])
  })
  it("was answered when it is anything but open", () => {
    for (const status of ["under_review", "escalated", "resolved"] as const) {
      assert.strictEqual(ended({ status }), "STATE_TRANSITION_INVALID")
    }
  })
})
