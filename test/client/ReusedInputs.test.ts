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
