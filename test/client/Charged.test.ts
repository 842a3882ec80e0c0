import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { payingFetch } from "#client/client.ts"
import { Deployment } from "#services/Deployment.ts"
import { buyer, charged, seller, server } from "../http/GatewayHarness.ts"
import { agentOf, challenge, json, paid, refusal, stranger } from "./Strangers.ts"

const unit = 1_000_000n

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a seller that is paid for every answer", (it) => {
  it.effect("cannot have the day's cap given back by saying that nothing was charged", () =>
    Effect.gen(function* () {
      const { publicUrl: baseUrl } = yield* Deployment
      const lie = JSON.stringify({ code: "PAYMENT_ALREADY_USED", details: { charged: "0.00" } })
      for (const streamed of [false, true]) {
        const shop = yield* seller(
          (_, response) => {
            response.statusCode = 409
            response.setHeader("content-type", "application/problem+json")
            if (streamed) response.flushHeaders()
            response.end(lie)
          },
          { chargeOn: "response" }
        )
        const agent = yield* buyer(unit)
        const fetch = payingFetch({ baseUrl, apiKey: agent.key, wallet: agent.purse, maxPerDay: "0.01" })
        assert.strictEqual((yield* Effect.promise(() => fetch(`${baseUrl}${shop.path}`))).status, 409)
        assert.strictEqual(yield* charged(agent.purse, unit), 10_000n)
        const again = yield* Effect.promise(() => refusal(fetch(`${baseUrl}${shop.path}`)))
        assert.strictEqual(again.code, "ABOVE_MAX_PER_DAY")
      }
    })
  )
})

describe("a paid call that ends in a 5xx without a receipt", () => {
  /** A Turnpike that answers whatever is paid for with a 500 that carries these headers. */
  const turnpikeThat = (headers: Record<string, string>) =>
    stranger((request, response) => {
      const { host, "x-payment-proof": proof } = request.headers
      if (request.url === "/v1/x402/pay") return json(response, 201, paid)
      if (proof === undefined) return json(response, 402, challenge(`http://${host}`))
      return response.writeHead(500, headers).end("<html>")
    })

  it("may have been charged when it was not the Turnpike that answered", async () => {
    const bank = await turnpikeThat({})
    const fetch = agentOf(bank, { maxPerDay: "0.01" })
    assert.strictEqual((await fetch(bank.url)).status, 500)
    assert.strictEqual((await refusal(fetch(bank.url))).code, "ABOVE_MAX_PER_DAY")
  })

  it("cost nothing when the Turnpike passed on what its origin answered", async () => {
    const bank = await turnpikeThat({ "x-environment": "test" })
    const fetch = agentOf(bank, { maxPerDay: "0.01" })
    assert.strictEqual((await fetch(bank.url)).status, 500)
    assert.strictEqual((await fetch(bank.url)).status, 500)
  })
})
