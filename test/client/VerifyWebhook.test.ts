import { createHmac, randomBytes } from "node:crypto"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "vitest"
import {
  type VerifyWebhookOptions,
  verifyWebhook,
  WebhookVerificationError,
  type WebhookVerificationReason
} from "#client/client.ts"
import { serviceSignature, standardSignature } from "#domain/WebhookSignature.ts"

const secretOf = (seed: number) => `whsec_${Buffer.alloc(24, seed).toString("base64")}`
const [secret, other] = [secretOf(1), secretOf(2)]
const at = 1_767_323_045

const event = {
  id: "evt_01h455vb4pex5vsknk084sn02q",
  type: "transfer.completed",
  created_at: "2026-01-02T03:04:05.678Z",
  data: { transfer: { id: "tx_01h455vb4pex5vsknk084sn02q", amount: "12.50", memo: "Zoë 🛣" } },
  tenant_id: "ten_01h455vb4pex5vsknk084sn02q",
  environment: "test"
}
const body = JSON.stringify(event)

/** The signatures as the two schemes define them, by another implementation of HMAC than the client's. */
const hex = (text: string | Buffer, t: number | string = at, key = secret) =>
  createHmac("sha256", key).update(`${t}.`).update(text).digest("hex")
const base64 = (text: string | Buffer, t: number | string = at, key = secret, id = event.id) =>
  createHmac("sha256", Buffer.from(key.slice(6), "base64"))
    .update(`${id}.${t}.`)
    .update(text)
    .digest("base64")
const service = (text: string | Buffer = body, t: number | string = at, key = secret) => ({
  "x-service-signature": `t=${t},v1=${hex(text, t, key)}`
})
const standard = (text: string | Buffer = body, t: number | string = at, key = secret) => ({
  "webhook-id": event.id,
  "webhook-timestamp": String(t),
  "webhook-signature": `v1,${base64(text, t, key)}`
})

const verify = (changed: Partial<VerifyWebhookOptions> | object = {}) =>
  verifyWebhook({ body, headers: service(), secret, now: at * 1000, ...changed } as VerifyWebhookOptions)

const refused = async (changed: object, reason: WebhookVerificationReason) => {
  const error = await verify(changed).then(
    () => assert.fail("expected a refusal"),
    (error) => error
  )
  assert.instanceOf(error, WebhookVerificationError)
  assert.deepStrictEqual([error.name, error.reason], ["WebhookVerificationError", reason])
}

const posted = (otherwise: PropertyDescriptorMap = {}) =>
  Object.defineProperties(new Request("http://localhost", { method: "POST", body, headers: service() }), otherwise)

describe("a delivery", () => {
  const accepted: Record<string, object> = {
    "with the service's signature": { headers: service() },
    "with the headers of Standard Webhooks": { headers: standard() },
    "with both": { headers: { ...service(), ...standard() } },
    "with both, one of them of long ago": { headers: { ...service(body, at - 1000), ...standard() } },
    "with both, one of them cut off": { headers: { ...service(), "webhook-signature": "v1,AAAA" } },
    "in bytes": { body: Buffer.from(body) },
    "in a part of a buffer": { body: Buffer.from(`__${body}__`).subarray(2, -2) },
    "in an ArrayBuffer": { body: new TextEncoder().encode(body).buffer },
    "in an ArrayBuffer of another realm": {
      body: runInNewContext("Uint8Array.from(bytes).buffer", { bytes: Buffer.from(body) })
    },
    "as a Request": { body: posted(), headers: undefined },
    "as a Request of Firefox, which has no member for it": { body: posted({ body: {} }), headers: undefined },
    "with Headers": { headers: new Headers(service()) },
    "with pairs of headers": { headers: Object.entries(service()) },
    "with a Map of headers": { headers: new Map(Object.entries(service())) },
    "with headers in any case": { headers: { "X-Service-Signature": service()["x-service-signature"] } },
    "with headers that are lists": {
      headers: { "x-service-signature": [service()["x-service-signature"]], host: undefined }
    },
    "while the secret changes, and the receiver has the new one": {
      headers: { "x-service-signature": `t=${at},v1=${hex(body, at, other)},v1=${hex(body)}` }
    },
    "while the secret changes, by Standard Webhooks": {
      headers: { ...standard(), "webhook-signature": `v1,${base64(body, at, other)} v1a,AAAA v1,${base64(body)}` }
    },
    "while the receiver has both secrets": { secret: [other, secret] },
    "with a scheme nobody knows yet": { headers: { "x-service-signature": `v0=00,t=${at},v1=${hex(body)},v2=ff` } },
    "300 seconds old": { now: (at + 300) * 1000 },
    "300 seconds ahead": { now: (at - 300) * 1000 },
    "of any age, where the receiver wants that": { now: 4e12, toleranceSeconds: Number.POSITIVE_INFINITY },
    "at a time that is a Date": { now: new Date(at * 1000) }
  }
  for (const [name, changed] of Object.entries(accepted)) {
    it(`${name} is the event`, async () => {
      assert.deepStrictEqual(await verify(changed), event as never)
    })
  }

  it("of any bytes that are JSON is verified by what arrived, not by what it means", async () => {
    const spaced = JSON.stringify(event, null, 2)
    assert.deepStrictEqual(await verify({ body: spaced, headers: service(spaced) }), event as never)
    await refused({ body: spaced }, "no_match")
  })

  it("is taken by the clock when no time is given", async () => {
    const now = Math.floor(Date.now() / 1000)
    const fresh = { body, secret, headers: service(body, now) }
    assert.strictEqual((await verifyWebhook(fresh)).id, event.id)
    const old = await verifyWebhook({ ...fresh, headers: service(body, now - 400) }).catch((error) => error.reason)
    assert.strictEqual(old, "timestamp_too_old")
  })

  it("says by its type what it holds", async () => {
    const found = await verify()
    if (found.type !== "transfer.completed") return assert.fail()
    const amount: string = found.data.transfer.amount
    assert.strictEqual(amount, "12.50")
  })
})

describe("a delivery that is not to be believed", () => {
  const right = service()["x-service-signature"]
  const many = (count: number) => `t=${at}${`,v1=${hex(body, at, other)}`.repeat(count)}`
  const cases: Record<string, readonly [changed: object, reason: WebhookVerificationReason]> = {
    "without headers": [{ headers: {} }, "missing_signature"],
    "with other headers": [{ headers: { "webhook-id": "evt_1", "stripe-signature": right } }, "missing_signature"],
    "with an empty header": [{ headers: { "x-service-signature": "" } }, "malformed_signature"],
    "without a time": [{ headers: { "x-service-signature": `v1=${hex(body)}` } }, "malformed_signature"],
    "with two times": [{ headers: { "x-service-signature": `t=1,${right}` } }, "malformed_signature"],
    "with the header twice": [{ headers: { "x-service-signature": [right, right] } }, "malformed_signature"],
    "with a time in words": [{ headers: service(body, "now") }, "malformed_signature"],
    "with a negative time": [{ headers: service(body, -1) }, "malformed_signature"],
    "with a time in exponents": [{ headers: service(body, "1e9") }, "malformed_signature"],
    "with a time in milliseconds": [{ headers: service(body, at * 1000) }, "malformed_signature"],
    "with no signature but the time": [{ headers: { "x-service-signature": `t=${at}` } }, "malformed_signature"],
    "with half a signature": [{ headers: { "x-service-signature": right.slice(0, -1) } }, "malformed_signature"],
    "with a signature and a digit more": [{ headers: { "x-service-signature": `${right}0` } }, "malformed_signature"],
    "with a signature that is no hex": [
      { headers: { "x-service-signature": `t=${at},v1=${"z".repeat(64)}` } },
      "malformed_signature"
    ],
    "with a signature of an old scheme only": [
      { headers: { "x-service-signature": `t=${at},v0=${hex(body)}` } },
      "malformed_signature"
    ],
    "with Standard Webhooks' signature and no id": [
      { headers: { ...standard(), "webhook-id": undefined } },
      "malformed_signature"
    ],
    "with Standard Webhooks' signature and an empty id": [
      { headers: { ...standard(), "webhook-id": "" } },
      "malformed_signature"
    ],
    "with Standard Webhooks' signature and an id of 100 kB": [
      { headers: { ...standard(), "webhook-id": "x".repeat(100_000) } },
      "malformed_signature"
    ],
    "with Standard Webhooks' signature and no time": [
      { headers: { ...standard(), "webhook-timestamp": "" } },
      "malformed_signature"
    ],
    "with ten wrong signatures": [{ headers: { "x-service-signature": many(10) } }, "no_match"],
    "with eleven signatures, the last of them right": [
      { headers: { "x-service-signature": `${many(10)},v1=${hex(body)}` } },
      "malformed_signature"
    ],
    "with a header of 100 kB": [
      { headers: { "x-service-signature": `${right},${"v0=00,".repeat(20_000)}` } },
      "malformed_signature"
    ],
    "of another secret": [{ secret: other }, "no_match"],
    "of another secret, by Standard Webhooks": [{ headers: standard(), secret: other }, "no_match"],
    "with another body": [{ body: body.replace("12.50", "99.50") }, "no_match"],
    "with a newline more": [{ body: `${body}\n` }, "no_match"],
    "with an empty body": [{ body: "" }, "no_match"],
    "with another time than the one signed": [
      { headers: { "x-service-signature": right.replace(`t=${at}`, `t=${at + 1}`) } },
      "no_match"
    ],
    "with another id than the one signed": [{ headers: { ...standard(), "webhook-id": "evt_2" } }, "no_match"],
    "whose two schemes are swapped": [
      { headers: { "x-service-signature": `t=${at},v1=${Buffer.from(base64(body), "base64").toString("hex")}` } },
      "no_match"
    ],
    "301 seconds old": [{ now: (at + 301) * 1000 }, "timestamp_too_old"],
    "301 seconds ahead": [{ now: (at - 301) * 1000 }, "timestamp_in_future"],
    "older than the receiver wants": [{ now: (at + 2) * 1000, toleranceSeconds: 1 }, "timestamp_too_old"],
    "forged with an old time": [{ headers: service(body, at - 1000, other) }, "no_match"],
    "that a framework has parsed": [{ body: event }, "not_text"],
    "that a framework has lost": [{ body: undefined }, "not_text"],
    "that is a Blob": [{ body: new Blob([body]) }, "not_text"]
  }
  for (const [name, [changed, reason]] of Object.entries(cases)) {
    it(`${name} is refused`, () => refused(changed, reason))
  }

  const signedNonsense: Record<string, string | Buffer> = {
    "no JSON": "<html>",
    "no object": "[1]",
    null: "null",
    "no event": "{}",
    "an event without data": JSON.stringify({ ...event, data: undefined }),
    "an event whose id is a number": JSON.stringify({ ...event, id: 7 }),
    "no text": Buffer.from(body.replace("Zoë", "Zo\xeb"), "latin1")
  }
  for (const [name, text] of Object.entries(signedNonsense)) {
    it(`and is ${name}, though signed, is refused`, () =>
      refused({ body: text, headers: service(text) }, "malformed_body"))
  }

  it("because its secret is no base64 is not signed by whoever knows that, with a key of nothing", async () => {
    const mac = createHmac("sha256", "").update(`${event.id}.${at}.${body}`).digest("base64")
    const headers = { ...standard(), "webhook-signature": `v1,${mac}` }
    await refused({ headers, secret: "whsec_no-base64!" }, "no_match")
  })

  it("as a Request that was read already is refused", async () => {
    const request = posted()
    await request.text()
    await refused({ body: request, headers: undefined }, "not_text")
  })

  it("as a Request without an end is refused before it fills the memory", async () => {
    let sent = 0
    const stream = new ReadableStream({
      pull: (controller) => {
        sent += 1
        controller.enqueue(new Uint8Array(1_000_000))
      }
    })
    const init = { method: "POST", body: stream, headers: service(), duplex: "half" as const }
    await refused({ body: new Request("http://localhost", init), headers: undefined }, "body_too_large")
    assert.isBelow(sent, 8)
  })

  it("of random bytes never is an event, and never anything but a refusal", async () => {
    for (let round = 0; round < 200; round++) {
      const noise = randomBytes(round).toString("latin1")
      const headers = {
        "x-service-signature": `t=${at},${noise}`,
        "webhook-signature": noise,
        ...(round % 2 ? standard() : {})
      }
      const error = await verify({ headers, secret: other }).catch((error) => error)
      assert.instanceOf(error, WebhookVerificationError)
    }
  })
})

describe("what the platform signs", () => {
  it("is the event, by either header and while its secret rotates", async () => {
    const about = { event: event.id, timestamp: at, body: Buffer.from(body) }
    for (const key of [secret, other]) {
      const byService = { "x-service-signature": serviceSignature([secret, other], about) }
      const byStandard = { ...standard(), "webhook-signature": standardSignature([secret, other], about) }
      for (const headers of [byService, byStandard]) {
        assert.strictEqual((await verify({ body: about.body, headers, secret: key })).id, event.id)
      }
    }
  })
})

describe("every signature is tried", () => {
  it("however early one is right: how long it takes tells nothing", async () => {
    const { verify: original } = crypto.subtle
    let tried = 0
    crypto.subtle.verify = (...args: Parameters<typeof original>) => {
      tried += 1
      return original.apply(crypto.subtle, args)
    }
    try {
      const three = `t=${at},v1=${hex(body)},v1=${hex(body, at, other)},v1=${hex("")}`
      await verify({ headers: { "x-service-signature": three }, secret: [secret, other] })
    } finally {
      Reflect.deleteProperty(crypto.subtle, "verify")
    }
    assert.strictEqual(tried, 6)
  })
})

describe("options that would let anything through", () => {
  const wrong: Record<string, object> = {
    "no secret": { secret: undefined },
    "an empty secret": { secret: "" },
    "a secret with nothing behind its prefix": { secret: "whsec_" },
    "a secret with a newline": { secret: `${secret}\n` },
    "an API key": { secret: "pk_test_0123456789" },
    "no secrets": { secret: [] },
    "an empty secret among others": { secret: [secret, ""] },
    "eleven secrets": { secret: Array.from({ length: 11 }, () => secret) },
    "a tolerance that is no number": { toleranceSeconds: Number.NaN },
    "a tolerance below zero": { toleranceSeconds: -1 },
    "a time that is none": { now: new Date("never") }
  }
  for (const [name, changed] of Object.entries(wrong)) {
    it(`are the program's mistake: ${name}`, async () => {
      assert.instanceOf(await verify(changed).catch((error) => error), TypeError)
    })
  }
})
