import { assert, describe, it } from "@effect/vitest"
import { verifyEvm } from "#domain/protocol/X402Evm.ts"
import {
  authorized,
  facilitator,
  now,
  offer,
  outcome,
  payer,
  permit,
  recover,
  reasonOf,
  signPermit,
  signTransfer,
  uptoSpender,
  v1,
  v2
} from "./Payers.ts"

describe("the fields of an EIP-3009 authorisation", () => {
  it("are of their length and text, and nothing around them", async () => {
    const { authorization, signature } = await signTransfer()
    const { from, nonce, to } = authorization as Record<"from" | "nonce" | "to", string>
    const broken = [
      ...[`${from}0`, `0${from}`, ` ${from}`, `${from}\n`, [from]].map((other) => ({ from: other })),
      ...[`${to}00`, `00${to}`, [to]].map((other) => ({ to: other })),
      ...[`${nonce}0`, `${nonce}00`, `00${nonce}`, nonce.slice(0, -1), [nonce]].map((other) => ({ nonce: other })),
      { value: ["10000"] }
    ]
    for (const change of broken) {
      const payload = { signature, authorization: { ...authorization, ...change } }
      assert.strictEqual(reasonOf(outcome(v2(payload))), "invalid_payload", JSON.stringify(change))
      assert.strictEqual(reasonOf(outcome(v1(payload))), "invalid_payload", JSON.stringify(change))
    }
  })

  it("are signed in a domain, so an offer that does not say it is refused as one", async () => {
    const exact = offer("exact")
    const context = { network: "base-sepolia", now, recover } as const
    const payload = await signTransfer()
    for (const extra of [{}, { name: "USDC" }, { version: "2" }, { name: "USDC", version: 2 }]) {
      assert.deepStrictEqual(verifyEvm(payload, { ...exact, extra }, context), {
        _tag: "Refused",
        reason: "invalid_exact_evm_missing_eip712_domain"
      })
    }
  })
})

describe("the fields of a Permit2 authorisation", () => {
  it("are needed each, under both schemes", async () => {
    for (const scheme of ["exact", "upto"] as const) {
      const { permit2Authorization, signature } = await signPermit(scheme)
      const { permitted, witness } = permit2Authorization
      const without = [
        ...["from", "spender", "nonce", "deadline"].map((name) => ({ [name]: undefined })),
        ...["token", "amount"].map((name) => ({ permitted: { ...permitted, [name]: undefined } })),
        ...["to", "validAfter"].map((name) => ({ witness: { ...witness, [name]: undefined } }))
      ]
      for (const change of without) {
        const payload = { signature, permit2Authorization: { ...permit2Authorization, ...change } }
        assert.strictEqual(reasonOf(outcome(v2(payload, offer(scheme)))), "invalid_payload", JSON.stringify(change))
      }
    }
  })

  it("reach a facilitator all, in one spelling", async () => {
    for (const scheme of ["exact", "upto"] as const) {
      const { signature } = await signPermit(scheme)
      const { payload, requirements } = authorized(outcome(v2(await signPermit(scheme), offer(scheme))))
      assert.deepStrictEqual(payload, {
        x402Version: 2,
        accepted: requirements,
        payload: {
          signature,
          permit2Authorization: {
            from: payer.address.toLowerCase(),
            permitted: { token: permit.token.toLowerCase(), amount: String(permit.amount) },
            spender: (scheme === "exact" ? permit.spender : uptoSpender).toLowerCase(),
            nonce: String(permit.nonce),
            deadline: String(permit.deadline),
            witness: { to: permit.to, ...(scheme === "upto" && { facilitator }), validAfter: "0" }
          }
        }
      })
    }
  })

  it("under exact are read without the one who would settle a maximum", async () => {
    const { permit2Authorization, signature } = await signPermit("exact")
    const witness = { ...permit2Authorization.witness, facilitator }
    const payload = { signature, permit2Authorization: { ...permit2Authorization, witness } }
    assert.strictEqual(reasonOf(outcome(v2(payload))), "Accepted")
  })
})
