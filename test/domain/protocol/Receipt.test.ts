import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { failureHeaders, type Receipt, receiptHeaders } from "#domain/protocol/Receipt.ts"

const receipt: Receipt = {
  transaction: "0x1",
  network: "base-sepolia",
  payer: "0x2",
  charged: 10_000n,
  protocol: "x402v2",
  at: DateTime.makeUnsafe(0),
  status: 200
}
const read = (headers: ReadonlyArray<string>) =>
  Object.fromEntries(
    headers.flatMap((name, index) =>
      index % 2 === 0 ? [[name, JSON.parse(Buffer.from(headers[index + 1] ?? "", "base64url").toString())]] : []
    )
  )
const settled = { success: true, transaction: "0x1", payer: "0x2", amount: "10000" }
const v2 = { ...settled, network: "eip155:84532" }
const v1 = { ...settled, network: "base-sepolia" }

describe("what became of a payment", () => {
  it("is told to a client of version 2 in its header, to all others of x402 and ours in both", () => {
    assert.deepStrictEqual(read(receiptHeaders(receipt)), { "PAYMENT-RESPONSE": v2 })
    for (const protocol of ["x402v1", "native"] as const) {
      const both = { "PAYMENT-RESPONSE": v2, "X-PAYMENT-RESPONSE": v1 }
      assert.deepStrictEqual(read(receiptHeaders({ ...receipt, protocol })), both)
    }
  })

  it("is told to a client of MPP as a receipt alone", () => {
    assert.deepStrictEqual(read(receiptHeaders({ ...receipt, protocol: "mpp", challenge: "id.salt" })), {
      "Payment-Receipt": {
        method: "evm",
        reference: "0x1",
        status: "success",
        timestamp: "1970-01-01T00:00:00.000Z",
        chainId: 84532,
        challengeId: "id.salt"
      }
    })
  })

  it("is told to a client of MPP with no error, as its specification says, and to others with it", () => {
    const names = (protocol: Receipt["protocol"], status: number) =>
      Object.keys(read(receiptHeaders({ ...receipt, protocol, status })))
    assert.deepStrictEqual(
      [399, 400, 502].map((status) => names("mpp", status)),
      [["Payment-Receipt"], [], []]
    )
    assert.deepStrictEqual(names("x402v2", 500), ["PAYMENT-RESPONSE"])
  })

  it("has no amount while that is not known, and has one of nothing", () => {
    const amount = (charged: bigint | undefined) => read(receiptHeaders({ ...receipt, charged }))["PAYMENT-RESPONSE"]
    assert.notProperty(amount(undefined), "amount")
    assert.deepInclude(amount(0n), { amount: "0" })
  })

  it("that was refused is told with the reason, in both versions", () => {
    const failed = { success: false, errorReason: "invalid_payload", transaction: "" }
    assert.deepStrictEqual(read(failureHeaders("base-sepolia", "invalid_payload")), {
      "PAYMENT-RESPONSE": { ...failed, network: "eip155:84532" },
      "X-PAYMENT-RESPONSE": { ...failed, network: "base-sepolia" }
    })
  })
})
