import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import * as Rpc from "#layers/RailEvm/Rpc.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { listening } from "./Listening.ts"

/** A node that gives this result to whatever it is asked. */
const answering = Effect.fnUntraced(function* (result: unknown) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result })))
  })
  const host = yield* listening(server)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host] }))
  const http = PublicHttp.layer.pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
  const built = yield* Layer.build(Layer.fresh(http))
  return yield* Rpc.make(Redacted.make(`http://${host}/`)).pipe(
    Effect.provideService(PublicHttp, Context.get(built, PublicHttp))
  )
})

it.effect("a receipt of another transaction than was asked for is no answer", () =>
  Effect.gen(function* () {
    const [asked, other] = [`0x${"aB".repeat(32)}`, `0x${"cd".repeat(32)}`]
    const rpc = yield* answering({
      transactionHash: asked.toLowerCase(),
      blockHash: other,
      blockNumber: "0x5",
      status: "0x1",
      logs: []
    })
    assert.strictEqual((yield* rpc.receipt(asked))?.blockNumber, 5n)
    const { _tag } = yield* Effect.flip(rpc.receipt(other))
    assert.strictEqual(_tag, "RAIL_UNAVAILABLE")
    assert.isNull(yield* (yield* answering(null)).receipt(other))
  })
)

it.effect("a log in a place that no block has is no answer", () =>
  Effect.gen(function* () {
    const log = (logIndex: string) => ({ address: "0x1", topics: [], data: "0x", logIndex, transactionHash: null })
    const asked = { address: "0x1", topics: [], from: 0n, to: 1n }
    const last = yield* answering([log("0x7fffffff")])
    assert.strictEqual((yield* last.logs(asked))[0]?.logIndex, 2n ** 31n - 1n)
    const beyond = yield* answering([log("0x80000000")])
    assert.strictEqual((yield* Effect.flip(beyond.logs(asked)))._tag, "RAIL_UNAVAILABLE")
  })
)

it("a call was refused by the contract where the node gives its reason or says so, and not where the node failed", () => {
  const isRevert = (code: number, message: string, data?: string) =>
    Rpc.isRevert(new Rpc.RpcError({ code, message, data }))
  assert.isTrue(isRevert(3, "anything"))
  assert.isTrue(isRevert(-32_000, "VM Exception", "0x08c379a0"))
  assert.isTrue(isRevert(-32_000, "Execution Reverted"))
  assert.isFalse(isRevert(-32_000, "header not found", "0x"))
  assert.isFalse(isRevert(-32_000, "header not found", "https://node.example"))
  assert.isFalse(isRevert(-32_005, "too many requests"))
})
