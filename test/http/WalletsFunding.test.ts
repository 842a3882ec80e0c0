import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refusedAmounts } from "./RefusedAmounts.ts"
import { withWallet, newcomer, options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("the faucet over HTTP", (it) => {
  it.effect("answers 201 with the transfer and the wallet", () =>
    Effect.gen(function* () {
      const { call, id, fund, entries } = yield* withWallet
      const answer = yield* fund({ amount: "10.50", currency: "USDC" })
      assert.strictEqual(answer.status, 201)
      assert.deepStrictEqual(Object.keys(answer.body), ["transfer_id", "wallet"])
      assert.match(answer.body.transfer_id, /^tx_[0-9a-z]{26}$/)
      assert.deepStrictEqual(answer.body.wallet, (yield* call("GET", `/v1/wallets/${id}`)).body)
      assert.strictEqual((yield* entries)[0].transfer_id, answer.body.transfer_id)
    })
  )

  for (const [name, json, code] of refusedAmounts) {
    it.effect(`${name} is 422 ${code} and names the field`, () =>
      Effect.gen(function* () {
        const { fund, entries } = yield* withWallet
        const answer = yield* fund(`{"amount": ${json}, "currency": "USDC"}`)
        assert.deepInclude(answer.body, { status: 422, code })
        assert.strictEqual(answer.body.details.param, "amount")
        assert.deepStrictEqual(yield* entries, [])
      })
    )
  }

  it.effect("an exact JSON number is an amount", () =>
    Effect.gen(function* () {
      const { fund } = yield* withWallet
      assert.strictEqual((yield* fund('{"amount": 0.1, "currency": "USDC"}')).body.wallet.balance_available, "0.10")
      assert.strictEqual((yield* fund('{"amount": "0.2", "currency": "USDC"}')).body.wallet.balance_available, "0.30")
    })
  )

  it.effect("more than 10,000.00, another currency and a missing field are refused", () =>
    Effect.gen(function* () {
      const { fund, entries } = yield* withWallet
      const capped = yield* fund({ amount: "10000.000001", currency: "USDC" })
      assert.deepInclude(capped.body, { status: 422, code: "AMOUNT_TOO_LARGE" })
      assert.strictEqual(capped.body.details.maximum, "10000.00")
      assert.deepInclude((yield* fund({ amount: "1", currency: "EURC" })).body, {
        status: 422,
        code: "CURRENCY_MISMATCH"
      })
      for (const body of [{ amount: "1" }, { amount: "1", currency: "USD" }, { currency: "USDC" }, {}, "[]", "{"]) {
        assert.include([400, 422], (yield* fund(body)).status)
      }
      assert.deepStrictEqual(yield* entries, [])
    })
  )

  it.effect("one key used 100 times at once gives one movement and one body", () =>
    Effect.gen(function* () {
      const { fund, entries } = yield* withWallet
      const request = { amount: "7", currency: "USDC" }
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => fund(request, { "idempotency-key": "once" })),
        { concurrency: 100 }
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      assert.strictEqual(answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true").length, 99)
      assert.strictEqual((yield* entries).length, 1)
      yield* fund({ amount: "1", currency: "USDC" })
      const later = yield* fund(request, { "idempotency-key": "once" })
      assert.strictEqual(later.text, answers[0]?.text)
    })
  )

  it.effect("header and body name the same key; two that differ are refused", () =>
    Effect.gen(function* () {
      const { fund, entries } = yield* withWallet
      const request = { amount: "7", currency: "USDC" }
      yield* fund({ ...request, idempotency_key: "k" })
      const replayed = yield* fund(request, { "x-idempotency-key": "k" })
      assert.strictEqual(replayed.headers.get("idempotency-replayed"), "true")
      assert.strictEqual((yield* fund({ ...request, idempotency_key: "a" }, { "idempotency-key": "b" })).status, 422)
      assert.strictEqual((yield* entries).length, 1)
    })
  )

  it.effect("a key used with other parameters is 409 and changes nothing", () =>
    Effect.gen(function* () {
      const { call, fund, entries } = yield* withWallet
      const other: string = (yield* call("POST", "/v1/wallets", {})).body.id
      const key = { "idempotency-key": "reused" }
      yield* fund({ amount: "7", currency: "USDC" }, key)
      for (const answer of [
        yield* fund({ amount: "8", currency: "USDC" }, key),
        yield* fund({ amount: "7", currency: "EURC" }, key),
        yield* fund({ amount: "10000.01", currency: "USDC" }, key),
        yield* call("POST", "/v1/wallets/wal_00000000000000000000000000/fund", { amount: "7", currency: "USDC" }, key),
        yield* call("POST", `/v1/wallets/${other}/fund`, { amount: "7", currency: "USDC" }, key)
      ]) {
        assert.deepInclude(answer.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" })
      }
      assert.strictEqual((yield* fund({ amount: "7.000000", currency: "USDC" }, key)).status, 201, "the same amount")
      assert.strictEqual((yield* entries).length, 1)
    })
  )

  it.effect("a key whose request was refused is free", () =>
    Effect.gen(function* () {
      const { fund } = yield* withWallet
      const key = { "idempotency-key": "free" }
      assert.strictEqual((yield* fund({ amount: "-1", currency: "USDC" }, key)).status, 422)
      assert.strictEqual((yield* fund({ amount: "1", currency: "EURC" }, key)).status, 422)
      const answer = yield* fund({ amount: "1", currency: "USDC" }, key)
      assert.strictEqual(answer.status, 201)
      assert.isNull(answer.headers.get("idempotency-replayed"))
    })
  )

  it.effect("a key is 1 to 255 printable characters", () =>
    Effect.gen(function* () {
      const { fund, entries } = yield* withWallet
      const request = { amount: "1", currency: "USDC" }
      for (const key of ["k".repeat(256), "k".repeat(10_000), "", "a\u0000b", "a\nb", 7, null, ["k"]]) {
        const answer = yield* fund({ ...request, idempotency_key: key })
        assert.include([400, 422], answer.status, JSON.stringify(key).slice(0, 20))
      }
      assert.deepStrictEqual(yield* entries, [])
      for (const key of ["k".repeat(255), "ключ 🔑"]) {
        assert.strictEqual((yield* fund({ ...request, idempotency_key: key })).status, 201)
      }
    })
  )
})

layer(serverOf("live"), options)("live", (it) => {
  it.effect("has no faucet, and wants an address of a main network", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      assert.deepInclude((yield* call("POST", "/v1/wallets", {})).body, { status: 422, code: "INVALID_ADDRESS" })
      const address = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
      const refused = yield* call("POST", "/v1/wallets", { address, network: "solana-devnet" })
      assert.deepInclude(refused.body, { status: 422, code: "NETWORK_NOT_AVAILABLE" })
      const { body } = yield* call("POST", "/v1/wallets", { address })
      assert.deepInclude(body, { network: "solana-mainnet", address })
      const faucet = yield* call("POST", `/v1/wallets/${body.id}/fund`, { amount: "1", currency: "USDC" })
      assert.deepInclude(faucet.body, { status: 403, code: "FORBIDDEN" })
    })
  )
})
