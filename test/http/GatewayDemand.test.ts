import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { contradictions } from "./Description.ts"
import { buyer, paidCall, send, server } from "./GatewayHarness.ts"
import { baseSeller, decoded } from "./X402Harness.ts"

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a call without payment", (it) => {
  it.effect("a 402 is what the description of the API says, also where version 1 has no way to pay", () =>
    Effect.gen(function* () {
      for (const scheme of ["exact", "upto"] as const) {
        const { path } = yield* baseSeller((_, response) => response.end(), { schemes: [scheme] })
        const { json } = yield* send(path)
        assert.strictEqual(json.accepts.length, scheme === "exact" ? 1 : 0)
        assert.deepStrictEqual(contradictions({ $ref: "#/components/schemas/PaymentOffer" }, json), [], scheme)
      }
    })
  )

  it.effect("a 402 speaks to native, x402 v2, x402 v1 and MPP clients at once", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end(), {
        description: "Prévisions ☀",
        basePrice: 1_500_000n
      })
      const { body, headers, json, status } = yield* send(shop.path)
      assert.strictEqual(status, 402)
      const { endpoint } = shop
      assert.match(json.payment_request_id, /^pr_[\w-]{75}$/)
      const { quote } = json.accepts[0].extra
      const common = {
        scheme: "exact",
        asset: endpoint.assetAddress,
        payTo: endpoint.paymentAddress,
        maxTimeoutSeconds: 300,
        extra: { name: "USDC", version: "2", quote }
      }
      assert.deepInclude(json, {
        x402Version: 1,
        error: "payment_required",
        code: "PAYMENT_REQUIRED",
        accepts: [
          {
            ...common,
            network: "base-sepolia",
            maxAmountRequired: "1500000",
            resource: endpoint.gatewayUrl,
            description: "Prévisions ☀",
            mimeType: "application/json"
          }
        ],
        price: "1.50",
        currency: "USDC",
        network: "base-sepolia",
        receiver: endpoint.paymentAddress,
        expires_in: 60,
        pay_url: endpoint.gatewayUrl.replace(/\/x402\/.*/, "/v1/x402/pay")
      })
      const header = String(headers["payment-required"])
      assert.match(header, /^[A-Za-z0-9+/]*={0,2}$/)
      assert.isBelow(header.length + String(headers["www-authenticate"]).length, 4096)
      assert.deepInclude(decoded(header), {
        x402Version: 2,
        error: "payment_required",
        resource: { url: endpoint.gatewayUrl, description: "Prévisions ☀", mimeType: "application/json" },
        accepts: [{ ...common, network: "eip155:84532", amount: "1500000" }]
      })
      assert.match(
        String(headers["www-authenticate"]),
        /^Payment id="[\w.-]+", realm="[^"]+", method="evm", intent="charge", /
      )
      assert.strictEqual(headers["x-payment-required"], "true")
      assert.strictEqual(headers["cache-control"], "no-store")
      assert.strictEqual(headers["access-control-allow-origin"], "*")
      assert.include(String(headers["access-control-expose-headers"]), "PAYMENT-REQUIRED")
      assert.include(String(headers["vary"]), "X-Payment-Proof")
      assert.strictEqual(headers["x-environment"], "test")
      assert.match(String(headers["x-request-id"]), /^req_/)
      assert.strictEqual(Number(headers["content-length"]), Buffer.byteLength(body))
      assert.strictEqual(shop.backend.seen.length, 0)
    })
  )

  it.effect(
    "the header names the address that was called, as clients compare it; the endpoint is what is paid for",
    () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => response.end(), { path: "/*", method: "ANY" })
        const { gatewayUrl } = shop.endpoint
        for (const more of ["", "?city=K%C3%B6ln&a=1&a=2", "/a/%E6%97%A5?", "/a;b/c?x=%2F"]) {
          const { headers, json } = yield* send(shop.path + more)
          assert.strictEqual(decoded(headers["payment-required"]).resource.url, gatewayUrl + more)
          assert.strictEqual(json.accepts[0].resource, gatewayUrl)
          for (const without of [{ method: "HEAD" }, { headers: { accept: "text/html" } }]) {
            const { headers } = yield* send(shop.path + more, without)
            assert.strictEqual(decoded(headers["payment-required"]).resource.url, gatewayUrl)
          }
        }
        const spelled = yield* send(`/x402/${toTypeId("epd", shop.endpoint.id)}?a=1`)
        assert.strictEqual(decoded(spelled.headers["payment-required"]).resource.url, `${gatewayUrl}?a=1`)
      })
  )

  it.effect("a browser sees a page with the price, and the headers for programs beside it", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end(), { name: "<b>Weather</b>", mpp: false })
      const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
      const { body, headers, status } = yield* send(shop.path, { headers: { accept } })
      assert.strictEqual(status, 402)
      assert.match(String(headers["content-type"]), /^text\/html/)
      assert.include(body, "0.01 USDC")
      assert.include(body, "&lt;b&gt;Weather&lt;/b&gt;")
      assert.strictEqual(decoded(headers["payment-required"]).accepts.length, 1)
      assert.isUndefined(headers["www-authenticate"])
    })
  )

  it.effect("has a head below 4 KB, which proxies accept, whatever it offers and whoever it is for", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end(), {
        description: "ü".repeat(400),
        method: "POST",
        schemes: ["exact", "upto"],
        volumeDiscounts: [{ threshold: 1, priceMultiplier: 0.5 }]
      })
      const payment = Buffer.from(
        JSON.stringify({ x402Version: 2, accepted: { scheme: "exact", network: "eip155:84532" }, payload: {} })
      ).toString("base64")
      const longest = { "x-request-id": "r".repeat(128) }
      const asked = [
        {},
        { accept: "text/html" },
        { "payment-signature": payment },
        { authorization: "Bearer theirs", "payment-signature": payment }
      ]
      for (const headers of asked) {
        const answer = yield* send(shop.path, { method: "POST", headers: { ...headers, ...longest } })
        assert.strictEqual(answer.status, 402)
        const lines = Object.entries(answer.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`)
        const head = `HTTP/1.1 402 Payment Required\r\n${lines.join("")}\r\n`
        // What a server adds that is reached by https.
        const hsts = "strict-transport-security: max-age=31536000\r\n"
        assert.isAtMost(head.length + hsts.length, 4096, Object.keys(headers).join())
        assert.property(decoded(answer.headers["payment-required"]).extensions, "sign-in-with-x")
      }
    })
  )

  it.effect("and with one, is answered with nothing that the description of the API does not name", () =>
    Effect.gen(function* () {
      const { json } = yield* send("/openapi.json")
      const { responses } = json.paths["/x402/{endpointId}"].get
      const agent = yield* buyer(1_000_000n)
      const csv = { "content-type": "text/csv" }
      const shop = yield* baseSeller(
        (request, response) => response.writeHead(request.url === "/a" ? 200 : 404, csv).end("a,b"),
        {
          path: "/*"
        }
      )
      const answers = [
        yield* paidCall(agent, `${shop.path}/a`),
        yield* paidCall(agent, `${shop.path}/b`),
        yield* send(shop.path),
        yield* send(shop.path, { headers: { accept: "text/html" } }),
        yield* send(`${shop.path}0`)
      ]
      const seen = answers.map(
        ({ headers, status }) => [status, String(headers["content-type"]).split(";")[0]] as const
      )
      assert.deepStrictEqual(seen, [
        [200, "text/csv"],
        [404, "text/csv"],
        [402, "application/json"],
        [402, "text/html"],
        [404, "application/problem+json"]
      ])
      for (const [status, type = ""] of seen) {
        const named = Object.keys((responses[status] ?? responses.default).content ?? {})
        assert.isTrue(named.includes(type) || named.includes("*/*"), `${status} ${type}`)
      }
      assert.containsAllKeys(answers[4]?.json, responses.default.content["application/problem+json"].schema.required)
    })
  )
})
