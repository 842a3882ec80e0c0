import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import * as Postgres from "#layers/Postgres.ts"
import * as RailEvm from "#layers/RailEvm.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { listening } from "./Listening.ts"
import { keyOf, options } from "./RailEvmHarness.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

/** Our own rail on a node that only knows which chain it is on; what it was asked. */
const rail = Effect.gen(function* () {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    let text = ""
    request
      .on("data", (chunk) => (text += chunk))
      .on("end", () => {
        const { id, method } = JSON.parse(text)
        asked.push(method)
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result: "0x14a34" }))
      })
  })
  const host = yield* listening(server)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host] }))
  const http = PublicHttp.layer.pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
  const made = yield* Effect.provide(
    RailEvm.make({ ...options, rpcUrl: Redacted.make(`http://${host}/`), key: keyOf("5") }),
    yield* Layer.build(Layer.fresh(http))
  )
  asked.length = 0
  return { ...made, asked }
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("our own rail", (it) => {
  const lookalike = `0x${"66".repeat(20)}`

  it.effect(
    "takes no token that only looks like money, and no money of another network, and asks no node about it",
    () =>
      Effect.gen(function* () {
        const { asked, settle, verify } = yield* rail
        const known = settlement()
        for (const [changed, reason] of [
          [{ asset: lookalike }, "invalid_payload"],
          [{ network: "base-mainnet" }, "invalid_network"]
        ] as const) {
          const authorization = { ...known.authorization, ...changed }
          const refused = yield* Effect.flip(verify(authorization))
          assert.deepInclude(refused, { _tag: "AUTHORIZATION_REFUSED", reason })
          const outcome = yield* settle({ ...known, authorization })
          assert.deepStrictEqual(outcome, { _tag: "Refused", reason: "invalid_payload" })
        }
        assert.deepStrictEqual(asked, [])
      })
  )

  it.effect("does not refuse what another rail may have moved", () =>
    Effect.gen(function* () {
      const { settle } = yield* rail
      const known = settlement()
      const authorization = { ...known.authorization, asset: lookalike }
      assert.deepStrictEqual(yield* settle({ ...known, authorization, askedBefore: true }), {
        _tag: "Pending",
        transaction: undefined
      })
      const transaction = `0x${"aa".repeat(32)}`
      assert.deepStrictEqual(yield* settle({ ...known, authorization, transaction }), { _tag: "Pending", transaction })
    })
  )
})
