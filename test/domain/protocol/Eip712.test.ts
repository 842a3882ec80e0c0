import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { bytesToHex, hashMessage, hashTypedData } from "viem"
import { permitDigest, textDigest, transferDigest } from "#domain/protocol/Eip712.ts"

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((of) => `0x${Buffer.from(of).toString("hex")}` as const)
/** Of messages, as any encoder takes them. */
type Types = Readonly<Record<string, ReadonlyArray<{ readonly name: string; readonly type: string }>>>
const number = fc.bigInt(0n, 2n ** 256n - 1n)
const uints = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, type: "uint256" }))
const addresses = (...names: ReadonlyArray<string>) => names.map((name) => ({ name, type: "address" }))

// Few of each, so that what is remembered of one is asked for beside all that differ from it in one thing.
const chainIds = fc.constantFrom(1n, 8453n, 84_532n)
const domains = fc.record({
  name: fc.constantFrom("USDC", "USD Coin", "Ünicode"),
  version: fc.constantFrom("1", "2"),
  chainId: chainIds,
  contract: fc.constantFrom(`0x${"11".repeat(20)}` as const, `0x${"ab".repeat(20)}` as const)
})

describe("what a payer signs", () => {
  it("of a token is the digest that any encoder makes, whatever was signed before", () => {
    const transfer = fc.record({
      from: hex(20),
      to: hex(20),
      value: number,
      validAfter: number,
      validBefore: number,
      nonce: hex(32)
    })
    const types = {
      TransferWithAuthorization: [
        ...addresses("from", "to"),
        ...uints("value", "validAfter", "validBefore"),
        { name: "nonce", type: "bytes32" }
      ]
    }
    fc.assert(
      fc.property(domains, transfer, ({ contract, ...domain }, message) => {
        const signed = { types, primaryType: "TransferWithAuthorization", message } as const
        const wanted = hashTypedData({ ...signed, domain: { ...domain, verifyingContract: contract } })
        assert.strictEqual(bytesToHex(transferDigest({ ...domain, contract }, message)), wanted)
      })
    )
  })

  it("of Permit2 is, too, with a facilitator and without one", () => {
    const permit = fc.record({
      token: hex(20),
      amount: number,
      spender: hex(20),
      nonce: number,
      deadline: number,
      to: hex(20),
      facilitator: fc.option(hex(20), { nil: undefined }),
      validAfter: number
    })
    fc.assert(
      fc.property(chainIds, permit, (chainId, message) => {
        const { amount, facilitator, to, token, validAfter, ...rest } = message
        const of = facilitator === undefined ? addresses("to") : addresses("to", "facilitator")
        const types: Types = {
          PermitWitnessTransferFrom: [
            { name: "permitted", type: "TokenPermissions" },
            ...addresses("spender"),
            ...uints("nonce", "deadline"),
            { name: "witness", type: "Witness" }
          ],
          TokenPermissions: [...addresses("token"), ...uints("amount")],
          Witness: [...of, ...uints("validAfter")]
        }
        const wanted = hashTypedData({
          domain: { name: "Permit2", chainId, verifyingContract: "0x000000000022D473030F116dDEE9F6B43aC78BA3" },
          types,
          primaryType: "PermitWitnessTransferFrom",
          message: { ...rest, permitted: { token, amount }, witness: { to, facilitator, validAfter } }
        })
        assert.strictEqual(bytesToHex(permitDigest(chainId, message)), wanted)
      })
    )
  })

  it("of a text counts its bytes", () => {
    for (const text of ["", "Sign in", "Ünïcode – 中文 🎉", "x".repeat(1_000)]) {
      assert.strictEqual(bytesToHex(textDigest(text)), hashMessage(text))
    }
  })
})
