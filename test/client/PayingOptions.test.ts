import { assert, describe, it } from "vitest"
import { agentOf, bankThat, challenge, json, paid, stranger, terms } from "./Strangers.ts"

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

describe("a fetch that pays", () => {
  it("calls by the global one, whose place it may take", async () => {
    const shop = await stranger((_, response) => response.end("served"))
    const { fetch } = globalThis
    try {
      globalThis.fetch = agentOf({ url: "http://localhost" })
      assert.strictEqual(await (await globalThis.fetch(shop.url)).text(), "served")
    } finally {
      globalThis.fetch = fetch
    }
  })

  it("pays from the wallet where its caller has a signer only at other times", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    assert.strictEqual((await agentOf(bank, { signer: undefined })(shop.url)).status, 200)
  })

  it("takes null for no options, as every fetch does", async () => {
    const shop = await stranger((_, response) => response.end("served"))
    const answer: Promise<Response> = Reflect.apply(agentOf({ url: "http://localhost" }), undefined, [shop.url, null])
    assert.strictEqual((await answer).status, 200)
  })
})

describe("a caller who pays for itself", () => {
  for (const [name, value] of [
    ["X-Payment-Proof", "own"],
    ["PAYMENT-SIGNATURE", "own"],
    ["X-PAYMENT", "own"],
    ["Payment-Authorization", "Payment own"],
    ["Authorization", "Payment own"],
    ["Authorization", "payment own"]
  ] as const) {
    it(`gets the 402 it is answered: by ${name}, ${value}`, async () => {
      const bank = await bankThat()
      const shop = await stranger((_, response) => json(response, 402, challenge(bank.url)))
      assert.strictEqual((await agentOf(bank)(shop.url, { headers: { [name]: value } })).status, 402)
      assert.lengthOf(bank.seen, 0)
    })
  }
})

describe("a caller who shows no payment", () => {
  for (const [name, value] of [
    ["Authorization", "Bearer own"],
    ["Accept-Payment", "own"],
    ["X-Payment-Id", "own"]
  ] as const) {
    it(`has it paid: with ${name}`, async () => {
      const bank = await bankThat()
      const shop = await stranger(({ headers }, response) =>
        headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
      )
      assert.strictEqual((await agentOf(bank)(shop.url, { headers: { [name]: value } })).status, 200)
    })
  }
})

describe("a price of nothing", () => {
  it("is paid with the least that can be the most", async () => {
    const bank = await bankThat({ ...paid, amount: "0.00" })
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url, { price: "0.00" }))
        : response.end("served")
    )
    const told: Array<unknown> = []
    const fetch = agentOf(bank, { maxPerDay: "0.00", onPayment: (spent) => void told.push(spent) })
    assert.strictEqual((await fetch(shop.url)).status, 200)
    assert.strictEqual(JSON.parse(bank.seen[0]?.body ?? "").max_amount, "0.000001")
    assert.deepStrictEqual(told, [])
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

describe("a place that is no plain address", () => {
  for (const url of ["ftp://127.0.0.1", "http://user@127.0.0.1", "http://127.0.0.1/?a=b", "http://127.0.0.1/#a"]) {
    it(`is refused when the client is made: ${url}`, () => {
      assert.throws(() => agentOf({ url }), TypeError)
    })
  }
})

describe("networks that a caller allows", () => {
  for (const [allowed, asked] of [
    ["base", "base-mainnet"],
    ["base-mainnet", "base"],
    ["eip155:8453", "base-mainnet"]
  ] as const) {
    it(`are so under each of their names: ${allowed} for ${asked}`, async () => {
      const bank = await bankThat({ ...paid, terms: { ...terms, network: "base-mainnet" } })
      const shop = await stranger(({ headers }, response) =>
        headers["x-payment-proof"] === undefined
          ? json(response, 402, challenge(bank.url, { network: asked }))
          : response.end("served")
      )
      assert.strictEqual((await agentOf(bank, { networks: [allowed] })(shop.url)).status, 200)
    })
  }
})
