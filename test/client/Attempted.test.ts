import { assert, describe, it } from "vitest"
import type { WalletPaying } from "#client/client.ts"
import { agentOf, bankThat, challenge, json, stranger } from "./Strangers.ts"

const receipt = Buffer.from(JSON.stringify({ success: true, amount: "10000" })).toString("base64")

/** How often the proof is shown to who answers it so at first, and well then. */
const shownTo = async (status: number, headers: Record<string, string>, options: Partial<WalletPaying> = {}) => {
  const bank = await bankThat()
  let shown = 0
  const shop = await stranger((request, response) => {
    if (request.headers["x-payment-proof"] === undefined) return json(response, 402, challenge(bank.url))
    return ++shown > 1 ? response.end("served") : response.writeHead(status, headers).end()
  })
  await agentOf(bank, options)(shop.url)
  return shown
}

describe("a proof is shown again", () => {
  for (const status of [502, 503, 504]) {
    it(`to who is in trouble: ${status}`, async () => {
      assert.strictEqual(await shownTo(status, {}), 2)
    })
  }

  it("at once, to who needs no time, by who has none", async () => {
    assert.strictEqual(await shownTo(503, { "retry-after": "0" }, { maxRetryDelayMs: 0 }), 2)
  })
})

describe("a proof is not shown again", () => {
  for (const status of [200, 400, 404, 409, 429, 500, 501, 505]) {
    it(`to who answers ${status}`, async () => {
      assert.strictEqual(await shownTo(status, {}), 1)
    })
  }

  it("for an error that was paid for: that is the answer", async () => {
    assert.strictEqual(await shownTo(503, { "payment-response": receipt }), 1)
  })
})
