import { assert, describe, it } from "vitest"
import { turnpike } from "#client/client.ts"
import { channelOf, next, platform } from "./ChannelStranger.ts"
import { agentOf, bankThat, challenge, json, stranger } from "./Strangers.ts"

/** That of workers at the edge of a network, which takes no order to refuse redirects. */
const atTheEdge: typeof fetch = (input, init) =>
  init?.redirect === "error" ? Promise.reject(new TypeError("Invalid redirect value")) : fetch(input, init)

describe("a worker at the edge", () => {
  it("pays from its wallet", async () => {
    const bank = await bankThat()
    const shop = await stranger(({ headers }, response) =>
      headers["x-payment-proof"] === undefined ? json(response, 402, challenge(bank.url)) : response.end("served")
    )
    assert.strictEqual((await agentOf(bank, { fetch: atTheEdge })(shop.url)).status, 200)
  })

  it("hears an agent's events", async () => {
    const server = await platform((connection) => connection.say("evt_1", "task_assigned"))
    assert.deepStrictEqual(await next(channelOf(server, { fetch: atTheEdge }), 1), ["evt_1"])
  })
})

describe("a redirect of the Turnpike", () => {
  it("is no answer, though browsers hide its status", async () => {
    const hidden = () => Promise.resolve(Response.error())
    const api = turnpike({ baseUrl: "http://localhost", fetch: hidden, retries: 0 })
    const error = await api.system.live().catch((error) => error)
    assert.deepStrictEqual([error.code, error.status], ["NETWORK_ERROR", 0])
  })

  it("is not followed by an agent's channel, which tries again", async () => {
    const elsewhere = await stranger((_, response) => response.end())
    const server = await platform((connection) => connection.say("evt_1", "task_assigned"), {
      before: (attempt, response) => {
        if (attempt === 1) response.writeHead(307, { location: elsewhere.url }).end()
        return attempt > 1
      }
    })
    assert.deepStrictEqual(await next(channelOf(server), 1), ["evt_1"])
    assert.lengthOf(elsewhere.seen, 0)
  })
})
