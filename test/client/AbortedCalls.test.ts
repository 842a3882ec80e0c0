import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "vitest"
import { payingFetch, type WalletPaying } from "#client/client.ts"
import { agentOf, bankThat, challenge, json, paid, refusal, stranger, terms } from "./Strangers.ts"

describe("an aborted call", () => {
  const reason = new Error("the user left")

  /** Runs until `when` says so, aborts then, and expects the reason. */
  const aborted = async (
    bank: { readonly url: string },
    shop: string,
    when: (abort: () => void) => Partial<WalletPaying>,
    maxPerDay = "0.01"
  ) => {
    const controller = new AbortController()
    const fetch = agentOf(bank, { maxPerDay, maxRetryDelayMs: 60_000, ...when(() => controller.abort(reason)) })
    const error = await fetch(shop, { signal: controller.signal }).then(
      () => assert.fail("expected the reason"),
      (error) => error
    )
    assert.strictEqual(error, reason)
    return fetch
  }
  const hanging = new Promise<never>(() => undefined)
  /** Aborts when what nobody holds has been collected. */
  const abandoned = async (controller: AbortController) => {
    setFlagsFromString("--expose-gc")
    const collect = runInNewContext("gc")
    for (let round = 0; round < 5; round++) {
      collect()
      await new Promise((done) => setTimeout(done, 10))
    }
    controller.abort(reason)
  }

  it("ends before it began", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => json(response, 402, challenge(bank.url)))
    await aborted(bank, shop.url, (abort) => {
      abort()
      return {}
    })
    assert.lengthOf(bank.seen, 0)
  })

  it("ends while the 402 is on its way", async () => {
    const bank = await bankThat()
    const stop: { now?: () => void } = {}
    const shop = await stranger((_, response) => {
      response.writeHead(402).write("{")
      setTimeout(() => stop.now?.(), 20)
    })
    await aborted(bank, shop.url, (abort) => {
      stop.now = abort
      return {}
    })
    assert.lengthOf(bank.seen, 0)
  })

  it("ends while somebody thinks about the price, and the day's cap is free again", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    let asked = 0
    const fetch = await aborted(bank, shop.url, (abort) => ({
      approve: () => {
        if (++asked > 1) return true
        abort()
        return hanging
      }
    }))
    assert.lengthOf(bank.seen, 0)
    assert.strictEqual((await fetch(shop.url)).status, 200)
  })

  it("ends while the cap is being looked up, and what the store sets aside later is given back", async () => {
    const bank = await bankThat()
    const shop = await stranger((_, response) => json(response, 402, challenge(bank.url)))
    const reserved = Promise.withResolvers<boolean>()
    const back = Promise.withResolvers<bigint>()
    await aborted(bank, shop.url, (abort) => ({
      store: {
        reserve: () => {
          abort()
          return reserved.promise
        },
        giveBack: (_, micros) => back.resolve(micros)
      }
    }))
    reserved.resolve(true)
    assert.strictEqual(await back.promise, 10_000n)
  })

  it("ends while the signer thinks, and no signature is shown", async () => {
    const accepts = {
      scheme: "exact",
      network: "eip155:84532",
      amount: "10000",
      asset: terms.asset,
      payTo: terms.receiver,
      maxTimeoutSeconds: 60
    }
    const required = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [accepts] })).toString("base64")
    const shop = await stranger((_, response) => response.writeHead(402, { "payment-required": required }).end())
    const controller = new AbortController()
    const signTypedData = () => {
      controller.abort(reason)
      return hanging
    }
    const fetch = payingFetch({ signer: { address: "0x0000000000000000000000000000000000000001", signTypedData } })
    const error = await fetch(shop.url, { signal: controller.signal }).catch((error) => error)
    assert.strictEqual(error, reason)
    assert.lengthOf(shop.seen, 1)
  })

  it("ends while the wallet pays, and the day's cap is free again", async () => {
    const stop: { now?: () => void } = {}
    let payments = 0
    const bank = await stranger((_, response) => (++payments === 1 ? stop.now?.() : json(response, 201, paid)))
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    const fetch = await aborted(bank, shop.url, (abort) => {
      stop.now = abort
      return {}
    })
    assert.strictEqual((await fetch(shop.url)).status, 200)
  })

  it("ends when it is paid, before anybody saw the proof: nothing is counted, and nobody told of a payment", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    const told: Array<string> = []
    const fetch = await aborted(bank, shop.url, (abort) => ({
      onPayment: ({ amount }) => void told.push(amount),
      fetch: async (input, init) => {
        const answer = await globalThis.fetch(input, init)
        if (init?.method !== "POST") return answer
        const text = await answer.text()
        return Object.defineProperty(new Response(text, answer), "text", {
          value: () => Promise.resolve(text).finally(abort)
        })
      }
    }))
    assert.lengthOf(shop.seen, 1)
    assert.deepStrictEqual(told, [])
    assert.strictEqual((await fetch(shop.url)).status, 200)
  })

  it("ends while the paid call is under way; what may be taken stays counted", async () => {
    const bank = await bankThat()
    const stop: { now?: () => void } = {}
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : stop.now?.()
    )
    const fetch = await aborted(bank, shop.url, (abort) => {
      stop.now = abort
      return {}
    })
    assert.strictEqual((await refusal(fetch(shop.url))).code, "ABOVE_MAX_PER_DAY")
  })

  it("ends between two attempts", async () => {
    const bank = await bankThat()
    const stop: { now?: () => void } = {}
    const shop = await stranger(({ headers }, response) => {
      if (headers["x-payment-proof"] === undefined) return json(response, 402, challenge(bank.url))
      response.writeHead(503, { "retry-after": "50" }).end()
      return setTimeout(() => stop.now?.(), 20)
    })
    await aborted(bank, shop.url, (abort) => {
      stop.now = abort
      return {}
    })
    assert.lengthOf(shop.seen, 2)
  })

  it("ends while the store takes back what was not charged: the answer is there, and lost with the call", async () => {
    const bank = await bankThat({ ...paid, amount: "0.005" })
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.write("first")
    )
    const controller = new AbortController()
    const giveBack = () => {
      controller.abort(reason)
      return hanging
    }
    const fetch = agentOf(bank, { store: { reserve: () => true, giveBack } })
    const answer = await fetch(shop.url, { signal: controller.signal })
    assert.strictEqual(await answer.text().catch((error) => error), reason)
  })

  it("ends by the signal of its request, though nothing holds the copies that were sent", async () => {
    const bank = await bankThat()
    const controller = new AbortController()
    const shop = await stranger(({ headers }, response) => {
      if (headers["x-payment-proof"] === undefined) return json(response, 402, challenge(bank.url))
      response.write("first")
      return abandoned(controller)
    })
    const request = new Request(shop.url, { method: "POST", body: "a question", signal: controller.signal })
    const answer = await agentOf(bank)(request)
    assert.strictEqual(await answer.text().catch((error) => error), request.signal.reason)
  })

  it("ends by the signal of its request beside an option that says nothing", async () => {
    const bank = await bankThat()
    const controller = new AbortController()
    const shop = await stranger((_, response) => {
      response.write("first")
      return abandoned(controller)
    })
    const request = new Request(shop.url, { signal: controller.signal })
    const answer = await agentOf(bank)(request, Object.fromEntries([["signal", undefined]]))
    assert.strictEqual(await answer.text().catch((error) => error), request.signal.reason)
  })

  it("is not one whose request was aborted and which has no signal of its own", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    const request = new Request(shop.url, { signal: AbortSignal.abort(reason) })
    assert.strictEqual((await agentOf(bank)(request, { signal: null })).status, 200)
  })

  it("ends while the paid answer is read", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.write("first")
    )
    const controller = new AbortController()
    const answer = await agentOf(bank)(shop.url, { signal: controller.signal })
    const rest = answer.text()
    controller.abort(reason)
    assert.strictEqual(await rest.catch((error) => error), reason)
  })
})
