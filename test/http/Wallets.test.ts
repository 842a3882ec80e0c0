import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { callerOf, withWallet, newcomer, options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("wallets over HTTP", (it) => {
  it.effect("creating answers 201 with the bare record", () =>
    Effect.gen(function* () {
      const { tenant, call } = yield* newcomer
      const answer = yield* call("POST", "/v1/wallets", {
        owner_type: "account",
        owner_id: toTypeId("acc", tenant.account_id),
        currency: "USDC",
        network: "eip155:84532",
        name: "Receipts",
        metadata: { team: "search" }
      })
      assert.strictEqual(answer.status, 201)
      const { id, address, created_at, updated_at, ...rest } = answer.body
      assert.match(id, /^wal_[0-9a-z]{26}$/)
      assert.match(address, /^0x[0-9a-f]{40}$/)
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.strictEqual(updated_at, created_at)
      assert.deepStrictEqual(rest, {
        owner_type: "account",
        owner_id: toTypeId("acc", tenant.account_id),
        currency: "USDC",
        network: "base-sepolia",
        name: "Receipts",
        balance_available: "0.00",
        balance_pending: "0.00",
        status: "active",
        frozen_reason: null,
        frozen_at: null,
        metadata: { team: "search" }
      })
      assert.deepStrictEqual((yield* call("GET", `/v1/wallets/${id}`)).body, answer.body)
    })
  )

  it.effect("creating takes its defaults from a body that is left out", () =>
    Effect.gen(function* () {
      const { tenant, call } = yield* newcomer
      const { body, status } = yield* call("POST", "/v1/wallets")
      assert.strictEqual(status, 201)
      assert.deepInclude(body, {
        owner_id: toTypeId("acc", tenant.account_id),
        currency: "USDC",
        network: "solana-devnet",
        name: null
      })
      assert.strictEqual((yield* call("POST", "/v1/wallets", [])).status, 400)
    })
  )

  it.effect("of an agent names the agent", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const { body, status } = yield* call("POST", "/v1/wallets", { owner_type: "agent" })
      assert.deepStrictEqual([status, body.code, body.details.errors[0].path], [400, "INVALID_REQUEST", "owner_id"])
    })
  )

  it.effect("a name is as long as it has characters, however many units they take", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const name = "🦊".repeat(255)
      assert.strictEqual((yield* call("POST", "/v1/wallets", { name })).body.name, name)
      assert.strictEqual((yield* call("POST", "/v1/wallets", { name: `${name}!` })).status, 400)
    })
  )

  it.effect("listing answers a page and what is on the others", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      for (const currency of ["USDC", "EURC", "EURC"]) yield* call("POST", "/v1/wallets", { currency })
      const answer = yield* call("GET", "/v1/wallets?currency=EURC&limit=1&page=2&status=active&network=solana-devnet")
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.body.data.length, 1)
      assert.deepStrictEqual(answer.body.pagination, { page: 2, limit: 1, total: 2, totalPages: 2 })
      for (const query of ["limit=0", "limit=201", "page=0", "currency=USD", "status=new", "owner_id=1"]) {
        assert.strictEqual((yield* call("GET", `/v1/wallets?${query}`)).status, 400, query)
      }
    })
  )

  it.effect("a statement is read by cursor, and a made-up cursor is refused", () =>
    Effect.gen(function* () {
      const { call, id, fund } = yield* withWallet
      for (const amount of ["1", "2", "3"]) yield* fund({ amount, currency: "USDC" })
      const first = yield* call("GET", `/v1/wallets/${id}/entries?limit=2`)
      assert.deepInclude(first.body.data[0], {
        wallet_id: id,
        type: "credit",
        amount: "3.00",
        balance_after: "6.00",
        code: "faucet",
        counterparty: { type: "issuance", wallet_id: null }
      })
      assert.notProperty(first.body.data[0], "seq")
      const rest = yield* call("GET", `/v1/wallets/${id}/entries?limit=2&cursor=${first.body.pagination.next_cursor}`)
      assert.deepStrictEqual(
        [...first.body.data, ...rest.body.data].map((entry) => entry.amount),
        ["3.00", "2.00", "1.00"]
      )
      assert.isNull(rest.body.pagination.next_cursor)
      for (const cursor of ["x", "-", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "LTE", "MA"]) {
        assert.strictEqual((yield* call("GET", `/v1/wallets/${id}/entries?cursor=${cursor}`)).status, 400, cursor)
      }
    })
  )

  it.effect("freezing and unfreezing answer 200, the second time too", () =>
    Effect.gen(function* () {
      const { call, id, fund } = yield* withWallet
      for (let count = 0; count < 2; count++) {
        const frozen = yield* call("POST", `/v1/wallets/${id}/freeze`, { reason: "key lost" })
        assert.deepInclude(frozen, { status: 200 })
        assert.deepInclude(frozen.body, { status: "frozen", frozen_reason: "key lost" })
      }
      assert.strictEqual((yield* fund({ amount: "1", currency: "USDC" })).status, 201)
      for (let count = 0; count < 2; count++) {
        const active = yield* call("POST", `/v1/wallets/${id}/unfreeze`)
        assert.deepInclude(active, { status: 200 })
        assert.deepInclude(active.body, { status: "active", frozen_reason: null, balance_available: "1.00" })
      }
      assert.strictEqual((yield* call("POST", `/v1/wallets/${id}/freeze`, {})).status, 400)
    })
  )

  it.effect("another tenant's wallet and account are 404 everywhere", () =>
    Effect.gen(function* () {
      const owner = yield* withWallet
      const stranger = yield* newcomer
      for (const id of [owner.id, toTypeId("wal", newUuid()), "wal_nonsense", "%00"]) {
        for (const [method, path, body] of [
          ["GET", "", undefined],
          ["GET", "/entries", undefined],
          ["POST", "/fund", { amount: "1", currency: "USDC" }],
          ["POST", "/freeze", { reason: "mine" }],
          ["POST", "/unfreeze", undefined]
        ] as const) {
          const answer = yield* stranger.call(method, `/v1/wallets/${id}${path}`, body)
          assert.strictEqual(answer.status, 404, `${method} ${id}${path}`)
          assert.strictEqual(answer.body.code, "NOT_FOUND")
        }
      }
      const theirs = { owner_id: toTypeId("acc", owner.tenant.account_id) }
      assert.strictEqual((yield* stranger.call("POST", "/v1/wallets", theirs)).status, 404)
      assert.strictEqual(
        (yield* stranger.call("GET", `/v1/wallets?owner_id=${theirs.owner_id}`)).body.pagination.total,
        0
      )
    })
  )

  it.effect("a key needs the scope for what it does", () =>
    Effect.gen(function* () {
      const { tenant, id } = yield* withWallet
      const reader = yield* callerOf(tenant, ["wallets:read"])
      assert.strictEqual((yield* reader("GET", `/v1/wallets/${id}`)).status, 200)
      const refused = yield* reader("POST", `/v1/wallets/${id}/fund`, { amount: "1", currency: "USDC" })
      assert.deepInclude(refused.body, { status: 403, code: "INSUFFICIENT_SCOPE" })
    })
  )

  it.effect("strings are kept exactly", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      for (const name of ["🦊\u202e\u202c", "\u200d", "__proto__", "'; DROP TABLE wallets; --", "<script>", "a\r\nb"]) {
        const answer = yield* call("POST", "/v1/wallets", { name, metadata: { [name]: name } })
        assert.deepInclude(answer.body, { name })
        assert.deepStrictEqual(Object.entries(answer.body.metadata), [[name, name]])
      }
    })
  )

  it.effect("strings that cannot be kept are refused, and never break anything", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      for (const body of [
        '{"name": "a\\u0000b"}',
        '{"name": "\\ud800"}',
        '{"metadata": {"a": ["\\u0000"]}}',
        '{"metadata": {"\\udc00": 1}}',
        `{"name": "${"x".repeat(10_000)}"}`,
        `{"metadata": {"a": "${"x".repeat(20_000)}"}}`,
        `{"metadata": ${'{"a":'.repeat(70)}1${"}".repeat(70)}}`,
        '{"metadata": []}',
        '{"nmae": "unknown field"}'
      ]) {
        const answer = yield* call("POST", "/v1/wallets", body)
        assert.include([400, 422], answer.status, body.slice(0, 60))
        assert.strictEqual(answer.body.code, "INVALID_REQUEST")
      }
    })
  )
})
