import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { seller, send, serverWith, tenant } from "./GatewayHarness.ts"

layer(serverWith({ TURNPIKE_RATE_LIMIT: "5" }), { timeout: "60 seconds", excludeTestServices: true })(
  "whoever says who he is, where some callers pay less",
  (it) => {
    it.effect("waits after too many made-up names, and whoever is known or says nothing does not", () =>
      Effect.gen(function* () {
        const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0.5 }]
        const { backend, path } = yield* seller((_, response) => response.end(), { volumeDiscounts })
        const { key } = yield* tenant
        const asked = (headers: Record<string, string>) => Effect.map(send(path, { headers }), ({ status }) => status)
        const showing = (token: string) => asked({ authorization: `Bearer ${token}` })
        const madeUp = (index: number) => showing(`${key.slice(0, -8)}${String(index).padStart(8, "0")}`)
        assert.strictEqual(yield* showing(key), 402)
        const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6, 7, 8], madeUp)
        assert.deepStrictEqual(answers, [402, 402, 402, 402, 402, 402, 429, 429])
        assert.strictEqual(yield* asked({ "sign-in-with-x": "e30=" }), 429)
        const refused = yield* send(path, { headers: { authorization: `Bearer ${key}0` } })
        assert.strictEqual(refused.json.code, "RATE_LIMIT_EXCEEDED")
        assert.isAbove(Number(refused.headers["retry-after"]), 0)
        for (let call = 0; call < 10; call++) assert.strictEqual(yield* showing(key), 402)
        assert.strictEqual(yield* asked({}), 402)
        assert.strictEqual(backend.seen.length, 0)
      })
    )
  }
)
