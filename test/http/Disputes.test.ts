import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refusedAmounts } from "./RefusedAmounts.ts"
import { parties } from "./TransfersHarness.ts"
import { newcomer, options, serverOf } from "./WalletsServer.ts"

const receipt = { type: "receipt", description: "What was ordered", url: "https://example.com/1" }

/** 10.00 that were paid, and what may be done about it. */
const purchase = Effect.gen(function* () {
  const of = yield* parties("10.00")
  const { body: transfer } = yield* of.create({ amount: "10.00" })
  const id: string = transfer.id
  const usual = { transfer_id: id, reason: "service_not_received", description: "It never came" }
  const open = (over: object = {}, headers?: Record<string, string>) =>
    of.call("POST", "/v1/disputes", { ...usual, ...over }, headers)
  const step = (dispute: string, name: string, body: object = {}, headers?: Record<string, string>) =>
    of.call("POST", `/v1/disputes/${dispute}/${name}`, body, headers)
  return { ...of, id, open, step }
})
const codeOf = ({ body, status }: { readonly body: { readonly code: string }; readonly status: number }) => [
  status,
  body.code
]

layer(serverOf("sandbox"), options)("a dispute over HTTP", (it) => {
  it.effect("goes all the way from filing to a partial refund", () =>
    Effect.gen(function* () {
      const { balance, call, from, get, id, open, step, tenant } = yield* purchase
      const filed = yield* open({ evidence: [receipt], requested_resolution: "full_refund" })
      assert.strictEqual(filed.status, 201)
      assert.match(filed.body.id, /^dp_[0-9a-z]{26}$/)
      const dp: string = filed.body.id
      assert.deepInclude(filed.body, {
        transfer_id: id,
        status: "open",
        amount_disputed: "10.00",
        evidence: [receipt],
        counter_evidence: [],
        resolution: null
      })
      assert.isAbove(Date.parse(filed.body.response_window_ends_at), Date.parse(filed.body.created_at))
      assert.deepStrictEqual((yield* open()).body.code, "ALREADY_DISPUTED")
      assert.deepStrictEqual(codeOf(yield* step(dp, "escalate")), [409, "STATE_TRANSITION_INVALID"])
      const answered = yield* step(dp, "respond", { response: "It was delivered", counter_evidence: [receipt] })
      assert.deepStrictEqual([answered.status, answered.body.status], [200, "under_review"])
      const more = yield* step(dp, "evidence", { evidence: [{ type: "log", description: "all of it", content: "x" }] })
      assert.strictEqual(more.body.evidence.length, 2)
      const escalated = yield* step(dp, "escalate", { reason: "no agreement" })
      assert.deepInclude(escalated.body, { status: "escalated", escalation_reason: "no agreement" })
      const ended = yield* step(dp, "resolve", { resolution: "partial_refund", refund_amount: "2.50", notes: "some" })
      assert.strictEqual(ended.status, 200)
      assert.deepInclude(ended.body, { status: "resolved", resolution: "partial_refund", notes: "some" })
      assert.strictEqual(yield* balance(from), "2.50")
      const { body: refund } = yield* call("GET", `/v1/refunds/${ended.body.refund_id}`)
      assert.deepInclude(refund, { dispute_id: dp, amount: "2.50", status: "completed" })
      assert.strictEqual((yield* get(id)).body.refunded_amount, "2.50")
      assert.deepStrictEqual((yield* call("GET", `/v1/disputes/${dp}`)).body, ended.body)
      const listed = yield* call("GET", "/v1/disputes?status=resolved")
      assert.deepStrictEqual(listed.body.data, [ended.body])
      assert.strictEqual((yield* call("GET", "/v1/disputes?due_soon=true")).body.pagination.total, 0)
      assert.deepStrictEqual(codeOf(yield* step(dp, "evidence", { evidence: [receipt] })), [
        409,
        "STATE_TRANSITION_INVALID"
      ])
      assert.strictEqual(typeof tenant.id, "string")
    })
  )

  it.effect("brings back nothing that was refunded since it was opened", () =>
    Effect.gen(function* () {
      const { balance, call, from, id, open, step } = yield* purchase
      const { body } = yield* open({ amount_disputed: "6.00" })
      yield* call("POST", "/v1/refunds", { transfer_id: id, amount: "6.00", reason: "error" })
      const refused = yield* step(body.id, "resolve", { resolution: "full_refund" })
      assert.deepStrictEqual(codeOf(refused), [422, "AMOUNT_EXCEEDS_REMAINING"])
      assert.deepInclude(refused.body.details, { remaining: "0.00" })
      assert.strictEqual(yield* balance(from), "6.00")
    })
  )

  it.effect("takes the camel-case spellings, and not both of two", () =>
    Effect.gen(function* () {
      const { call, id, open, step } = yield* purchase
      const { body, status } = yield* call("POST", "/v1/disputes", {
        transferId: id,
        reason: "other",
        description: "x",
        amountDisputed: "3.00",
        requestedResolution: "credit"
      })
      assert.deepStrictEqual([status, body.amount_disputed, body.requested_resolution], [201, "3.00", "credit"])
      assert.deepStrictEqual(codeOf(yield* open({ transferId: id })), [400, "INVALID_REQUEST"])
      const answered = yield* step(body.id, "respond", { response: "no", counterEvidence: [receipt] })
      assert.deepStrictEqual(answered.body.counter_evidence, [receipt])
      const ended = yield* step(body.id, "resolve", { resolution: "partial_refund", refundAmount: "1.00" })
      assert.strictEqual(ended.body.status, "resolved")
    })
  )

  it.effect("holds 32 KiB of evidence of each side, in bytes and not in characters", () =>
    Effect.gen(function* () {
      const { open, step } = yield* purchase
      const pieces = (length: number, content: string) => Array.from({ length }, () => ({ ...receipt, content }))
      const { body } = yield* open({ evidence: pieces(7, "x".repeat(4000)) })
      const over = yield* step(body.id, "evidence", { evidence: pieces(1, "я".repeat(2200)) })
      assert.deepStrictEqual(codeOf(over), [422, "EVIDENCE_LIMIT_REACHED"])
      assert.deepInclude(over.body.details, { limit: 50, bytes: 32_768 })
      const within = yield* step(body.id, "evidence", { evidence: pieces(1, "x".repeat(2200)) })
      assert.strictEqual(within.body.evidence.length, 8)
      const counter_evidence = pieces(9, "x".repeat(4000))
      assert.deepStrictEqual(codeOf(yield* step(body.id, "respond", { response: "no", counter_evidence })), [
        400,
        "INVALID_REQUEST"
      ])
    })
  )

  it.effect("is refused with what is wrong about it", () =>
    Effect.gen(function* () {
      const { call, id, open } = yield* purchase
      for (const wrong of [
        { description: "" },
        { description: " " },
        { description: "x".repeat(2001) },
        { description: undefined },
        { reason: "because" },
        { transfer_id: undefined },
        { requested_resolution: "all" },
        { evidence: Array.from({ length: 21 }, () => receipt) },
        { evidence: [{ type: "receipt" }] },
        { evidence: [{ ...receipt, url: "javascript:alert(1)" }] },
        { evidence: [{ ...receipt, content: "x".repeat(4001) }] },
        { evidence: Array.from({ length: 9 }, () => ({ ...receipt, content: "x".repeat(4000) })) },
        { evidence: [{ ...receipt, more: 1 }] },
        { evidence: "receipt" }
      ]) {
        assert.deepStrictEqual(codeOf(yield* open(wrong)), [400, "INVALID_REQUEST"], JSON.stringify(wrong).slice(0, 80))
      }
      for (const [name, json, code] of refusedAmounts) {
        const body = `{"transfer_id": "${id}", "reason": "other", "description": "x", "amount_disputed": ${json}}`
        assert.deepStrictEqual(codeOf(yield* call("POST", "/v1/disputes", body)), [422, code], name)
      }
      assert.deepStrictEqual(codeOf(yield* open({ amount_disputed: "10.01" })), [422, "AMOUNT_EXCEEDS_REMAINING"])
      const stranger = yield* newcomer
      const theirs = yield* stranger.call("POST", "/v1/disputes", {
        transfer_id: id,
        reason: "other",
        description: "x"
      })
      assert.deepStrictEqual(codeOf(theirs), [404, "NOT_FOUND"])
    })
  )

  it.effect("is resolved by a verdict that does not contradict itself", () =>
    Effect.gen(function* () {
      const { open, step } = yield* purchase
      const { body } = yield* open()
      for (const wrong of [
        {},
        { resolution: "refund" },
        { resolution: "partial_refund" },
        { resolution: "full_refund", refund_amount: "1.00" },
        { resolution: "no_refund", refundAmount: "1.00" },
        { resolution: "partial_refund", refundAmount: "1.00", refund_amount: "1.00" },
        { resolution: "credit", notes: "x".repeat(1001) }
      ]) {
        const answer = yield* step(body.id, "resolve", wrong)
        assert.deepStrictEqual(codeOf(answer), [400, "INVALID_REQUEST"], JSON.stringify(wrong).slice(0, 80))
      }
      const more = yield* step(body.id, "resolve", { resolution: "partial_refund", refund_amount: "10.000001" })
      assert.deepStrictEqual(codeOf(more), [422, "AMOUNT_EXCEEDS_REMAINING"])
      assert.strictEqual((yield* step(body.id, "resolve", { resolution: "other", notes: null })).status, 200)
    })
  )

  it.effect("opened under a key is not another one's under it, not even that of a transfer that is not there", () =>
    Effect.gen(function* () {
      const { open } = yield* purchase
      const first = yield* open({ idempotency_key: "k" })
      const again = yield* open({ idempotency_key: "k" })
      assert.deepStrictEqual([again.status, again.text], [201, first.text])
      for (const other of [{ amount_disputed: "1.00" }, { transfer_id: "tx_00000000000000000000000000" }]) {
        const reused = yield* open({ ...other, idempotency_key: "k" })
        assert.deepStrictEqual(codeOf(reused), [409, "IDEMPOTENCY_KEY_REUSED"])
      }
    })
  )

  it.effect("gets evidence once under a key, whatever became of it since", () =>
    Effect.gen(function* () {
      const { call, open, step } = yield* purchase
      const { body } = yield* open()
      const more = { evidence: [receipt], idempotency_key: "k" }
      const first = yield* step(body.id, "evidence", more)
      assert.deepStrictEqual([first.status, first.body.evidence], [200, [receipt]])
      assert.strictEqual(first.headers.get("idempotency-replayed"), null)
      const again = yield* step(body.id, "evidence", { evidence: [receipt] }, { "Idempotency-Key": "k" })
      assert.deepStrictEqual([again.text, again.headers.get("idempotency-replayed")], [first.text, "true"])
      assert.deepStrictEqual((yield* call("GET", `/v1/disputes/${body.id}`)).body, first.body)
      yield* step(body.id, "resolve", { resolution: "no_refund" })
      assert.strictEqual((yield* step(body.id, "evidence", more)).text, first.text)
      for (const [dp, evidence] of [
        [body.id, [receipt, receipt]],
        ["dp_00000000000000000000000000", [receipt]]
      ] as const) {
        const reused = yield* step(dp, "evidence", { ...more, evidence })
        assert.deepStrictEqual(codeOf(reused), [409, "IDEMPOTENCY_KEY_REUSED"])
      }
      const differ = yield* step(body.id, "evidence", more, { "Idempotency-Key": "another" })
      assert.deepStrictEqual(codeOf(differ), [422, "IDEMPOTENCY_KEYS_DIFFER"])
      const other = yield* step(body.id, "evidence", { ...more, idempotency_key: "l" })
      assert.deepStrictEqual(codeOf(other), [409, "STATE_TRANSITION_INVALID"])
    })
  )

  it.effect(
    "is answered and escalated once under a key, and a repetition is told what came of it whatever happened since",
    () =>
      Effect.gen(function* () {
        const { open, step } = yield* purchase
        const { body } = yield* open()
        const steps = [
          ["respond", { response: "It was delivered" }, { response: "It was not" }, "under_review"],
          ["escalate", { reason: "no agreement" }, {}, "escalated"]
        ] as const
        const key = { "Idempotency-Key": "k" }
        const told = yield* Effect.forEach(steps, ([name, given]) => step(body.id, name, given, key))
        yield* step(body.id, "resolve", { resolution: "no_refund" })
        for (const [index, [name, given, other, status]] of steps.entries()) {
          const first = told[index]!
          assert.deepStrictEqual([first.status, first.body.status], [200, status])
          assert.strictEqual(first.headers.get("idempotency-replayed"), null)
          const again = yield* step(body.id, name, { ...given, idempotency_key: "k" })
          assert.deepStrictEqual([again.text, again.headers.get("idempotency-replayed")], [first.text, "true"])
          assert.deepStrictEqual(codeOf(yield* step(body.id, name, other, key)), [409, "IDEMPOTENCY_KEY_REUSED"])
          const late = yield* step(body.id, name, { ...given, idempotency_key: "l" })
          assert.deepStrictEqual(codeOf(late), [409, "STATE_TRANSITION_INVALID"])
        }
      })
  )

  it.effect("is escalated by a request without a body, for no reason", () =>
    Effect.gen(function* () {
      const { call, open, step } = yield* purchase
      const { body } = yield* open()
      yield* step(body.id, "respond", { response: "It was delivered" })
      const escalated = yield* call("POST", `/v1/disputes/${body.id}/escalate`)
      assert.strictEqual(escalated.status, 200)
      assert.deepInclude(escalated.body, { status: "escalated", escalation_reason: null })
    })
  )

  it.effect("takes a word about a mandate, which changes nothing", () =>
    Effect.gen(function* () {
      const { open, step } = yield* purchase
      const { body } = yield* open()
      const verdict = { resolution: "no_refund", idempotency_key: "k" }
      const wrong = yield* step(body.id, "resolve", { ...verdict, cancelMandate: "yes" })
      assert.deepStrictEqual(codeOf(wrong), [400, "INVALID_REQUEST"])
      const ended = yield* step(body.id, "resolve", { ...verdict, cancelMandate: true })
      assert.deepStrictEqual([ended.status, ended.body.resolution], [200, "no_refund"])
      assert.strictEqual((yield* step(body.id, "resolve", { ...verdict, cancel_mandate: false })).text, ended.text)
    })
  )

  it.effect("whose respondent has too little stays as it was", () =>
    Effect.gen(function* () {
      const { call, create, open, step, to, wallet } = yield* purchase
      const { body } = yield* open()
      yield* create({ from_wallet_id: to, to_wallet_id: yield* wallet(), amount: "4.00" })
      const lacking = yield* step(body.id, "resolve", { resolution: "full_refund", idempotency_key: "k" })
      assert.deepStrictEqual(codeOf(lacking), [422, "INSUFFICIENT_BALANCE"])
      assert.deepStrictEqual((yield* call("GET", `/v1/disputes/${body.id}`)).body, body)
      const part = { resolution: "partial_refund", refund_amount: "6.00", idempotency_key: "k" }
      const ended = yield* step(body.id, "resolve", part)
      assert.strictEqual(ended.status, 200)
      const again = yield* step(body.id, "resolve", part)
      assert.deepStrictEqual(again.body, ended.body)
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      for (const [dp, other] of [
        [body.id, { refund_amount: "5.00" }],
        ["dp_00000000000000000000000000", {}]
      ] as const) {
        const reused = yield* step(dp, "resolve", { ...part, ...other })
        assert.deepStrictEqual(codeOf(reused), [409, "IDEMPOTENCY_KEY_REUSED"])
      }
    })
  )
})
