import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spent, streaming } from "./StreamsHarness.ts"
import { options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("transfers of the stream types", (it) => {
  it.effect("stream_start opens a stream and answers its transfer", () =>
    Effect.gen(function* () {
      const { call, payee, payer } = yield* streaming
      const order = { type: "stream_start", from_wallet_id: payer, to_wallet_id: payee, amount: "10", currency: "USDC" }
      const answer = yield* call("POST", "/v1/transfers", { ...order, flow_rate: "0.000001", buffer: "1", memo: "m" })
      assert.strictEqual(answer.status, 201)
      assert.deepInclude(answer.body, {
        type: "stream_start",
        status: "completed",
        amount: "10.00",
        from_wallet_id: payer,
        to_wallet_id: payee,
        protocol: "stream",
        memo: "m"
      })
      const stream = yield* call("GET", `/v1/streams/${answer.body.stream_id}`)
      assert.deepInclude(stream.body, { status: "active", buffer: "1.00", latest_transfer_id: answer.body.id })
      assert.deepInclude((yield* call("POST", "/v1/transfers", order)).body, { status: 400, code: "INVALID_REQUEST" })
    })
  )

  it.effect("stream_start under one key is the same with a buffer of nothing written out and left out", () =>
    Effect.gen(function* () {
      const { balance, call, payee, payer } = yield* streaming
      const order = { type: "stream_start", from_wallet_id: payer, to_wallet_id: payee, amount: "10", currency: "USDC" }
      const start = (more: object) =>
        call("POST", "/v1/transfers", { ...order, flow_rate: "0.000001", idempotency_key: "s", ...more })
      const first = yield* start({})
      for (const same of [{ buffer: "0" }, { buffer: "0.00", memo: null }]) {
        const again = yield* start(same)
        assert.deepStrictEqual([again.status, again.text], [201, first.text], JSON.stringify(same))
      }
      assert.strictEqual((yield* start({ buffer: "0.01" })).body.code, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual(yield* balance(payer), "90.00")
    })
  )

  it.effect("stream_start of a payer with too little is a failed transfer without a stream", () =>
    Effect.gen(function* () {
      const { call, payee, payer } = yield* streaming
      const answer = yield* call(
        "POST",
        "/v1/transfers",
        {
          type: "stream_start",
          from_wallet_id: payer,
          to_wallet_id: payee,
          amount: "100.01",
          currency: "USDC",
          flow_rate: "1"
        },
        { "idempotency-key": "poor" }
      )
      assert.strictEqual(answer.status, 201)
      assert.deepInclude(answer.body, { status: "failed", failure_reason: "insufficient_funds", stream_id: null })
      assert.strictEqual((yield* call("GET", "/v1/streams")).body.pagination.total, 0)
      assert.deepStrictEqual((yield* call("GET", `/v1/transfers/${answer.body.id}`)).body, answer.body)
    })
  )

  it.effect("stream_withdraw pays what has accrued, once under its key, and refuses what has not", () =>
    Effect.gen(function* () {
      const { balance, call, dry, payee, payer } = yield* spent
      const order = { type: "stream_withdraw", stream_id: dry.id, amount: "4", currency: "USDC", to_wallet_id: payee }
      const first = yield* call("POST", "/v1/transfers", { ...order, idempotency_key: "w" })
      const again = yield* call("POST", "/v1/transfers", { ...order, idempotency_key: "w" })
      assert.deepStrictEqual([first.status, again.text], [201, first.text])
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
      assert.deepInclude(first.body, {
        type: "stream_withdraw",
        status: "completed",
        amount: "4.00",
        stream_id: dry.id
      })
      for (const other of [{ currency: "EURC" }, { stream_id: "str_00000000000000000000000000" }, { amount: "5" }]) {
        const reused = yield* call("POST", "/v1/transfers", { ...order, ...other, idempotency_key: "w" })
        assert.deepInclude(reused.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" })
      }
      const refused = yield* call("POST", "/v1/transfers", { ...order, amount: "6.01" })
      assert.deepInclude(refused.body, { status: 422, code: "AMOUNT_EXCEEDS_ACCRUED" })
      for (const wrong of [{ currency: "EURC" }, { to_wallet_id: payer }, { from_wallet_id: payee }]) {
        const mismatch = yield* call("POST", "/v1/transfers", { ...order, ...wrong })
        assert.deepInclude(mismatch.body, { status: 422, code: "STREAM_MISMATCH" })
        assert.strictEqual(mismatch.body.details.param, Object.keys(wrong)[0])
      }
      yield* call("POST", "/v1/transfers", { type: "stream_withdraw", stream_id: dry.id })
      assert.strictEqual(yield* balance(payee), "10.00")
      const none = yield* call("POST", "/v1/transfers", { type: "stream_withdraw", stream_id: dry.id })
      assert.deepInclude(none.body, { status: 422, code: "NOTHING_ACCRUED" })
    })
  )

  it.effect("stream_cancel ends the stream and answers what went back to the sender", () =>
    Effect.gen(function* () {
      const { balance, call, open, payee, payer } = yield* streaming
      const { id } = (yield* open({ flow_rate: "0.000000000000000001" })).body
      const answer = yield* call("POST", "/v1/transfers", {
        type: "stream_cancel",
        stream_id: id,
        from_wallet_id: payer
      })
      assert.strictEqual(answer.status, 201)
      assert.deepInclude(answer.body, {
        type: "stream_cancel",
        status: "completed",
        amount: "10.00",
        from_wallet_id: null,
        to_wallet_id: payer,
        stream_id: id
      })
      assert.deepStrictEqual([yield* balance(payer), yield* balance(payee)], ["100.00", "0.00"])
      const again = yield* call("POST", "/v1/transfers", { type: "stream_cancel", stream_id: id })
      assert.deepInclude(again.body, { status: 409, code: "STATE_TRANSITION_INVALID" })
      const unknown = { type: "stream_cancel", stream_id: "str_00000000000000000000000000" }
      assert.deepInclude((yield* call("POST", "/v1/transfers", unknown)).body, { status: 404, code: "NOT_FOUND" })
    })
  )
})
