import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TransferId, type WalletId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import * as Test from "#layers/Test.ts"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { answered, market } from "./PaymentsHarness.ts"
import { dispute, refund } from "./RefundsHarness.ts"

const feeOf = (feeBasisPoints: number) =>
  Test.layer.pipe(
    Layer.provide(
      Layer.effect(
        PaymentPolicy,
        Effect.map(PaymentPolicy, (usual) => ({ ...usual, feeBasisPoints }))
      )
    )
  )

/** What a wallet's newest line says that it was, as a transfer. */
const latest = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
  const [line] = yield* (yield* Wallets).entries(caller, id, { limit: 1 })
  return line === undefined ? assert.fail("there is no line") : yield* (yield* Transfers).get(caller, line.transfer_id)
})

/** A call for 0.012345 that was paid. */
const bought = Effect.gen(function* () {
  const all = yield* market({ basePrice: 12_345n })
  yield* all.payments.capture(yield* all.granted((yield* all.reserve).proof), answered(200))
  return all
})

layer(feeOf(290), { timeout: "60 seconds" })("a paid call read as a transfer", (it) => {
  it.effect("says what the payer gave, what the platform kept of it and what the receiver got, to both", () =>
    Effect.gen(function* () {
      const { buyer, money, purse, seller, till } = yield* bought
      const said = {
        type: "internal",
        status: "completed",
        protocol: "x402",
        initiated_by: { type: "system", id: "gateway" },
        amount: 12_345n,
        currency: "USDC",
        fee: 358n,
        destination_amount: 11_987n,
        destination_currency: "USDC",
        from_wallet_id: purse,
        to_wallet_id: till
      } as const
      assert.deepInclude(yield* latest(buyer, purse), {
        ...said,
        from_account_id: buyer.account_id,
        to_account_id: null
      })
      assert.deepInclude(yield* latest(seller, till), {
        ...said,
        from_account_id: null,
        to_account_id: seller.account_id
      })
      assert.strictEqual((yield* money(till)).posted, said.destination_amount)
    })
  )

  it.effect("is none while its money is only reserved", () =>
    Effect.gen(function* () {
      const { buyer, reserve, seller } = yield* market({ basePrice: 12_345n })
      const id = TransferId.make((yield* reserve).id)
      for (const caller of [buyer, seller]) {
        assert.strictEqual((yield* Effect.flip((yield* Transfers).get(caller, id)))._tag, "NOT_FOUND")
      }
    })
  )

  it.effect("goes back by no refund and is the matter of no dispute, of either side", () =>
    Effect.gen(function* () {
      const { buyer, money, purse, seller, till } = yield* bought
      const { id } = yield* latest(buyer, purse)
      for (const caller of [buyer, seller]) {
        for (const refused of [yield* Effect.flip(refund(caller, id)), yield* Effect.flip(dispute(caller, id))]) {
          assert.deepInclude(refused, { _tag: "NOT_REFUNDABLE", reason: "is_payment" })
        }
      }
      const stranger = (yield* market()).buyer
      assert.strictEqual((yield* Effect.flip(refund(stranger, id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(dispute(stranger, id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* money(till)).posted, 11_987n)
    })
  )
})

layer(feeOf(0), { timeout: "60 seconds" })("a paid call of which the platform keeps nothing", (it) => {
  it.effect("has no fee, and what arrived is the amount", () =>
    Effect.gen(function* () {
      const { buyer, purse } = yield* bought
      assert.deepInclude(yield* latest(buyer, purse), {
        amount: 12_345n,
        fee: 0n,
        destination_amount: null,
        destination_currency: null
      })
    })
  )
})
