import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { spent, streaming } from "./StreamsHarness.ts"
import { callerOf, options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("streams over HTTP", (it) => {
  it.effect("starting one answers 201 with the bare record, and getting it the record of now", () =>
    Effect.gen(function* () {
      const { balance, call, open, payee, payer } = yield* streaming
      const metadata = { contract: "🦊" }
      const answer = yield* open({ flow_rate: "0.000000000000000001", buffer: "2.5", currency: "USDC", metadata })
      assert.strictEqual(answer.status, 201)
      const { id, created_at, updated_at, latest_transfer_id, ...rest } = answer.body
      assert.match(id, /^str_[0-9a-z]{26}$/)
      assert.strictEqual(updated_at, created_at)
      assert.deepStrictEqual(rest, {
        from_wallet_id: payer,
        to_wallet_id: payee,
        flow_rate: "0.000000000000000001",
        currency: "USDC",
        status: "active",
        pause_reason: null,
        deposited: "10.00",
        wrapped_balance: "7.50",
        buffer: "2.50",
        recipient_balance: "0.00",
        withdrawn: "0.00",
        returned: "0.00",
        runway_seconds: Number.MAX_SAFE_INTEGER,
        exhausted_at: null,
        metadata,
        cancelled_at: null
      })
      assert.strictEqual(yield* balance(payer), "90.00")
      const found = yield* call("GET", `/v1/streams/${id}`)
      assert.deepInclude(found.body, { id, latest_transfer_id, wrapped_balance: "7.50", metadata })
      const transfer = yield* call("GET", `/v1/transfers/${latest_transfer_id}`)
      assert.deepInclude(transfer.body, { type: "stream_start", status: "completed", stream_id: id, amount: "10.00" })
      const [line] = (yield* call("GET", `/v1/wallets/${payer}/entries`)).body.data
      assert.deepInclude(line, { code: "stream_start", amount: "-10.00", transfer_id: latest_transfer_id })
      assert.deepStrictEqual(line.counterparty, { type: "stream", wallet_id: null })
    })
  )

  it.effect("a life of one: dry, topped up, resumed, paused, another rate, withdrawn, cancelled", () =>
    Effect.gen(function* () {
      const { balance, call, dry, path, payee, payer } = yield* spent
      assert.deepInclude(dry, { pause_reason: "exhausted", recipient_balance: "10.00", runway_seconds: 0 })
      assert.deepInclude((yield* call("POST", `${path}/resume`)).body, { status: 422, code: "STREAM_EXHAUSTED" })
      assert.deepInclude((yield* call("POST", `${path}/pause`)).body, { status: 409, code: "STATE_TRANSITION_INVALID" })
      const some = yield* call("POST", `${path}/withdraw`, { amount: "4", memo: "first" })
      assert.strictEqual(some.status, 201)
      assert.deepInclude(some.body, { recipient_balance: "6.00", withdrawn: "4.00" })
      const transfer = yield* call("GET", `/v1/transfers/${some.body.latest_transfer_id}`)
      assert.deepInclude(transfer.body, { type: "stream_withdraw", protocol: "stream", amount: "4.00", memo: "first" })
      const over = yield* call("POST", `${path}/withdraw`, { amount: "6.000001" })
      assert.deepInclude(over.body, { status: 422, code: "AMOUNT_EXCEEDS_ACCRUED" })
      assert.deepInclude(over.body.details, { requested: "6.000001", available: "6.00" })
      yield* call("POST", `${path}/rate`, { flow_rate: "0.000000000000000001" })
      const topped = yield* call("POST", `${path}/top-up`, { amount: "5" })
      assert.deepInclude(topped.body, { status: "paused", deposited: "15.00", wrapped_balance: "5.00" })
      const resumed = yield* call("POST", `${path}/resume`)
      assert.deepInclude(resumed.body, { status: "active", pause_reason: null })
      assert.strictEqual(resumed.status, 200)
      assert.deepInclude((yield* call("POST", `${path}/pause`)).body, { status: "paused", pause_reason: "requested" })
      yield* call("POST", `${path}/withdraw`, {})
      const none = yield* call("POST", `${path}/withdraw`, {})
      assert.deepInclude(none.body, { status: 422, code: "NOTHING_ACCRUED" })
      const ended = yield* call("POST", `${path}/cancel`, { memo: "over" })
      assert.strictEqual(ended.status, 201)
      assert.deepInclude(ended.body, {
        status: "cancelled",
        withdrawn: "10.00",
        returned: "5.00",
        wrapped_balance: "0.00"
      })
      for (const [action, body] of [
        ["top-up", { amount: "1" }],
        ["pause", undefined],
        ["resume", undefined],
        ["rate", { flow_rate: "1" }],
        ["withdraw", {}],
        ["cancel", {}]
      ] as const) {
        const refused = yield* call("POST", `${path}/${action}`, body)
        assert.deepInclude(refused.body, { status: 409, code: "STATE_TRANSITION_INVALID" }, action)
      }
      assert.deepStrictEqual([yield* balance(payer), yield* balance(payee)], ["90.00", "10.00"])
    })
  )

  it.effect("refuses what cannot flow, each with its code, and takes nothing", () =>
    Effect.gen(function* () {
      const { balance, call, open, payer } = yield* streaming
      const euro = (yield* call("POST", "/v1/wallets", { currency: "EURC" })).body.id
      const base = (yield* call("POST", "/v1/wallets", { network: "base-sepolia" })).body.id
      for (const [changed, status, code] of [
        [{ to_wallet_id: payer }, 422, "SAME_WALLET"],
        [{ to_wallet_id: euro }, 422, "CURRENCY_MISMATCH"],
        [{ currency: "EURC" }, 422, "CURRENCY_MISMATCH"],
        [{ to_wallet_id: base }, 422, "NETWORK_MISMATCH"],
        [{ buffer: "10" }, 422, "BUFFER_TOO_LARGE"],
        [{ initial_deposit: "100.000001" }, 422, "INSUFFICIENT_BALANCE"],
        [{ to_wallet_id: "wal_00000000000000000000000000" }, 404, "NOT_FOUND"],
        [{ currency: "USD" }, 400, "INVALID_REQUEST"],
        [{ to_wallet_id: "x" }, 400, "INVALID_REQUEST"],
        [{ speed: "1" }, 400, "INVALID_REQUEST"],
        [{ metadata: [] }, 400, "INVALID_REQUEST"]
      ] as const) {
        const { body } = yield* open(changed)
        assert.deepInclude(body, { status, code }, JSON.stringify(changed))
      }
      yield* call("POST", `/v1/wallets/${payer}/freeze`, { reason: "test" })
      assert.deepInclude((yield* open()).body, { status: 403, code: "WALLET_FROZEN" })
      assert.strictEqual(yield* balance(payer), "100.00")
      assert.strictEqual((yield* call("GET", "/v1/streams")).body.pagination.total, 0)
    })
  )

  const spellings =
    '"-1" "+1" "1e3" "0x10" "NaN" "Infinity" "1,000.00" "" "." "1." ".5" "01" "１" "١" null [] {} true ["1"] {"toString":1}'.split(
      " "
    )

  it.effect("a rate that is no plain decimal of at most 18 places is refused, a number too", () =>
    Effect.gen(function* () {
      const { call, open, wanted } = yield* streaming
      const { id } = (yield* open()).body
      for (const text of [
        ...spellings,
        '" 1 "',
        '"0"',
        '"0.0000000000000000001"',
        `"${"9".repeat(40)}"`,
        "0.1",
        "1e400"
      ]) {
        const body = JSON.stringify({ ...wanted, flow_rate: "RATE" }).replace('"RATE"', text)
        assert.deepInclude(
          (yield* call("POST", "/v1/streams", body)).body,
          { status: 400, code: "INVALID_REQUEST" },
          text
        )
        const changed = yield* call("POST", `/v1/streams/${id}/rate`, `{"flow_rate":${text}}`)
        assert.deepInclude(changed.body, { status: 400, code: "INVALID_REQUEST" }, text)
      }
      assert.strictEqual((yield* call("GET", `/v1/streams/${id}`)).body.flow_rate, "0.000001")
    })
  )

  it.effect("an amount that is no plain decimal of at most 6 places is refused, wherever it stands", () =>
    Effect.gen(function* () {
      const { call, open, wanted } = yield* streaming
      const { id } = (yield* open()).body
      for (const text of [...spellings, '" 1 "', '"1.0000001"', '"9223372036854775808"']) {
        for (const field of ["initial_deposit", "buffer"]) {
          const body = JSON.stringify({ ...wanted, [field]: "AMOUNT" }).replace('"AMOUNT"', text)
          const refused = yield* call("POST", "/v1/streams", body)
          assert.strictEqual(refused.status, 422, `${field} ${text}`)
          assert.strictEqual(refused.body.details.param, field)
        }
        for (const action of ["top-up", "withdraw"]) {
          const refused = yield* call("POST", `/v1/streams/${id}/${action}`, `{"amount":${text}}`)
          assert.strictEqual(refused.status, 422, `${action} ${text}`)
        }
      }
      assert.deepInclude((yield* open({ initial_deposit: "0" })).body, { status: 422, code: "AMOUNT_TOO_SMALL" })
      assert.deepInclude((yield* open({ buffer: "0" })).body, { buffer: "0.00" })
      assert.deepInclude((yield* open({ buffer: 0, initial_deposit: 1.5 })).body, { buffer: "0.00", deposited: "1.50" })
    })
  )

  it.effect("is listed by status and wallet, page by page", () =>
    Effect.gen(function* () {
      const { call, open, payee, payer } = yield* streaming
      const ids: Array<string> = []
      for (let index = 0; index < 3; index++) ids.unshift((yield* open()).body.id)
      yield* call("POST", `/v1/streams/${ids[0]}/pause`)
      const list = (query: string) =>
        Effect.map(call("GET", `/v1/streams?${query}`), ({ body }) => body.data.map(({ id }: { id: string }) => id))
      assert.deepStrictEqual(yield* list("limit=2&page=2"), [ids[2]])
      assert.deepStrictEqual(yield* list("status=active"), [ids[1], ids[2]])
      assert.deepStrictEqual(yield* list(`status=paused&from_wallet_id=${payer}&to_wallet_id=${payee}`), [ids[0]])
      assert.deepStrictEqual(yield* list(`from_wallet_id=${payee}`), [])
      for (const query of ["limit=0", "page=0", "status=exhausted", "from_wallet_id=1"]) {
        assert.strictEqual((yield* call("GET", `/v1/streams?${query}`)).status, 400, query)
      }
    })
  )

  it.effect("under one key is started, topped up, withdrawn from and cancelled once", () =>
    Effect.gen(function* () {
      const { balance, call, path, payee, payer } = yield* spent
      for (const [action, body] of [
        ["top-up", { amount: "1" }],
        ["withdraw", { amount: "2" }],
        ["cancel", {}]
      ] as const) {
        const headers = { "idempotency-key": "once" }
        const first = yield* call("POST", `${path}/${action}`, body, headers)
        const again = yield* call("POST", `${path}/${action}`, { ...body, idempotency_key: "once" })
        assert.deepStrictEqual([first.status, again.status, again.text], [201, 201, first.text], action)
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        const other = yield* call("POST", `${path}/${action}`, { ...body, memo: "another" }, headers)
        assert.deepInclude(other.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" }, action)
        const nowhere = yield* call("POST", `/v1/streams/str_00000000000000000000000000/${action}`, body, headers)
        assert.deepInclude(nowhere.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" }, action)
      }
      assert.deepStrictEqual([yield* balance(payer), yield* balance(payee)], ["90.00", "10.00"])
    })
  )

  it.effect("under one key is paused, resumed and given another rate once", () =>
    Effect.gen(function* () {
      const { call, open } = yield* streaming
      const path = `/v1/streams/${(yield* open()).body.id}`
      const headers = { "idempotency-key": "once" }
      for (const [action, body] of [
        ["pause", {}],
        ["resume", {}],
        ["rate", { flow_rate: "0.000003" }]
      ] as const) {
        const first = yield* call("POST", `${path}/${action}`, body, headers)
        const again = yield* call("POST", `${path}/${action}`, { ...body, idempotency_key: "once" })
        assert.deepStrictEqual([first.status, again.status, again.text], [200, 200, first.text], action)
        const replays = [first, again].map(({ headers }) => headers.get("idempotency-replayed"))
        assert.deepStrictEqual(replays, [null, "true"], action)
      }
      const other = yield* call("POST", `${path}/rate`, { flow_rate: "0.000002" }, headers)
      assert.deepInclude(other.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" })
    })
  )

  it.effect("under one key is the same with defaults written out and left out, and another with other metadata", () =>
    Effect.gen(function* () {
      const { balance, open, payer } = yield* streaming
      const key = { "idempotency-key": "once" }
      const first = yield* open({}, key)
      for (const same of [{ currency: "USDC" }, { buffer: "0.00" }, { metadata: {} }, { buffer: 0, metadata: {} }]) {
        const again = yield* open(same, key)
        assert.deepStrictEqual([again.status, again.text], [201, first.text], JSON.stringify(same))
      }
      for (const other of [{ metadata: { a: null } }, { buffer: "0.01" }]) {
        const refused = yield* open(other, key)
        assert.deepInclude(refused.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" }, JSON.stringify(other))
      }
      assert.strictEqual(yield* balance(payer), "90.00")
    })
  )

  it.effect("is withdrawn from and cancelled by requests without a body", () =>
    Effect.gen(function* () {
      const { balance, call, path, payee } = yield* spent
      const all = yield* call("POST", `${path}/withdraw`)
      assert.deepStrictEqual([all.status, all.body.withdrawn], [201, "10.00"])
      const key = { "idempotency-key": "bare" }
      const ended = yield* call("POST", `${path}/cancel`, undefined, key)
      assert.deepStrictEqual([ended.status, ended.body.status], [201, "cancelled"])
      const again = yield* call("POST", `${path}/cancel`, {}, key)
      assert.deepStrictEqual([again.status, again.text], [201, ended.text], "no body says what an empty one says")
      assert.strictEqual((yield* call("POST", `${path}/cancel`, [])).status, 400)
      assert.strictEqual(yield* balance(payee), "10.00")
    })
  )

  it.effect("needs the scope of streams", () =>
    Effect.gen(function* () {
      const { open, tenant } = yield* streaming
      const { id } = (yield* open()).body
      const reader = yield* callerOf(tenant, ["streams:read"])
      assert.strictEqual((yield* reader("GET", `/v1/streams/${id}`)).status, 200)
      const refused = yield* reader("POST", `/v1/streams/${id}/cancel`, {})
      assert.deepInclude(refused.body, { status: 403, code: "INSUFFICIENT_SCOPE" })
      const other = yield* callerOf(tenant, ["transfers:*"])
      assert.strictEqual((yield* other("GET", `/v1/streams/${id}`)).status, 403)
    })
  )
})
