import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { balance, buyer, charged, paidCall, seller, send, server } from "./GatewayHarness.ts"

const funds = 1_000_000n

/** Answers with these bytes, whatever was asked. */
const answering = (text: string) => seller((request) => void request.socket.write(text))

layer(server, { timeout: "60 seconds", excludeTestServices: true })("an answer that cannot be passed on", (it) => {
  const chunks = "4\r\nbody\r\n0\r\n\r\n"
  for (const [name, text, reason] of [
    ["is no HTTP", "SSH-2.0-OpenSSH_9.7\r\n", "malformed_response"],
    ["has two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "malformed_response"],
    ["has a status that is none", "HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nok", "malformed_response"],
    ["folds a header", "HTTP/1.1 200 OK\r\nX-Long: a\r\n b\r\nContent-Length: 2\r\n\r\nok", "malformed_response"],
    ["has a chunk of no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed_response"],
    ["has a header of 40 KB", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(40_000)}\r\n\r\n`, "headers_too_large"],
    [
      "is coded for the hop",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunks}`,
      "unsupported_transfer_coding"
    ],
    ["permits what nobody asked for", "HTTP/1.1 100 Continue\r\n\r\n", "unexpected_informational"],
    [
      "switches protocols",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
      "unexpected_informational"
    ],
    [
      "is a proxy's, which asks us to log in",
      'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="a"\r\nContent-Length: 0\r\n\r\n',
      "proxy_authentication_required"
    ],
    ["never ends its hints", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(17), "unexpected_informational"]
  ] as const) {
    it.effect(`because it ${name}: 502 says so, and the payer loses nothing`, () =>
      Effect.gen(function* () {
        const shop = yield* answering(text)
        const agent = yield* buyer(funds)
        const { headers, json, status } = yield* paidCall(agent, shop.path)
        assert.deepStrictEqual([status, json.code], [502, "ORIGIN_BAD_ANSWER"])
        assert.deepStrictEqual([json.details.failure, json.details.reason], ["origin_bad_answer", reason])
        assert.isUndefined(headers["payment-response"])
        assert.deepStrictEqual(yield* balance(agent.purse), { posted: funds, held: 0n })
        const run = yield* send(`/v1/x402/endpoints/${shop.endpoint.id}/test`, {
          method: "POST",
          headers: { authorization: `Bearer ${shop.key}` }
        })
        const { detail, status: fared } = run.json.data.steps[3]
        assert.strictEqual(fared, "failed")
        assert.include(detail, `ORIGIN_BAD_ANSWER (${reason})`)
      })
    )
  }

  it.effect("has no length when its status says that it has no body", () =>
    Effect.gen(function* () {
      const shop = yield* answering("HTTP/1.1 204 No Content\r\nContent-Length: 4\r\nX-Kept: 1\r\n\r\n")
      const agent = yield* buyer(funds)
      const { headers, status } = yield* paidCall(agent, shop.path)
      assert.deepStrictEqual([status, headers["content-length"], headers["x-kept"]], [204, undefined, "1"])
      assert.strictEqual(yield* charged(agent.purse, funds), 10_000n)
    })
  )
})
