import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { Witness, layer as witnessLayer } from "#layers/RailEvm/Witness.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { listening } from "./Listening.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

/** A witness of Base Sepolia over a node of this chain, on which every authorisation is used; and what the node is asked. */
const witnessOn = Effect.fnUntraced(function* (chainId: number) {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { method } = JSON.parse(Buffer.concat(chunks).toString())
      asked.push(method)
      const result = method === "eth_chainId" ? `0x${chainId.toString(16)}` : `0x${"1".padStart(64, "0")}`
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result }))
    })
  })
  const host = yield* listening(server)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host] }))
  const options = { network: "base-sepolia", rpcUrl: Redacted.make(`http://${host}/`), confirmations: 2 } as const
  const layer = witnessLayer(options).pipe(
    Layer.provide(PublicHttp.layer),
    Layer.provide(Layer.effect(PublicHttpPolicy, policy))
  )
  return { asked, witness: Context.get(yield* Layer.build(Layer.fresh(layer)), Witness) }
})

it.effect("a node of the chain that is meant says whether an authorisation is used", () =>
  Effect.gen(function* () {
    const { asked, witness } = yield* witnessOn(84_532)
    assert.isTrue(yield* witness.isUsed(settlement()))
    assert.deepStrictEqual(asked, ["eth_chainId", "eth_call"])
  })
)

it.effect("a node of another chain is no witness: what is used there may be unused where the money is", () =>
  Effect.gen(function* () {
    const { witness } = yield* witnessOn(1)
    for (const asked of [Effect.asVoid(witness.isUsed(settlement())), Effect.asVoid(witness.testify(settlement()))]) {
      const { _tag, reason } = yield* Effect.flip(asked)
      assert.strictEqual(_tag, "RAIL_UNAVAILABLE")
      assert.include(reason, "a node of chain 1")
    }
  })
)

it.effect("the node is not asked about an authorisation for another network", () =>
  Effect.gen(function* () {
    const { asked, witness } = yield* witnessOn(84_532)
    const elsewhere = settlement({ authorization: authorization({ network: "base-mainnet" }) })
    assert.isFalse(yield* witness.isUsed(elsewhere))
    assert.isUndefined(yield* witness.testify(elsewhere))
    assert.deepStrictEqual(asked, [])
  })
)
