import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hex } from "viem"
import { Wallets } from "#services/Wallets.ts"
import { payer as permitPayer, signPermit } from "../domain/protocol/Payers.ts"
import { balance, send, server, tenant } from "./GatewayHarness.ts"
import { authorize, baseSeller, callWith, decoded, encoded, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a nonce whose payment was given back", (it) => {
  it.effect("pays no other price than the one that was signed first", () =>
    Effect.gen(function* () {
      let status = 400
      const shop = yield* baseSeller((_, response) => response.writeHead(status).end("served"))
      const { account, purse } = yield* signer(funds)
      const { accepted, header, payload } = yield* signFor(account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, header)).status, 400)
      status = 200
      const { nonce } = payload.authorization
      for (const amount of ["0", "1", "10001"]) {
        const other = yield* authorize(account, { ...accepted, amount }, (plain) => ({ ...plain, nonce }))
        const shown = encoded({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload: other })
        const answer = yield* send(shop.path, { headers: { "x-payment": shown } })
        assert.deepStrictEqual([answer.status, answer.json.error], [402, "invalid_exact_evm_nonce_already_used"])
      }
      assert.strictEqual(shop.backend.seen.length, 1)
      // What was signed first is as good as before.
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  it.effect("pays no maximum where an exact price was signed, whoever is named to settle it", () =>
    Effect.gen(function* () {
      let status = 400
      const shop = yield* baseSeller((_, response) => response.writeHead(status).end("served"), { schemes: ["exact"] })
      const { principal } = yield* tenant
      const wallets = yield* Wallets
      const purse = (yield* wallets.create(principal, { network: "base-sepolia", address: permitPayer.address })).id
      yield* wallets.fund(principal, purse, { amount: funds, currency: "USDC" })
      const [accepted] = decoded((yield* send(shop.path)).headers["payment-required"]).accepts
      const to: Hex = accepted.payTo
      const deadline = BigInt(Math.floor(Date.now() / 1000) + 300)
      const exact = yield* Effect.promise(() => signPermit("exact", { nonce: 77n, to, deadline }))
      const first = yield* callWith(shop.path, encoded({ x402Version: 2, accepted, payload: exact }))
      assert.strictEqual(first.status, 400, first.body)
      status = 200
      const facilitator: Hex = "0x9999999999999999999999999999999999999999"
      const extra = { ...accepted.extra, assetTransferMethod: "permit2", facilitatorAddress: facilitator }
      const payload = yield* Effect.promise(() => signPermit("upto", { nonce: 77n, to, facilitator, deadline }))
      const header = encoded({ x402Version: 2, accepted: { ...accepted, scheme: "upto", extra }, payload })
      const answer = yield* callWith(shop.path, header)
      assert.deepStrictEqual([answer.status, answer.json.error], [402, "invalid_exact_evm_nonce_already_used"])
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds, held: 0n })
    })
  )
})
