import { createHmac } from "node:crypto"
import { assert, describe, it } from "vitest"
import { type VerifyWebhookOptions, verifyWebhook } from "#client/client.ts"
import { serviceSignature, standardSignature } from "#domain/WebhookSignature.ts"

const secretOf = (seed: number) => `whsec_${Buffer.alloc(24, seed).toString("base64")}`
const secret = secretOf(1)
const at = 1_767_323_045
const event = { id: "evt_1", type: "webhook.test", created_at: "", data: {}, tenant_id: "", environment: "test" }
const body = JSON.stringify(event)
const mac = createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")

/** What becomes of a delivery: its event's id, or why it is refused. */
const verified = (changed: Partial<VerifyWebhookOptions> | object = {}): Promise<string> =>
  verifyWebhook({ body, secret, now: at * 1000, ...changed } as VerifyWebhookOptions).then(
    ({ id }) => id,
    (error) => error.reason ?? error.name
  )
const signed = (header: string) => ({ headers: { "x-service-signature": header } })
const right = signed(`t=${at},v1=${mac}`)

describe("a signature", () => {
  it("may have spaces between its parts, as proxies write lists", async () => {
    assert.strictEqual(await verified(signed(`t=${at}, v1=${mac} ,v1=00`)), event.id)
  })

  it("is hex in either case", async () => {
    assert.strictEqual(await verified(signed(`t=${at},v1=${mac.toUpperCase()}`)), event.id)
  })

  it("may stand in a header of 4096 characters, and in none that is longer", async () => {
    const padded = (length: number) => signed(`t=${at},v1=${mac},v0=`.padEnd(length, "0"))
    assert.strictEqual(await verified(padded(4096)), event.id)
    assert.strictEqual(await verified(padded(4097)), "malformed_signature")
  })
})

describe("the time of a signature", () => {
  it("is compared in whole seconds, as it is signed", async () => {
    assert.strictEqual(await verified({ ...right, now: at * 1000 + 300_999 }), event.id)
    assert.strictEqual(await verified({ ...right, now: at * 1000 + 301_000 }), "timestamp_too_old")
    assert.strictEqual(await verified({ ...right, now: at * 1000 - 300_000 }), event.id)
    assert.strictEqual(await verified({ ...right, now: at * 1000 - 300_001 }), "timestamp_in_future")
  })

  it("is too old where one is and another is of the future: a late delivery is the likelier", async () => {
    const parts = (timestamp: number) => ({ event: event.id, timestamp, body: Buffer.from(body) })
    const headers = {
      "x-service-signature": serviceSignature([secret], parts(at - 1_000)),
      "webhook-id": event.id,
      "webhook-timestamp": String(at + 1_000),
      "webhook-signature": standardSignature([secret], parts(at + 1_000))
    }
    assert.strictEqual(await verified({ headers }), "timestamp_too_old")
  })
})

describe("the secrets of a receiver", () => {
  it("are ten at most", async () => {
    const secrets = (count: number) => Array.from({ length: count }, (_, index) => secretOf(count - index))
    assert.strictEqual(await verified({ ...right, secret: secrets(10) }), event.id)
    assert.strictEqual(await verified({ ...right, secret: secrets(11) }), "TypeError")
  })

  for (const wrong of [`${secret}\n`, ` ${secret}`, `${secret} ${secret}`, "whsec_", ""]) {
    it(`are whole and alone: ${JSON.stringify(wrong.replaceAll(secret, "whsec_…"))}`, async () => {
      assert.strictEqual(await verified({ ...right, secret: wrong }), "TypeError")
    })
  }
})
