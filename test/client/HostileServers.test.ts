import { assert, describe, it } from "vitest"
import { receiptOf } from "#client/client.ts"
import { agentOf, bankThat, challenge, json, paid, refusal, stranger, terms } from "./Strangers.ts"

describe("a 402 that cannot be trusted", () => {
  const refused: Record<string, readonly [changed: object | string, code: string]> = {
    "a price in exponents": [{ price: "1e30" }, "INVALID_CHALLENGE"],
    "a negative price": [{ price: "-0.01" }, "INVALID_CHALLENGE"],
    "a price in words": [{ price: "free" }, "INVALID_CHALLENGE"],
    "a price as a number": [{ price: 0.01 }, "INVALID_CHALLENGE"],
    "a price that is finer than money": [{ price: "0.0000001" }, "INVALID_CHALLENGE"],
    "no price": [{ price: undefined }, "INVALID_CHALLENGE"],
    "a price of 31 digits": [{ price: "1".repeat(31) }, "ABOVE_MAX_PER_CALL"],
    "a price just above the cap": [{ price: "1.000001" }, "ABOVE_MAX_PER_CALL"],
    "a payment request beyond all measure": [{ payment_request_id: "x".repeat(4_097) }, "INVALID_CHALLENGE"],
    "a currency nobody knows": [{ currency: "DOGE" }, "NO_PAYABLE_OFFER"],
    "a network nobody knows": [{ network: "eip155:1" }, "NO_PAYABLE_OFFER"],
    "nobody who is paid": [{ receiver: undefined }, "INVALID_CHALLENGE"],
    "another place to pay at": [{ pay_url: "http://127.0.0.1:1/v1/x402/pay" }, "FOREIGN_PAY_URL"],
    "a place to pay at that is no address": [{ pay_url: "/v1/x402/pay" }, "FOREIGN_PAY_URL"],
    "a body that is no JSON": ["<html>", "INVALID_CHALLENGE"],
    "a body that is no object": ["[402]", "INVALID_CHALLENGE"],
    "a body of a megabyte": [" ".repeat(1_000_000), "INVALID_CHALLENGE"]
  }
  for (const [name, [changed, code]] of Object.entries(refused)) {
    it(`with ${name} is not paid`, async () => {
      const bank = await bankThat()
      const body = typeof changed === "string" ? changed : JSON.stringify(challenge(bank.url, changed))
      const shop = await stranger((_, response) => response.writeHead(402).end(body))
      const error = await refusal(agentOf(bank)(shop.url))
      assert.deepStrictEqual([error.code, error.paid], [code, false])
      assert.deepStrictEqual([bank.seen.length, shop.seen.length], [0, 1])
    })
  }

  it("that names another operation of the bank as the place to pay at does not get it called", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) =>
      json(response, 402, challenge(bank.url, { pay_url: `${bank.url}/v1/wallets/wal_1/unfreeze` }))
    )
    assert.strictEqual((await refusal(agentOf(bank)(shop.url))).code, "FOREIGN_PAY_URL")
    assert.lengthOf(bank.seen, 0)
  })

  it("without a body, whose header names an endpoint of another Turnpike, is not paid", async () => {
    const bank = await bankThat()
    for (const url of [terms.gateway_url, `${bank.url}.example/x402/0192`]) {
      const required = {
        x402Version: 2,
        resource: { url, description: terms.description },
        accepts: [
          { scheme: "exact", network: "eip155:84532", amount: "10000", asset: terms.asset, payTo: terms.receiver }
        ]
      }
      const header = Buffer.from(JSON.stringify(required)).toString("base64")
      const shop = await stranger((_, response) => response.writeHead(402, { "payment-required": header }).end())
      assert.strictEqual((await refusal(agentOf(bank)(shop.url, { method: "HEAD" }))).code, "FOREIGN_PAY_URL")
    }
    assert.lengthOf(bank.seen, 0)
  })

  it("that wants to be paid by its own host never sees the key", async () => {
    const bank = await bankThat()
    const thief = await stranger((request, response) =>
      json(response, 402, challenge(`http://${request.headers.host}`))
    )
    assert.strictEqual((await refusal(agentOf(bank)(thief.url))).code, "FOREIGN_PAY_URL")
    assert.notInclude(JSON.stringify(thief.seen), "pk_test_secret")
  })

  it("whose body never ends is given up", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => {
      response.writeHead(402)
      const flood = () => {
        while (!response.destroyed && response.write("x".repeat(10_000)));
        if (!response.destroyed) response.once("drain", flood)
      }
      flood()
    })
    assert.strictEqual((await refusal(agentOf(bank)(shop.url))).code, "INVALID_CHALLENGE")
  })

  it("whose body does not come is given up when its time is over", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => response.writeHead(402).write("{"))
    assert.strictEqual((await refusal(agentOf(bank, { timeoutMs: 20 })(shop.url))).code, "INVALID_CHALLENGE")
  })

  it("whose body does not come is given up where several signals in one are forgotten, as in Node 20", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => response.writeHead(402).write("{"))
    const { any } = AbortSignal
    AbortSignal.any = () => new AbortController().signal
    try {
      const { signal } = new AbortController()
      const error = await refusal(agentOf(bank, { timeoutMs: 20 })(shop.url, { signal }))
      assert.strictEqual(error.code, "INVALID_CHALLENGE")
    } finally {
      AbortSignal.any = any
    }
  })

  it("with headers beyond all measure is not paid", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) =>
      json(response, 402, challenge(bank.url), { "payment-required": "A".repeat(40_000) })
    )
    await agentOf(bank)(shop.url).then(
      () => assert.fail("expected an error"),
      (error) => assert.instanceOf(error, TypeError)
    )
    assert.lengthOf(bank.seen, 0)
  })
})

describe("a server that keeps asking", () => {
  it("is paid once", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => json(response, 402, challenge(bank.url)))
    const error = await refusal(agentOf(bank)(shop.url))
    assert.deepStrictEqual([error.code, error.paid], ["PAYMENT_NOT_ACCEPTED", true])
    assert.deepStrictEqual([bank.seen.length, shop.seen.length], [1, 2])
  })

  it("is not paid the higher price of the second 402", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      json(response, 402, challenge(bank.url, { price: headers["x-payment-proof"] === undefined ? "0.01" : "0.02" }))
    )
    const { code, details } = await refusal(agentOf(bank)(shop.url))
    assert.strictEqual(code, "PAYMENT_NOT_ACCEPTED")
    assert.deepInclude(details["before"], { amount: "0.01" })
    assert.deepInclude(details["after"], { amount: "0.02" })
    assert.lengthOf(bank.seen, 1)
  })

  it("is not paid a price that changed while the first one was being paid", async () => {
    const bank = await stranger((_, response) => json(response, 422, { code: "QUOTE_EXPIRED", title: "Too late" }))
    let asked = 0
    const shop = await stranger((_, response) =>
      json(response, 402, challenge(bank.url, { price: ++asked === 1 ? "0.01" : "0.02" }))
    )
    const { code, paid } = await refusal(agentOf(bank)(shop.url))
    assert.deepStrictEqual([code, paid], ["PRICE_CHANGED", false])
    assert.lengthOf(bank.seen, 1)
  })

  it("is not paid for another endpoint that it named while the first one was being paid", async () => {
    const bank = await stranger((_, response) => json(response, 422, { code: "QUOTE_EXPIRED", title: "Too late" }))
    let asked = 0
    const shop = await stranger((_, response) =>
      json(response, 402, challenge(bank.url, { accepts: [{ resource: `${bank.url}/x402/${++asked}` }] }))
    )
    assert.strictEqual((await refusal(agentOf(bank)(shop.url))).code, "PRICE_CHANGED")
    assert.lengthOf(bank.seen, 1)
  })

  it("is paid the same price when only the quote had expired", async () => {
    let asked = 0
    const bank = await stranger(({ body }, response) =>
      JSON.parse(body).payment_request_id === "pr_1"
        ? json(response, 422, { code: "QUOTE_EXPIRED", title: "Too late" })
        : json(response, 201, paid)
    )
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url, { payment_request_id: `pr_${++asked}` }))
        : response.end("served")
    )
    assert.strictEqual(await (await agentOf(bank)(shop.url)).text(), "served")
    assert.lengthOf(bank.seen, 2)
  })

  it("gets the proof no more often than it was agreed, and the call ends as of unknown outcome", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.destroy()
    )
    const error = await refusal(agentOf(bank, { retries: 2 })(shop.url))
    assert.deepStrictEqual([error.code, error.details], ["OUTCOME_UNKNOWN", { paymentId: "pay_1" }])
    assert.lengthOf(shop.seen, 4)
    assert.lengthOf(bank.seen, 1)
  })

  it("to wait longer than the caller does gets its answer through", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.writeHead(503, { "retry-after": "30" }).end()
    )
    assert.strictEqual((await agentOf(bank)(shop.url)).status, 503)
    assert.lengthOf(shop.seen, 2)
  })

  it("to wait longer than a timer can is not called again at once by who waits without end", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.writeHead(503, { "retry-after": "9999999" }).end()
    )
    const patient = agentOf(bank, { maxRetryDelayMs: Number.POSITIVE_INFINITY })
    assert.strictEqual((await patient(shop.url)).status, 503)
    assert.lengthOf(shop.seen, 2)
  })

  it("has spent the day's cap when nobody can say whether the money was taken", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.writeHead(400).end()
    )
    const fetch = agentOf(bank, { maxPerDay: "0.01" })
    assert.strictEqual((await fetch(shop.url)).status, 400)
    assert.strictEqual((await refusal(fetch(shop.url))).code, "ABOVE_MAX_PER_DAY")
  })
})

describe("a payment that is still in use", () => {
  it("is shown again when it is free", async () => {
    const bank = await bankThat()
    let shown = 0
    const shop = await stranger(({ headers }, response) => {
      if (headers["x-payment-proof"] === undefined) return json(response, 402, challenge(bank.url))
      if (++shown < 3) return json(response, 409, {}, { "x-service-error": "PAYMENT_IN_PROGRESS", "retry-after": "60" })
      return response.end("served")
    })
    assert.strictEqual(await (await agentOf(bank)(shop.url)).text(), "served")
  })

  it("is not shown again when it was used", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : json(response, 409, { code: "PAYMENT_ALREADY_USED" }, { "x-service-error": "PAYMENT_ALREADY_USED" })
    )
    assert.strictEqual((await agentOf(bank)(shop.url)).status, 409)
    assert.lengthOf(shop.seen, 2)
  })
})

describe("a bank that answers nonsense", () => {
  const answers: Record<string, object> = {
    "more than was asked": { ...paid, amount: "0.010001" },
    "another currency": { ...paid, currency: "EURC" },
    "no proof": { ...paid, proof: undefined },
    "no word of what is paid for": { ...paid, terms: undefined },
    "another receiver": { ...paid, terms: { ...terms, receiver: "0x0000000000000000000000000000000000000002" } },
    "another endpoint": { ...paid, terms: { ...terms, gateway_url: "http://127.0.0.1:4020/x402/0193" } },
    "another network": { ...paid, terms: { ...terms, network: "base-mainnet" } },
    "another asset": { ...paid, terms: { ...terms, asset: terms.receiver } },
    "another description": { ...paid, terms: { ...terms, description: "Gift cards" } },
    "a proof beyond all measure": { ...paid, proof: "p".repeat(1_001) },
    "a proof that would break out of its header": { ...paid, proof: "pp_1\r\nx-evil: 1" }
  }
  for (const [name, answer] of Object.entries(answers)) {
    it(`is not believed: ${name}`, async () => {
      const bank = await bankThat(answer)
      const accepts = [{ resource: terms.gateway_url, asset: terms.asset, description: "The wea" }]
      const shop = await stranger((_, response) => json(response, 402, challenge(bank.url, { accepts })))
      assert.strictEqual((await refusal(agentOf(bank)(shop.url))).code, "PAY_REFUSED")
      assert.lengthOf(shop.seen, 1)
    })
  }
})

describe("an answer that is paid for", () => {
  it("is not lost when a hook throws or the store fails", async () => {
    const bank = await bankThat({ ...paid, amount: "0.005" })
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    const told: Array<string> = []
    const fetch = agentOf(bank, {
      onPayment: ({ amount }) => {
        told.push(amount)
        throw new Error("full")
      },
      store: { reserve: () => true, giveBack: () => Promise.reject(new Error("gone")) }
    })
    assert.strictEqual(await (await fetch(shop.url)).text(), "served")
    assert.deepStrictEqual(told, ["0.005"])
  })

  it("has a receipt of texts, whatever its seller calls the network", () => {
    for (const network of ["constructor", "__proto__"]) {
      const settled = JSON.stringify({ success: true, transaction: "0x1", network })
      const answer = new Response("", { headers: { "payment-response": Buffer.from(settled).toString("base64") } })
      assert.strictEqual(receiptOf(answer)?.network, network)
    }
  })
})
