import { assert, describe, it } from "@effect/vitest"
import {
  authorize,
  authorizeTaking,
  type Facilitation,
  readFacilitation,
  supportedOf
} from "#domain/protocol/Facilitation.ts"
import {
  facilitator,
  feePayer,
  now,
  offer,
  payer,
  recover,
  signPermit,
  signTransfer,
  stranger,
  usdc
} from "./Payers.ts"

const [first, second] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`]

describe("what a seller asks a facilitator", () => {
  it("is refused where it is of a scheme that is not settled in that version", () => {
    const reasonOf = (x402Version: 1 | 2, scheme: string) => {
      const network = x402Version === 1 ? "base-sepolia" : offer("exact").network
      const paymentRequirements = { ...offer("exact"), scheme, network, extra: {} }
      const paymentPayload = { x402Version, scheme, network, accepted: paymentRequirements, payload: {} }
      const asked = readFacilitation({ x402Version, paymentPayload, paymentRequirements }, "sandbox", [first])
      return asked._tag === "Declined" ? asked.reason : asked._tag
    }
    assert.strictEqual(reasonOf(2, "deferred"), "unsupported_scheme")
    assert.strictEqual(reasonOf(1, "upto"), "unsupported_scheme")
    assert.strictEqual(reasonOf(2, "exact"), "Asked")
  })

  it("is refused where what it says besides is no text that can be kept until it is settled", () => {
    const reasonOf = (extra: Facilitation["paymentRequirements"]) => {
      const paymentRequirements = { ...offer("exact"), extra }
      const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload: {} }
      const asked = readFacilitation({ paymentPayload, paymentRequirements }, "sandbox", [first])
      return asked._tag === "Declined" ? asked.reason : asked._tag
    }
    assert.strictEqual(reasonOf({ name: "USDC", note: ["é🔑", { a: "b" }] }), "Asked")
    for (const bad of ["a\u0000b", "\ud800"]) {
      for (const extra of [{ note: bad }, { note: ["a", { [bad]: 1 }] }]) {
        assert.strictEqual(reasonOf(extra), "invalid_payment_requirements")
      }
    }
  })

  it("is refused where its payer is the receiver, whom a chain would let pay himself", async () => {
    const resultOf = async (payTo: `0x${string}`) => {
      const paymentRequirements = { ...offer("exact"), payTo, extra: { name: "USDC", version: "2" } }
      const payload = await signTransfer({ to: payTo })
      const paymentPayload = {
        x402Version: 2,
        accepted: paymentRequirements,
        payload: { ...payload, authorization: payload.authorization as never }
      }
      const asked = readFacilitation({ x402Version: 2, paymentPayload, paymentRequirements }, "sandbox", [])
      if (asked._tag === "Declined") return asked
      return authorize(asked, { now, recover, feePayers: [] })
    }
    assert.include(await resultOf(payer.address), {
      reason: "invalid_payment_requirements",
      message: "the payer is the receiver"
    })
    assert.include(await resultOf(stranger.address), { method: "eip3009" })
  })
})

describe("what a facilitator takes of a signed maximum", () => {
  const takenOf = async (amount: string, change: (payload: object) => object = (payload) => payload) => {
    const { extra, ...wanted } = offer("upto")
    const payload = await signPermit("upto", { to: wanted.payTo as `0x${string}` })
    const paymentRequirements = { ...wanted, amount, extra: { ...extra, facilitatorAddress: facilitator } }
    const paymentPayload = { x402Version: 2, accepted: paymentRequirements, payload: change(payload) as never }
    const asked = readFacilitation({ paymentPayload, paymentRequirements }, "sandbox", [facilitator])
    if (asked._tag === "Declined") return asked.reason
    const taken = authorizeTaking(asked, { now, recover, feePayers: [] })
    return "_tag" in taken ? taken.reason : `${taken.protocol} ${taken.amount}`
  }

  it("is any part of it and all of it, however small, and not a unit more", async () => {
    for (const amount of ["0", "1", "9", "10", "9999", "10000"]) {
      assert.strictEqual(await takenOf(amount), "x402v2 10000", amount)
    }
    assert.strictEqual(await takenOf("10001"), "invalid_upto_evm_payload_settlement_exceeds_amount")
  })

  it("is nothing where none was signed", async () => {
    assert.strictEqual(await takenOf("0", () => ({ signature: "0x" })), "invalid_payload")
    const permitted = { token: usdc, amount: "1e4" }
    assert.strictEqual(
      await takenOf("1", (payload) => ({ ...payload, permit2Authorization: { permitted } })),
      "invalid_payload"
    )
  })
})

describe("a facilitator with several keys", () => {
  it("lists each of them once", () => {
    const upto = { scheme: "upto", extra: { facilitatorAddress: first }, signers: [first, second] }
    const { signers } = supportedOf([
      { network: "base-sepolia", ...upto },
      { network: "base-mainnet", ...upto },
      { network: "base-sepolia", scheme: "exact", extra: {}, signers: [second] },
      { network: "solana-devnet", scheme: "exact", extra: { feePayer } }
    ])
    assert.deepStrictEqual(signers, { "eip155:*": [first, second], "solana:*": [feePayer] })
  })

  it("settles a maximum by the one that the seller named, and by the first for whoever named none of them", () => {
    const settlerOf = (facilitatorAddress: string | number | null) => {
      const more = offer("upto")
      const paymentRequirements = { ...more, extra: { facilitatorAddress } }
      const payment: Facilitation = {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: paymentRequirements, payload: {} },
        paymentRequirements
      }
      const asked = readFacilitation(payment, "sandbox", [first, second])
      return asked._tag === "Asked" ? asked.offer.extra["facilitatorAddress"] : assert.fail(asked.reason)
    }
    assert.strictEqual(settlerOf(second.toUpperCase().replace("0X", "0x")), second)
    for (const other of [stranger.address, null, 7]) assert.strictEqual(settlerOf(other), first)
  })
})
