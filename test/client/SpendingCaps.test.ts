import { assert, describe, it } from "vitest"
import { memoryStore } from "#client/client.ts"
import { agentOf, bankThat, challenge, json, paid, refusal, stranger } from "./Strangers.ts"

/** A server that serves whoever shows a proof, and asks for 0.01 first. */
const shopOf = (bank: { readonly url: string }) =>
  stranger(({ headers }, response) =>
    headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
  )

describe("a cap", () => {
  it("is reached by a call that costs exactly so much, and not passed", async () => {
    const bank = await bankThat()
    const { url } = await shopOf(bank)
    const fetch = agentOf(bank, { maxPerCall: "0.01", maxPerDay: "0.02" })
    for (const _ of ["once", "twice"]) assert.strictEqual((await fetch(url)).status, 200)
    assert.strictEqual((await refusal(fetch(url))).code, "ABOVE_MAX_PER_DAY")
  })

  it("of a day gets back what a call cost less than its price, and no more", async () => {
    const bank = await bankThat({ ...paid, amount: "0.004" })
    const { url } = await shopOf(bank)
    const fetch = agentOf(bank, { maxPerDay: "0.014" })
    for (const _ of ["0.004", "0.008"]) assert.strictEqual((await fetch(url)).status, 200)
    assert.strictEqual((await refusal(fetch(url))).code, "ABOVE_MAX_PER_DAY")
  })

  const settled = Buffer.from(JSON.stringify({ success: true, amount: "1" })).toString("base64")
  const words: Record<string, Record<string, string>> = {
    "nothing was charged": { "x-payment-amount": "0.00" },
    "it refused": { "x-service-error": "NOT_FOUND" },
    "it asks for money": { "payment-required": "e30=" },
    "it took less": { "payment-response": settled, "x-payment-amount": "0.000001" }
  }
  for (const [word, headers] of Object.entries(words)) {
    it(`of a day is spent whatever a server says that is not the Turnpike: ${word}`, async () => {
      const bank = await bankThat()
      const shop = await stranger((request, response) =>
        request.headers["x-payment-proof"] === undefined
          ? json(response, 402, challenge(bank.url))
          : json(response, 400, {}, headers)
      )
      const fetch = agentOf(bank, { maxPerDay: "0.015" })
      assert.strictEqual((await fetch(shop.url)).status, 400)
      assert.strictEqual((await refusal(fetch(shop.url))).code, "ABOVE_MAX_PER_DAY")
    })
  }

  it("of a day leaves no trace of days long gone", async () => {
    const store = memoryStore()
    const currencies = Array.from({ length: 40 }, (_, index) => `C${index + 10}`)
    for (const currency of currencies) await store.reserve(`2026-01-01 ${currency}`, 1n, 1n)
    await store.reserve("2026-01-02 USDC", 1n, 1n)
    const kept = currencies.filter((currency) => store.spent(`2026-01-01 ${currency}`) > 0n)
    assert.deepStrictEqual(kept, currencies.slice(-16))
  })
})

describe("a store", () => {
  it("that takes nothing back costs nobody the answer that was paid for", async () => {
    const bank = await bankThat({ ...paid, amount: "0.004" })
    const { url } = await shopOf(bank)
    const giveBack = () => Promise.reject(new Error("away"))
    const answer = await agentOf(bank, { store: { ...memoryStore(), giveBack } })(url)
    assert.strictEqual(await answer.text(), "served")
  })
})

describe("the spending of a process", () => {
  it("counts each currency of a day, however many there are", async () => {
    const store = memoryStore()
    const keys = Array.from({ length: 40 }, (_, index) => `2026-01-01 C${index + 10}`)
    for (const key of keys) await store.reserve(key, 1n, 1n)
    assert.deepStrictEqual(
      keys.filter((key) => store.spent(key) !== 1n),
      []
    )
  })

  it("takes nothing back for a day that is forgotten", async () => {
    const store = memoryStore()
    await store.giveBack("2026-01-01 USDC", 1n)
    assert.strictEqual(store.spent("2026-01-01 USDC"), 0n)
  })
})

describe("approval", () => {
  for (const answer of [undefined, false, "yes", 1, {}]) {
    it(`is true and nothing else: not ${JSON.stringify(answer)}`, async () => {
      const bank = await bankThat()
      const { url } = await shopOf(bank)
      const approve = () => Promise.resolve(answer as boolean)
      assert.strictEqual((await refusal(agentOf(bank, { approve })(url))).code, "NOT_APPROVED")
      assert.lengthOf(bank.seen, 0)
    })
  }
})
