import { assert, describe, it } from "@effect/vitest"
import { facilitatedBefore } from "#domain/protocol/FacilitatedBefore.ts"
import { authorizeTaking, type Facilitation, readFacilitation } from "#domain/protocol/Facilitation.ts"
import { now, offer, recover, signPermit, signTransfer, stranger } from "./Payers.ts"
import { recordings } from "./SvmRecordings.ts"

type Fields = Facilitation["paymentRequirements"]

const ask = (payload: object, paymentRequirements: Fields): Facilitation => ({
  paymentPayload: { x402Version: 2, accepted: paymentRequirements, payload: payload as Fields },
  paymentRequirements
})
/** What the facilitator says of it that these settle for, at this time. */
const saidBy = (facilitation: Facilitation, settler: string, at = now) => {
  const asked = readFacilitation(facilitation, "sandbox", [settler])
  const taken = asked._tag === "Declined" ? asked : authorizeTaking(asked, { now: at, recover, feePayers: [settler] })
  return "_tag" in taken ? taken.reason : taken.nonce
}
const said = (facilitation: Facilitation) => {
  const found = facilitatedBefore(facilitation, "sandbox", recover)
  return "_tag" in found ? found.reason : found.authorization.nonce
}

const exact = { ...offer("exact"), extra: { name: "USDC", version: "2" } }
const late = now + 3_600_000

describe("a payment that was taken is known for the same", () => {
  it("when its time is over", async () => {
    const payment = ask(await signTransfer(), exact)
    assert.strictEqual(saidBy(payment, "", late), "invalid_exact_evm_payload_authorization_valid_before")
    assert.strictEqual(said(payment), saidBy(payment, ""))
  })

  it("when others settle signed maxima by now", async () => {
    const { address } = stranger
    const wanted = { ...exact, scheme: "upto", extra: { ...exact.extra, facilitatorAddress: address } }
    const payment = ask(await signPermit("upto", { facilitator: address }), wanted)
    assert.match(saidBy(payment, `0x${"b".repeat(40)}`), /facilitator/)
    assert.strictEqual(said(payment), saidBy(payment, address))
  })

  it("when others pay the fees by now", () => {
    const { offer, transaction } = recordings.usdc
    const payment = ask({ transaction }, offer)
    assert.strictEqual(saidBy(payment, "none"), "invalid_exact_svm_fee_payer_not_managed_by_facilitator")
    assert.strictEqual(said(payment), saidBy(payment, offer.extra.feePayer))
  })
})

describe("a payment that never could be taken", () => {
  it("is none: of another amount, or in the name of somebody else", async () => {
    const payload = await signTransfer()
    const { signature } = await signTransfer({ value: 1n })
    for (const payment of [ask(payload, { ...exact, amount: "10001" }), ask({ ...payload, signature }, exact)]) {
      assert.match(said(payment), /^invalid_/)
      assert.strictEqual(said(payment), saidBy(payment, ""))
    }
  })
})
