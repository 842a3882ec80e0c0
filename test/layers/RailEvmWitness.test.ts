import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import { Witness, layer as witnessLayer } from "#layers/RailEvm/Witness.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { listening } from "./Listening.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { permitted, settlement } from "./RailFacilitatorHarness.ts"

/** A witness of Base Sepolia over a node of this chain, on which every authorisation is used; and what the node is asked. */
const witnessOn = Effect.fnUntraced(function* (
  chainId: number,
  { used = true as boolean | string, receipt = null as unknown } = {}
) {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
      asked.push(method)
      const state = typeof used === "string" ? used : `0x${(used ? "1" : "0").padStart(64, "0")}`
      const chain = method === "eth_chainId" ? `0x${chainId.toString(16)}` : state
      const result = method === "eth_getTransactionReceipt" ? receipt : chain
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
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

const transaction = `0x${"ab".repeat(32)}`

it.effect(
  "the chain contradicts whoever says he settled what is unused, or by what made another transfer or none",
  () =>
    Effect.gen(function* () {
      const wanted = settlement()
      const { authorization: one } = wanted
      const receipt = (status: string, amount: bigint, nonce = one.nonce) => ({
        transactionHash: transaction,
        blockHash: transaction,
        blockNumber: "0x5",
        status,
        logs: [PlayedNode.use({ ...one, nonce }), PlayedNode.transferred(one, amount)].map((log, index) => ({
          ...log,
          logIndex: `0x${index}`,
          transactionHash: transaction
        }))
      })
      const contradicts = (chain: { readonly used?: boolean | string; readonly receipt?: unknown }, settled = wanted) =>
        Effect.flatMap(witnessOn(84_532, chain), ({ witness }) => witness.contradicts(settled, transaction))
      assert.isFalse(yield* contradicts({ receipt: receipt("0x1", 10_000n) }))
      assert.isFalse(yield* contradicts({ receipt: null }))
      assert.isTrue(yield* contradicts({ used: false }))
      assert.isTrue(yield* contradicts({ receipt: receipt("0x1", 9_999n) }))
      assert.isTrue(yield* contradicts({ receipt: receipt("0x0", 10_000n) }))
      const ofAnother = { receipt: receipt("0x1", 10_000n, `0x${"ee".repeat(32)}`) }
      assert.isTrue(yield* contradicts(ofAnother), "it made the same payer's other payment")
      // Permit2 names no nonce: whatever moved so much may have been it.
      const used = `0x${"f".repeat(64)}`
      assert.isFalse(yield* contradicts({ ...ofAnother, used }, permitted()))
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
    assert.isFalse(yield* witness.contradicts(elsewhere, transaction))
    assert.deepStrictEqual(asked, [])
  })
)
