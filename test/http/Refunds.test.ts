import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refusedAmounts } from "./RefusedAmounts.ts"
import { parties, stored } from "./TransfersHarness.ts"
import { newcomer, options, serverOf } from "./WalletsServer.ts"

/** 10.00 that were paid, and what may be done about it. */
const purchase = Effect.gen(function* () {
  const of = yield* parties("10.00")
  const { body: transfer } = yield* of.create({ amount: "10.00" })
  const id: string = transfer.id
  const refund = (over: object = {}, headers?: Record<string, string>) =>
    of.call("POST", "/v1/refunds", { transfer_id: id, reason: "customer_request", ...over }, headers)
  return { ...of, id, refund }
})
const codeOf = ({ body, status }: { readonly body: { readonly code: string }; readonly status: number }) => [
  status,
  body.code
]

layer(serverOf("sandbox"), options)("POST /v1/refunds", (it) => {
  it.effect("gives everything back when it names no amount, and shows it everywhere", () =>
    Effect.gen(function* () {
      const { balance, call, from, get, id, refund, statement, to } = yield* purchase
      const { body, status } = yield* refund({ reason_details: "Ordered twice" })
      assert.strictEqual(status, 201)
      assert.match(body.id, /^rf_[0-9a-z]{26}$/)
      assert.deepInclude(body, {
        transfer_id: id,
        amount: "10.00",
        currency: "USDC",
        reason: "customer_request",
        reason_details: "Ordered twice",
        status: "completed",
        failure_reason: null,
        dispute_id: null
      })
      assert.deepStrictEqual([yield* balance(from), yield* balance(to)], ["10.00", "0.00"])
      const { body: original } = yield* get(id)
      assert.deepInclude(original, { status: "completed", refunded_amount: "10.00" })
      const { body: back } = yield* get(body.refund_transfer_id)
      assert.deepInclude(back, { type: "internal", from_wallet_id: to, to_wallet_id: from, amount: "10.00" })
      assert.deepStrictEqual(back.protocol_metadata, { refund_id: body.id, refunded_transfer_id: id })
      assert.deepInclude((yield* statement(from))[0], { code: "refund", amount: "10.00" })
      assert.deepStrictEqual((yield* call("GET", `/v1/refunds/${body.id}`)).body, body)
      assert.deepStrictEqual((yield* call("GET", "/v1/refunds")).body, {
        data: [body],
        pagination: { limit: 50, next_cursor: null }
      })
    })
  )

  it.effect("takes the spellings originalTransferId and reasonDetails, and not both of two", () =>
    Effect.gen(function* () {
      const { call, id, refund } = yield* purchase
      const other = { originalTransferId: id, amount: 1, reason: "error", reasonDetails: "why" }
      const { body, status } = yield* call("POST", "/v1/refunds", other)
      assert.deepStrictEqual([status, body.amount, body.reason_details], [201, "1.00", "why"])
      const both = yield* refund({ originalTransferId: id })
      assert.deepStrictEqual(codeOf(both), [400, "INVALID_REQUEST"])
      const none = yield* call("POST", "/v1/refunds", { reason: "error" })
      assert.deepStrictEqual(codeOf(none), [400, "INVALID_REQUEST"])
      assert.deepInclude(none.body.details.errors[0], { path: "transfer_id" })
    })
  )

  it.effect("refuses with a code of its own what is too much, too late to have, or not there", () =>
    Effect.gen(function* () {
      const { call, create, id, refund, to, wallet } = yield* purchase
      const more = yield* refund({ amount: "10.000001" })
      assert.deepStrictEqual(codeOf(more), [422, "AMOUNT_EXCEEDS_REMAINING"])
      assert.deepStrictEqual(more.body.details, { remaining: "10.00", currency: "USDC" })
      yield* call("POST", `/v1/wallets/${to}/freeze`, { reason: "test" })
      assert.deepStrictEqual(codeOf(yield* refund()), [403, "WALLET_FROZEN"])
      yield* call("POST", `/v1/wallets/${to}/unfreeze`)
      yield* create({ from_wallet_id: to, to_wallet_id: yield* wallet(), amount: "4.00" })
      const lacking = yield* refund()
      assert.deepStrictEqual(codeOf(lacking), [422, "INSUFFICIENT_BALANCE"])
      assert.deepInclude(lacking.body.details, { required: "10.00", available: "6.00" })
      const failed = yield* create({ amount: "5.00" })
      assert.strictEqual(failed.body.status, "failed")
      assert.deepStrictEqual(codeOf(yield* refund({ transfer_id: failed.body.id })), [409, "STATE_TRANSITION_INVALID"])
      const { body } = yield* refund({ amount: "1.00" })
      const again = yield* refund({ transfer_id: body.refund_transfer_id })
      assert.deepStrictEqual(codeOf(again), [422, "NOT_REFUNDABLE"])
      const stranger = yield* newcomer
      const theirs = yield* stranger.call("POST", "/v1/refunds", { transfer_id: id, reason: "error" })
      assert.deepStrictEqual(codeOf(theirs), [404, "NOT_FOUND"])
      assert.deepStrictEqual(codeOf(yield* stranger.call("GET", `/v1/refunds/${body.id}`)), [404, "NOT_FOUND"])
    })
  )

  it.effect("refuses what the faucet gave as no transfer of somebody's, and so does a dispute", () =>
    Effect.gen(function* () {
      const { call, from, get, refund, statement } = yield* purchase
      const given = (yield* statement(from)).find(({ code }: { readonly code: string }) => code === "faucet")
      assert.strictEqual((yield* get(given.transfer_id)).body.status, "completed")
      const about = { transfer_id: given.transfer_id, reason: "other", description: "x" }
      for (const answer of [
        yield* refund({ transfer_id: given.transfer_id }),
        yield* call("POST", "/v1/disputes", about)
      ]) {
        assert.deepStrictEqual(codeOf(answer), [422, "NOT_REFUNDABLE"])
        assert.deepStrictEqual(answer.body.details, { transfer_id: given.transfer_id, reason: "has_no_wallets" })
      }
    })
  )

  for (const [name, json, code] of refusedAmounts) {
    it.effect(`refuses an amount that is ${name}, and stores nothing`, () =>
      Effect.gen(function* () {
        const { call, id, tenant } = yield* purchase
        const before = yield* stored(tenant)
        const answer = yield* call(
          "POST",
          "/v1/refunds",
          `{"transfer_id": "${id}", "reason": "error", "idempotency_key": "k", "amount": ${json}}`
        )
        assert.deepStrictEqual(codeOf(answer), [422, code])
        assert.deepStrictEqual(yield* stored(tenant), before)
      })
    )
  }

  it.effect("refuses reasons and details that are none", () =>
    Effect.gen(function* () {
      const { refund } = yield* purchase
      for (const wrong of [
        { reason: "because" },
        { reason: null },
        { reason_details: "x".repeat(1001) },
        { reason_details: "a\u0000b" },
        { reason_details: "\ud800" },
        { transfer_id: "tx_1" },
        { transfer_id: null },
        { dispute_id: "dp_1" }
      ]) {
        assert.deepStrictEqual(codeOf(yield* refund(wrong)), [400, "INVALID_REQUEST"], JSON.stringify(wrong))
      }
    })
  )

  it.effect("60 and 60 of 100 at once: exactly one; and one key at once: one refund", () =>
    Effect.gen(function* () {
      const { balance, from, refund } = yield* purchase
      const six = yield* Effect.all([refund({ amount: "6.00" }), refund({ amount: "6.00" })], { concurrency: 2 })
      assert.deepStrictEqual(six.map(({ status }) => status).sort(), [201, 422])
      const keyed = yield* Effect.all(
        Array.from({ length: 20 }, () => refund({ amount: "1.00", idempotency_key: "k" })),
        { concurrency: 20 }
      )
      assert.strictEqual(new Set(keyed.map(({ body }) => body.id)).size, 1)
      assert.strictEqual(keyed.filter(({ headers }) => headers.get("idempotency-replayed") === "true").length, 19)
      for (const other of [{ amount: "9.00" }, { transfer_id: "tx_00000000000000000000000000" }]) {
        const reused = yield* refund({ amount: "1.00", ...other, idempotency_key: "k" })
        assert.deepStrictEqual(codeOf(reused), [409, "IDEMPOTENCY_KEY_REUSED"])
      }
      assert.strictEqual(yield* balance(from), "7.00")
    })
  )
})

layer(serverOf("sandbox"), options)("GET /v1/refunds", (it) => {
  it.effect("reads on by its cursor and is narrowed by its filters", () =>
    Effect.gen(function* () {
      const { call, id, refund, tenant } = yield* purchase
      const made: Array<string> = []
      for (const amount of ["1.00", "2.00", "3.00"]) made.unshift((yield* refund({ amount })).body.id)
      const list = (query: Record<string, string>) => call("GET", `/v1/refunds?${new URLSearchParams(query)}`)
      const idsOf = (query: Record<string, string>) =>
        Effect.map(list(query), ({ body }) => body.data.map((one: { readonly id: string }) => one.id))
      const first = yield* list({ limit: "2" })
      const { next_cursor } = first.body.pagination
      assert.deepStrictEqual(yield* idsOf({ limit: "2", cursor: next_cursor }), made.slice(2))
      assert.deepStrictEqual(yield* idsOf({ transfer_id: id, status: "completed" }), made)
      assert.deepStrictEqual(yield* idsOf({ account_id: tenant.account_id }), made)
      assert.deepStrictEqual(yield* idsOf({ status: "failed" }), [])
      assert.deepStrictEqual(yield* idsOf({ created_before: "2020-01-01T00:00:00Z" }), [])
      assert.deepStrictEqual(yield* idsOf({ created_after: "2020-01-01T00:00:00Z" }), made)
      assert.deepStrictEqual(codeOf(yield* list({ status: "done" })), [400, "INVALID_REQUEST"])
    })
  )

  it.effect("created_after and created_before may say more than milliseconds", () =>
    Effect.gen(function* () {
      const { call, refund } = yield* purchase
      const { body } = yield* refund({ amount: "1.00" })
      const later = body.created_at.replace("Z", "001Z")
      const listed = (query: string) => Effect.map(call("GET", `/v1/refunds?${query}`), (answer) => answer.body.data)
      assert.deepStrictEqual(yield* listed(`created_after=${later}`), [])
      assert.deepStrictEqual(yield* listed(`created_before=${later}`), [body])
    })
  )
})
