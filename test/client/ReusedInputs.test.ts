import { assert, describe, it } from "vitest"
import { agentOf, bankThat, challenge, json, paid, stranger } from "./Strangers.ts"

const shop = (bank: { readonly url: string }) =>
  stranger((request, response) =>
    request.headers["x-payment-proof"] === undefined
      ? json(response, 402, challenge(bank.url))
      : response.end(`${request.url} ${request.body}`)
  )

/** The calls to `/forecast` of one form or search, filled anew for each before the one before is answered. */
const asked = async (body: FormData | URLSearchParams) => {
  const bank = await bankThat()
  const { url } = await shop(bank)
  const fetch = agentOf(bank)
  const calls = ["Lisbon", "Oslo"].map((city) => {
    body.set("city", city)
    return fetch(`${url}/forecast`, { method: "POST", body })
  })
  return await Promise.all(calls.map(async (call) => (await call).text()))
}

describe("what is paid for is what was asked", () => {
  it("by one address that is changed for the next call", async () => {
    const bank = await bankThat()
    const url = new URL(`${(await shop(bank)).url}/forecast`)
    const fetch = agentOf(bank)
    const calls = ["Lisbon", "Oslo"].map((city) => {
      url.searchParams.set("city", city)
      return fetch(url)
    })
    const answers = await Promise.all(calls.map(async (call) => (await call).text()))
    assert.deepStrictEqual(answers, ["/forecast?city=Lisbon ", "/forecast?city=Oslo "])
  })

  it("by an address that names another host by then, and the proof does not go there", async () => {
    const bank = await bankThat()
    const [seller, stranger] = [await shop(bank), await shop(bank)]
    const url = new URL(seller.url)
    const call = agentOf(bank)(url)
    url.port = new URL(stranger.url).port
    assert.strictEqual((await call).status, 200)
    assert.deepStrictEqual([seller.seen.length, stranger.seen.length], [2, 0])
  })

  it("by one search that is filled anew for the next call", async () => {
    assert.deepStrictEqual(await asked(new URLSearchParams()), ["/forecast city=Lisbon", "/forecast city=Oslo"])
  })

  it("by one form that is filled anew for the next call, with its files and their names", async () => {
    const form = new FormData()
    form.set("map", new File(["blue"], "sea.txt", { type: "text/plain" }))
    const [first, second] = await asked(form)
    assert.match(first ?? "", /Lisbon/)
    assert.match(second ?? "", /Oslo/)
    assert.match(first ?? "", /filename="sea\.txt"\r\nContent-Type: text\/plain\r\n\r\nblue/)
  })
})

describe("a request that is given as the options of another address", () => {
  for (const [what, input] of [
    ["an address", (url: string) => url],
    ["a request", (url: string) => new Request(url, { method: "PUT", body: "a pasta" })]
  ] as const) {
    it(`is paid with its method, its headers and its body: after ${what}`, async () => {
      const bank = await bankThat()
      const { seen, url } = await shop(bank)
      const relayed = new Request("http://localhost/", {
        method: "POST",
        body: "a pizza",
        headers: { "x-city": "Lisbon" }
      })
      const answer = await agentOf(bank)(input(`${url}/orders`), relayed)
      assert.strictEqual(await answer.text(), "/orders a pizza")
      assert.deepStrictEqual(
        seen.map(({ headers, method }) => `${method} ${headers["x-city"]}`),
        ["POST Lisbon", "POST Lisbon"]
      )
    })
  }

  it("ends by its own signal", async () => {
    const bank = await bankThat()
    const { seen, url } = await shop(bank)
    const reason = new Error("the user left")
    const relayed = new Request("http://localhost/", { method: "POST", signal: AbortSignal.abort(reason) })
    const error = await agentOf(bank)(url, relayed).catch((error) => error)
    assert.deepStrictEqual([error, seen.length], [reason, 0])
  })
})

describe("a request with a body", () => {
  it("that is called while it is under way is refused, as by every fetch, before anything is paid for it", async () => {
    let payments = 0
    // The second payment, if there is one, is made when the first call has been answered.
    const bank = await stranger(async (_, response) => {
      if (++payments > 1) await first
      return json(response, 201, paid)
    })
    const request = new Request((await shop(bank)).url, { method: "POST", body: "a pizza" })
    const told: Array<string> = []
    const fetch = agentOf(bank, { onPayment: ({ amount }) => void told.push(amount) })
    const first = fetch(request)
    const second = await fetch(request).then(
      () => "served",
      (error) => error
    )
    assert.instanceOf(second, TypeError)
    assert.strictEqual(await (await first).text(), "/ a pizza")
    assert.deepStrictEqual([payments, told], [1, ["0.01"]])
  })
})
