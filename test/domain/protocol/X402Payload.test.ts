import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { maxPaymentHeader, readPayment } from "#domain/protocol/X402Payload.ts"
import { base64, offer, v1, v2 } from "./Payers.ts"

const reason = (headers: Parameters<typeof readPayment>[0]) => {
  const presented = readPayment(headers)
  return presented?._tag === "Malformed" ? presented.reason : presented?._tag
}
const payload = { signature: "0x", authorization: {} }
const credential = { challenge: { id: "1" }, payload: { type: "authorization" } }
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

describe("the payment of a request", () => {
  it("is found in the header of its protocol", () => {
    assert.strictEqual(reason(v2(payload)), "X402V2")
    assert.strictEqual(reason(v1(payload)), "X402V1")
    assert.strictEqual(reason({ authorization: `Payment ${base64url(credential)}` }), "Mpp")
    assert.strictEqual(reason({ "payment-authorization": `payment ${base64url(credential)}` }), "Mpp")
    const padded = Buffer.from(JSON.stringify(credential)).toString("base64").replaceAll("+", "-").replaceAll("/", "_")
    assert.match(padded, /=$/)
    assert.strictEqual(reason({ authorization: `Payment ${padded}` }), "Mpp")
  })

  it("is none where there is no such header", () => {
    assert.isUndefined(readPayment({}))
    assert.isUndefined(readPayment({ authorization: "Bearer agent_123", "x-payment-proof": "pp_123" }))
    assert.isUndefined(readPayment({ authorization: "Payments x" }))
    assert.isUndefined(readPayment({ authorization: "Bearer payment x" }))
  })

  it("says its version itself, whatever header it is in", () => {
    assert.strictEqual(reason({ "x-payment": v2(payload)["payment-signature"] }), "X402V2")
    assert.strictEqual(reason({ "payment-signature": v1(payload)["x-payment"] }), "X402V1")
    for (const x402Version of [0, 3, "2", null, undefined]) {
      const header = base64({ x402Version, accepted: offer("exact"), payload })
      assert.strictEqual(reason({ "payment-signature": header }), "invalid_x402_version", String(x402Version))
    }
  })

  it("is one where the same stands under both names of x402", () => {
    const texts = { X402V1: v1(payload)["x-payment"], X402V2: v2(payload)["payment-signature"] }
    for (const [version, text] of Object.entries(texts)) {
      assert.strictEqual(reason({ "x-payment": text, "payment-signature": text }), version)
    }
  })

  it("is one: more are refused", () => {
    const authorization = `Payment ${base64url(credential)}`
    assert.strictEqual(reason({ ...v1(payload), ...v2(payload) }), "multiple_payments")
    assert.strictEqual(reason({ ...v2(payload), authorization }), "multiple_payments")
    assert.strictEqual(reason({ authorization, "payment-authorization": authorization }), "multiple_payments")
    assert.strictEqual(reason({ "payment-signature": [v2(payload)["payment-signature"], "x"] }), "multiple_payments")
  })

  it("may stand beside a credential of another kind", () => {
    assert.strictEqual(reason({ ...v2(payload), authorization: "Bearer agent_123" }), "X402V2")
  })

  it("is at most 8 KB", () => {
    const sized = (length: number) =>
      base64({ x402Version: 1, scheme: "exact", network: "base", payload, padding: "x".repeat(length) })
    assert.strictEqual(reason({ "x-payment": sized(6_000) }), "X402V1")
    const longest = sized(6_032)
    assert.strictEqual(longest.length, maxPaymentHeader)
    assert.strictEqual(reason({ "x-payment": longest }), "X402V1")
    assert.isAbove(sized(15_000).length, 20_000)
    assert.strictEqual(reason({ "x-payment": sized(15_000) }), "payment_header_too_large")
    assert.strictEqual(reason({ "x-payment": "A".repeat(maxPaymentHeader + 1) }), "payment_header_too_large")
    assert.strictEqual(reason({ authorization: `Payment ${"A".repeat(20_000)}` }), "payment_header_too_large")
  })

  it("is in standard base64; padding may be missing", () => {
    const header = base64({ x402Version: 1, scheme: "exact", network: "base", payload: { text: "???>>>" }, x: "" })
    assert.match(header, /[+/]/)
    assert.strictEqual(reason({ "x-payment": header }), "X402V1")
    assert.strictEqual(reason({ "x-payment": header.replace(/=+$/, "") }), "X402V1")
    const url = header.replaceAll("+", "-").replaceAll("/", "_")
    for (const text of [
      url,
      `${header}, ${header}`,
      `${header}\n`,
      "%%%",
      "",
      "=",
      `${header}===`,
      `${header.replace(/=+$/, "")}===`
    ]) {
      assert.strictEqual(reason({ "x-payment": text }), "invalid_payload", text.slice(0, 20))
    }
  })

  it("is a JSON object with the parts of its version", () => {
    const broken = [
      "{",
      "null",
      "[]",
      "1",
      '"text"',
      '{"x402Version":2,"accepted":{}}',
      '{"x402Version":2,"payload":{}}',
      '{"x402Version":2,"accepted":[],"payload":{}}',
      '{"x402Version":2,"accepted":{},"payload":null}',
      '{"x402Version":1,"payload":{}}',
      '{"x402Version":1,"scheme":"exact","network":1,"payload":{}}',
      '{"x402Version":1,"scheme":1,"network":"base","payload":{}}',
      '{"x402Version":1,"scheme":"exact","network":"base","payload":"0x"}'
    ]
    for (const text of broken) {
      assert.strictEqual(reason({ "x-payment": Buffer.from(text).toString("base64") }), "invalid_payload", text)
    }
    const parts = [{ payload: {} }, { challenge: {} }].map((part) => `Payment ${base64url(part)}`)
    for (const text of ["Payment", "Payment ", "Payment a+b", `Payment ${base64url(credential)} x`, ...parts]) {
      assert.strictEqual(reason({ authorization: text }), "invalid_payload", text)
    }
    assert.strictEqual(
      reason({ authorization: `Payment ${base64url({ ...credential, source: 1 })}` }),
      "invalid_payload"
    )
  })

  it("has an id of its extension that is text, if it has one", () => {
    const named = (id: unknown) => reason(v2(payload, offer("exact"), { "payment-identifier": { info: { id } } }))
    assert.strictEqual(named("a".repeat(16)), "X402V2")
    for (const id of [["a".repeat(16)], 1, null, "a".repeat(15), "a".repeat(129), `${"a".repeat(16)} `]) {
      assert.strictEqual(named(id), "invalid_payload", String(id))
    }
  })

  it.prop("never fails, whatever the header", { text: Schema.String }, ({ text }) => {
    for (const header of [text, Buffer.from(text).toString("base64")]) {
      assert.strictEqual(readPayment({ "payment-signature": header })?._tag, "Malformed")
      assert.strictEqual(readPayment({ authorization: `Payment ${header}` })?._tag, "Malformed")
    }
  })
})
