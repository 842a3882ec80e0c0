import { assert, describe, it } from "vitest"
import { agentOf, bankThat, challenge, json, stranger } from "./Strangers.ts"

describe("headers that can be read once", () => {
  it("are sent with every attempt", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    const headers: object = new Map([["x-city", "Lisbon"]]).entries()
    await agentOf(bank)(shop.url, { headers: headers as Headers })
    assert.deepStrictEqual(
      shop.seen.map(({ headers }) => headers["x-city"]),
      ["Lisbon", "Lisbon"]
    )
  })
})

describe("a caller who pays for itself", () => {
  it("gets the 402 it is answered", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => json(response, 402, challenge(bank.url)))
    const answer = await agentOf(bank)(shop.url, { headers: { "X-Payment-Proof": "pp_own" } })
    assert.strictEqual(answer.status, 402)
    assert.lengthOf(bank.seen, 0)
  })
})

describe("a caller who gives a server any time", () => {
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 31]) {
    it(`of ${timeoutMs} milliseconds is served`, async () => {
      const bank = await bankThat()
      const shop = await stranger(({ headers }, response) =>
        headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
      )
      assert.strictEqual((await agentOf(bank, { timeoutMs })(shop.url)).status, 200)
    })
  }
})

describe("numbers that are none", () => {
  for (const name of ["timeoutMs", "retries", "maxRetryDelayMs"]) {
    it(`are refused when the client is made: ${name}`, () => {
      for (const wrong of [Number.NaN, -1]) {
        assert.throws(() => agentOf({ url: "http://localhost" }, { [name]: wrong }), TypeError, name)
      }
    })
  }
})

describe("caps that are no decimals", () => {
  for (const wrong of ["1e3", "-1", "", "1.0000001", "a lot"]) {
    it(`are refused when the client is made: "${wrong}"`, () => {
      assert.throws(() => agentOf({ url: "http://localhost" }, { maxPerCall: wrong }), TypeError)
      assert.throws(() => agentOf({ url: "http://localhost" }, { maxPerDay: wrong }), TypeError)
    })
  }
})
