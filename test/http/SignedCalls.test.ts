import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { signInText } from "#domain/protocol/Siwx.ts"
import { Wallets } from "#services/Wallets.ts"
import { payer as permitPayer, signPermit } from "../domain/protocol/Payers.ts"
import { callsWith } from "./Callers.ts"
import { balance, pay, send, server, tenant, wallet } from "./GatewayHarness.ts"
import { authorize, baseSeller, callWith, decoded, encoded, reasonOf, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a call that is paid for by signature", (it) => {
  it.effect("is free for a payer whose discount makes it so: one call of the origin, and the answer again", () =>
    Effect.gen(function* () {
      const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0 }]
      const shop = yield* baseSeller((_, response) => response.end("gift"), { volumeDiscounts })
      const { account, purse } = yield* signer(funds)
      const first = yield* signFor(account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, first.header)).status, 200)
      const { info } = decoded(first.challenge.headers["payment-required"]).extensions["sign-in-with-x"]
      const message = signInText(info, "base-sepolia", account.address)
      const signature = yield* Effect.promise(() => account.signMessage({ message }))
      const proof = { ...info, address: account.address, chainId: "eip155:84532", type: "eip191", signature }
      const free = yield* signFor(account, shop.path, { headers: { "sign-in-with-x": encoded(proof) } })
      assert.strictEqual(free.accepted.amount, "0")
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => callWith(shop.path, free.header)),
        { concurrency: 10 }
      )
      for (const { body, status } of answers) {
        if (status === 200) assert.strictEqual(body, "gift")
        else assert.strictEqual(status, 409)
      }
      const again = yield* callWith(shop.path, free.header)
      assert.deepStrictEqual([again.status, again.headers["x-payment-amount"]], [200, "0.00"])
      assert.strictEqual(shop.backend.seen.length, 2)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  it.effect(
    "shows no credential: an agent with the key of its address is stopped by freezing its wallet, not by suspending it",
    () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => response.end("sold"))
        const { key } = yield* tenant
        const account = privateKeyToAccount(generatePrivateKey())
        const call = callsWith(key)
        const made = yield* call("POST", "/v1/agents", {
          name: "A spender",
          walletNetwork: "base-sepolia",
          walletAddress: account.address
        })
        const { id, wallet_id } = made.json.data
        yield* call("POST", `/v1/wallets/${wallet_id}/fund`, { amount: "1.00", currency: "USDC" })
        assert.strictEqual((yield* call("POST", `/v1/agents/${id}/suspend`, { reason: "Spends too fast" })).status, 200)
        const whileSuspended = yield* callWith(shop.path, (yield* signFor(account, shop.path)).header)
        assert.strictEqual(whileSuspended.status, 200)
        assert.strictEqual(
          (yield* call("POST", `/v1/wallets/${wallet_id}/freeze`, { reason: "Spends too fast" })).status,
          200
        )
        const whileFrozen = yield* callWith(shop.path, (yield* signFor(account, shop.path)).header)
        assert.deepStrictEqual(reasonOf(whileFrozen).slice(0, 2), [402, "wallet_frozen"])
      })
  )

  it.effect("at one payer's price is nobody else's, signed or native, also when the seal is cut off", () =>
    Effect.gen(function* () {
      const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0.1 }]
      const shop = yield* baseSeller((_, response) => response.end("cheap"), { volumeDiscounts })
      const { account } = yield* signer(funds)
      const first = yield* signFor(account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, first.header)).status, 200)
      const { info } = decoded(first.challenge.headers["payment-required"]).extensions["sign-in-with-x"]
      const signature = yield* Effect.promise(() =>
        account.signMessage({ message: signInText(info, "base-sepolia", account.address) })
      )
      const proof = { ...info, address: account.address, chainId: "eip155:84532", type: "eip191", signature }
      const own = yield* signFor(account, shop.path, { headers: { "sign-in-with-x": encoded(proof) } })
      assert.strictEqual(own.accepted.amount, "1000")
      const stranger = yield* signer(funds)
      const payload = yield* authorize(stranger.account, own.accepted)
      const [cut] = String(own.accepted.extra.quote).split(".")
      for (const [quote, reason] of [
        [own.accepted.extra.quote, "quote_for_another_payer"],
        [cut, "quote_unknown"]
      ]) {
        const accepted = { ...own.accepted, extra: { ...own.accepted.extra, quote } }
        const refused = yield* callWith(shop.path, encoded({ x402Version: 2, accepted, payload }))
        assert.deepStrictEqual(reasonOf(refused).slice(0, 2), [402, reason])
      }
      const purse = yield* wallet(stranger.principal)
      const native = yield* pay(stranger.key, { payment_request_id: `${cut}AAAAAAAAAAA`, from_wallet_id: purse })
      assert.deepStrictEqual([native.status, native.json.code], [422, "PAYMENT_REQUEST_INVALID"])
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.strictEqual((yield* callWith(shop.path, own.header)).headers["x-payment-amount"], "0.001")
    })
  )

  it.effect("by version 1 is at the price that its payer is asked for by now, and by nobody else", () =>
    Effect.gen(function* () {
      const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0.1 }]
      const shop = yield* baseSeller((_, response) => response.end("cheap"), { volumeDiscounts })
      const [regular, stranger] = [yield* signer(funds), yield* signer(funds)]
      const { accepted, header } = yield* signFor(regular.account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
      for (const [{ account, purse }, status, left] of [
        [regular, 200, funds - 11_000n],
        [stranger, 402, funds]
      ] as const) {
        const payload = yield* authorize(account, { ...accepted, amount: "1000" })
        const answer = yield* send(shop.path, {
          headers: { "x-payment": encoded({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload }) }
        })
        assert.strictEqual(answer.status, status, answer.body)
        assert.deepStrictEqual(yield* balance(purse), { posted: left, held: 0n })
      }
    })
  )

  it.effect("by version 1 is at its payer's price, whoever else it names", () =>
    Effect.gen(function* () {
      const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0 }]
      const shop = yield* baseSeller((_, response) => response.end("sold"), { volumeDiscounts })
      const regular = yield* signer(funds)
      const { accepted, header, payload } = yield* signFor(regular.account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
      const stranger = yield* tenant
      const wallets = yield* Wallets
      const network = "base-sepolia"
      const { id } = yield* wallets.create(stranger.principal, { network, address: permitPayer.address })
      yield* wallets.fund(stranger.principal, id, { amount: funds, currency: "USDC" })
      const deadline = BigInt(Math.floor(Date.now() / 1000) + 300)
      const permit = yield* Effect.promise(() => signPermit("exact", { amount: 0n, to: accepted.payTo, deadline }))
      const shown = { ...permit, authorization: payload.authorization }
      const answer = yield* send(shop.path, {
        headers: { "x-payment": encoded({ x402Version: 1, scheme: "exact", network, payload: shown }) }
      })
      assert.deepStrictEqual([answer.status, answer.json?.error], [402, "permit2_amount_mismatch"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("answers the same again also when there is no body", () =>
    Effect.gen(function* () {
      let status = 204
      const shop = yield* baseSeller(
        (_, response) => {
          response.writeHead(status, { etag: '"a"' }).end()
        },
        { method: "ANY" }
      )
      const { account, purse } = yield* signer(funds)
      const rows = [
        { method: "GET", status: 204 },
        { method: "GET", status: 304 },
        { method: "HEAD", status: 200 }
      ]
      for (const row of rows) {
        status = row.status
        const { method } = row
        const { header } = yield* signFor(account, shop.path, { method })
        for (const answer of [
          yield* callWith(shop.path, header, { method }),
          yield* callWith(shop.path, header, { method })
        ]) {
          assert.deepStrictEqual([answer.status, answer.body, answer.headers.etag], [row.status, "", '"a"'])
          assert.strictEqual(decoded(answer.headers["payment-response"]).amount, "10000")
        }
      }
      assert.strictEqual(shop.backend.seen.length, 3)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 30_000n, held: 0n })
    })
  )
})
