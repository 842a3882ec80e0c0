import { assert, describe, it } from "vitest"
import { agentOf, bankThat, challenge, json, refusal, stranger } from "./Strangers.ts"

describe("a redirect", () => {
  it("to another host that asks for money is not paid", async () => {
    const bank = await bankThat()
    const other = await stranger((_, response) => json(response, 402, challenge(bank.url)))
    const shop = await stranger((_, response) => response.writeHead(307, { location: `${other.url}/` }).end())
    assert.strictEqual((await refusal(agentOf(bank)(shop.url))).code, "REDIRECTED")
    assert.lengthOf(bank.seen, 0)
  })

  it("within the host is followed, and the place it leads to is paid", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers, url }, response) => {
      if (url === "/old") return response.writeHead(302, { location: "/new" }).end()
      return headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.end("served")
    })
    assert.strictEqual(await (await agentOf(bank)(`${shop.url}/old`)).text(), "served")
  })

  it("of a request that does something is not paid, also within the host: it would be done in another place", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ url }, response) =>
      url === "/old" ? response.writeHead(307, { location: "/new" }).end() : json(response, 402, challenge(bank.url))
    )
    const order = agentOf(bank)(`${shop.url}/old`, { method: "POST", body: "a pizza" })
    assert.strictEqual((await refusal(order)).code, "REDIRECTED")
    assert.lengthOf(bank.seen, 0)
  })

  it("within the host is paid by a request like the caller's, which may bring cookies to another site", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers, url }, response) => {
      if (url === "/old") return response.writeHead(302, { location: "/new" }).end()
      return headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.end(`served ${headers["x-city"]}`)
    })
    const sent: Array<string> = []
    const watched: typeof fetch = (input, init) => {
      const request = new Request(input, init)
      if (request.url.startsWith(shop.url)) sent.push(`${request.method} ${request.credentials}`)
      return fetch(request)
    }
    const old = new Request(`${shop.url}/old`, { credentials: "include", headers: { "x-city": "Lisbon" } })
    assert.strictEqual(await (await agentOf(bank, { fetch: watched })(old)).text(), "served Lisbon")
    assert.deepStrictEqual(sent, ["GET include", "GET include"])
  })

  it("of the paid call is given to the caller: the proof goes nowhere else", async () => {
    const bank = await bankThat()
    const other = await stranger((_, response) => response.end())
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.writeHead(307, { location: other.url }).end()
    )
    const answer = await agentOf(bank)(shop.url)
    assert.deepStrictEqual([answer.status, answer.headers.get("location")], [307, other.url])
    assert.lengthOf(other.seen, 0)
  })
})

/** As browsers give it: they show that there is a redirect, and nothing of it. */
const asInBrowsers: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init)
  const shown = { type: { value: "opaqueredirect" }, url: { value: answer.url } }
  return answer.status === 307 ? Object.defineProperties(Response.error(), shown) : answer
}

describe("a request", () => {
  it("tells the paid call's host no more of where it comes from than the first one", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    const told: Array<string> = []
    const watched: typeof fetch = (input, init) => {
      const request = new Request(input, init)
      if (request.url.startsWith(shop.url)) told.push(`${request.referrer} ${request.referrerPolicy}`)
      return fetch(request)
    }
    const request = new Request(shop.url, { referrer: "", referrerPolicy: "no-referrer" })
    await agentOf(bank, { fetch: watched })(request)
    assert.deepStrictEqual(told, [" no-referrer", " no-referrer"])
  })
})

describe("a redirect of the paid call in a browser", () => {
  it("is told as paid for, since it cannot be read", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined
        ? json(response, 402, challenge(bank.url))
        : response.writeHead(307, { location: "/elsewhere" }).end()
    )
    const told: Array<string> = []
    const fetch = agentOf(bank, { fetch: asInBrowsers, onPayment: ({ amount }) => void told.push(amount) })
    const { code, details, paid } = await refusal(fetch(shop.url))
    assert.deepStrictEqual([code, paid, details], ["PAID_REDIRECT", true, { paymentId: "pay_1" }])
    assert.deepStrictEqual(told, ["0.01"])
    assert.lengthOf(shop.seen, 2)
  })
})
