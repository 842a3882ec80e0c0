import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hex } from "viem"
import { priceOf } from "#domain/EndpointPrice.ts"
import { decodeBase58 } from "#domain/Network.ts"
import { authorize, type Facilitation, readFacilitation, sandboxFacilitator } from "#domain/protocol/Facilitation.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Payments } from "#services/Payments.ts"
import { SandboxChain } from "#services/SandboxChain.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { nonce, now, payer, recover, signPermit, signTransfer } from "../domain/protocol/Payers.ts"
import { recordings } from "../domain/protocol/SvmRecordings.ts"
import { keysOf, partsOf, signed } from "../domain/protocol/SvmTransactions.ts"
import { ask, fair, funds, own, paid, posted, requirementsOf, theirs, platform } from "./FacilitatorHarness.ts"

layer(platform, { timeout: "60 seconds", excludeTestServices: true })("the facilitator", (it) => {
  it.effect("settles a payment once however often and at once it is asked, and says so once", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      const { id } = yield* theirs
      const before = yield* posted(id)
      const payment = yield* paid(seller.address, "a hundred times")
      assert.deepStrictEqual(yield* facilitator.verify(payment), {
        isValid: true,
        payer: payer.address.toLowerCase()
      })
      assert.strictEqual(yield* posted(seller.id), 0n, "verifying takes nothing")
      const all = yield* Effect.all(
        Array.from({ length: 100 }, () => facilitator.settle(payment, undefined)),
        { concurrency: 100 }
      )
      const [first, ...more] = all.filter(({ success }) => success)
      assert.match(first?.transaction ?? "", /^0x[0-9a-f]{64}$/)
      const said = {
        payer: payer.address.toLowerCase(),
        transaction: first?.transaction ?? "",
        network: "eip155:84532"
      } as const
      assert.deepStrictEqual([first, more], [{ success: true, ...said, amount: "10000" }, []])
      for (const answer of all.filter(({ success }) => !success)) {
        const errorReason = "invalid_exact_evm_nonce_already_used"
        assert.deepStrictEqual(answer, { success: false, errorReason, ...said })
      }
      assert.deepStrictEqual([yield* posted(seller.id), before - (yield* posted(id))], [10_000n, 10_000n])
      const spent = yield* facilitator.verify(payment)
      assert.deepStrictEqual([spent.isValid, spent.invalidReason], [false, "invalid_exact_evm_nonce_already_used"])
    })
  )

  it.effect("leaves a line on both statements that can be read as a transfer", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      const buyer = yield* theirs
      assert.isTrue((yield* facilitator.settle(yield* paid(seller.address, "read as a transfer"), undefined)).success)
      for (const { id, principal } of [seller, buyer]) {
        const [line] = yield* (yield* Wallets).entries(principal, id, { limit: 1 })
        if (line === undefined) return assert.fail("there is no line")
        assert.deepInclude(yield* (yield* Transfers).get(principal, line.transfer_id), {
          status: "completed",
          protocol: "x402",
          initiated_by: { type: "system", id: "facilitator" },
          amount: 10_000n,
          fee: 0n,
          destination_amount: null,
          from_wallet_id: buyer.id,
          to_wallet_id: seller.id
        })
      }
    })
  )

  it.effect("takes payments of version 1 and answers with its name of the network", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      yield* theirs
      const payload = yield* Effect.promise(() => signTransfer({ to: seller.address, nonce: nonce("version 1") }))
      const { amount, ...wanted } = requirementsOf(seller.address, { network: "base-sepolia" })
      const payment: Facilitation = {
        x402Version: 1,
        paymentPayload: { x402Version: 1, scheme: "exact", network: "base-sepolia", payload } as never,
        paymentRequirements: { ...wanted, maxAmountRequired: amount, resource: "https://shop.example/a" }
      }
      assert.isTrue((yield* facilitator.verify(payment)).isValid)
      const { extra: _, ...unnamed } = payment.paymentRequirements
      assert.isTrue((yield* facilitator.verify({ ...payment, paymentRequirements: unnamed })).isValid)
      const settled = yield* facilitator.settle(payment, undefined)
      assert.deepStrictEqual([settled.success, settled.network], [true, "base-sepolia"])
      assert.strictEqual(yield* posted(seller.id), 10_000n)
      const wrong = yield* facilitator.verify({ ...payment, x402Version: 2 })
      assert.strictEqual(wrong.invalidReason, "invalid_x402_version")
    })
  )

  it.effect("takes Permit2, also a part of a signed maximum, and never more or twice", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      yield* theirs
      const to = seller.address
      const exact = yield* Effect.promise(() => signPermit("exact", { to, nonce: 501n }))
      assert.isTrue((yield* facilitator.settle(ask(exact, requirementsOf(to)), undefined)).success)
      assert.strictEqual(yield* posted(seller.id), 10_000n)

      const facilitatorAddress = sandboxFacilitator as Hex
      const upto = yield* Effect.promise(() => signPermit("upto", { to, nonce: 502n, facilitator: facilitatorAddress }))
      const wanted = (amount: string) =>
        ask(
          upto,
          requirementsOf(to, { scheme: "upto", amount, extra: { name: "USDC", version: "2", facilitatorAddress } })
        )
      assert.isTrue((yield* facilitator.verify(wanted("10000"))).isValid)
      assert.strictEqual((yield* facilitator.verify(wanted("9999"))).invalidReason, "permit2_amount_mismatch")
      const none = yield* facilitator.settle(wanted("0"), undefined)
      assert.deepStrictEqual([none.success, none.transaction, none.amount], [true, "", "0"])
      const more = yield* facilitator.settle(wanted("10001"), undefined)
      assert.strictEqual(more.errorReason, "invalid_upto_evm_payload_settlement_exceeds_amount")
      const part = yield* facilitator.settle(wanted("2500"), undefined)
      assert.deepStrictEqual([part.success, part.amount], [true, "2500"])
      const again = yield* facilitator.settle(wanted("2500"), undefined)
      assert.deepStrictEqual([again.success, again.transaction], [false, part.transaction])
      const other = yield* facilitator.settle(wanted("2501"), undefined)
      assert.deepStrictEqual([other.success, other.errorReason], [false, "invalid_exact_evm_nonce_already_used"])
      assert.strictEqual(yield* posted(seller.id), 12_500n)
    })
  )

  it.effect("takes transactions of Solana whose fee is ours to pay", () =>
    Effect.gen(function* () {
      const { facilitator } = yield* fair
      const { feePayer } = yield* SandboxChain
      const { offer, transaction } = recordings.usdc
      const { id } = yield* own("solana-devnet", keysOf("payer").address, funds)
      const seller = yield* own("solana-devnet", offer.payTo)
      const parts = partsOf(transaction)
      const keys = [decodeBase58(feePayer) ?? new Uint8Array(), ...parts.keys.slice(1)]
      const payload = { transaction: signed({ ...parts, keys }, keysOf("payer")) }
      const wanted = { ...offer, extra: { ...offer.extra, feePayer } }
      const payment = ask(payload, wanted)
      assert.deepStrictEqual(yield* facilitator.verify(payment), { isValid: true, payer: keysOf("payer").address })
      const settled = yield* facilitator.settle(payment, undefined)
      assert.isTrue(settled.success, settled.errorReason)
      assert.match(settled.transaction, /^[1-9A-HJ-NP-Za-km-z]{80,90}$/)
      const amount = BigInt(offer.amount)
      assert.deepStrictEqual([yield* posted(seller.id), funds - (yield* posted(id))], [amount, amount])
      assert.strictEqual((yield* facilitator.verify(payment)).invalidReason, "duplicate_settlement")
      const foreign = yield* facilitator.verify(ask({ transaction }, offer))
      assert.strictEqual(foreign.invalidReason, "invalid_exact_svm_fee_payer_not_managed_by_facilitator")
    })
  )

  it.effect("and the gateway take one signed word once between them", () =>
    Effect.gen(function* () {
      const { facilitator, seller } = yield* fair
      yield* theirs
      const endpoint = yield* (yield* Endpoints).create(seller.principal, {
        name: "Weather",
        path: "/a",
        method: "GET",
        network: "base-sepolia",
        originUrl: "https://origin.example"
      })
      const { present } = yield* Payments
      const callWith = (payment: Facilitation) => {
        const asked = readFacilitation(payment, "sandbox", [sandboxFacilitator])
        if (asked._tag === "Declined") return assert.fail(asked.reason)
        const authorization = authorize(asked, { now, recover, feePayers: [] })
        if ("_tag" in authorization) return assert.fail(authorization.reason)
        const snapshot = { endpoint, price: priceOf(endpoint.basePrice, []), origin: undefined }
        return present({ authorization, snapshot, method: "GET", fingerprint: "f" })
      }
      const first = yield* paid(seller.address, "first at the gateway")
      assert.strictEqual((yield* callWith(first))._tag, "Granted")
      const settled = yield* facilitator.settle(first, undefined)
      assert.deepStrictEqual([settled.success, settled.errorReason], [false, "invalid_exact_evm_nonce_already_used"])
      assert.strictEqual((yield* facilitator.verify(first)).invalidReason, "invalid_exact_evm_nonce_already_used")

      const second = yield* paid(seller.address, "first at the facilitator")
      assert.isTrue((yield* facilitator.settle(second, undefined)).success)
      const refused = yield* callWith(second)
      assert.deepStrictEqual(refused, { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" })
      assert.strictEqual(yield* posted(seller.id), 10_000n)
    })
  )

  it.effect("supports what it settles, and says what requirements must carry for it", () =>
    Effect.gen(function* () {
      const { facilitator } = yield* fair
      const { feePayer } = yield* SandboxChain
      const solana = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
      assert.deepStrictEqual(yield* facilitator.supported, {
        kinds: [
          { x402Version: 2, scheme: "exact", network: solana, extra: { feePayer } },
          { x402Version: 2, scheme: "exact", network: "eip155:84532" },
          {
            x402Version: 2,
            scheme: "upto",
            network: "eip155:84532",
            extra: { facilitatorAddress: sandboxFacilitator }
          },
          { x402Version: 1, scheme: "exact", network: "solana-devnet", extra: { feePayer } },
          { x402Version: 1, scheme: "exact", network: "base-sepolia" }
        ],
        extensions: [],
        signers: { "eip155:*": [sandboxFacilitator], "solana:*": [feePayer] }
      })
    })
  )
})
