import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { createServer } from "node:http"
import * as Rpc from "#layers/RailEvm/Rpc.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { listening } from "./Listening.ts"

/** A node that gives this answer to whatever it is asked, to the question of this number. */
const saying = Effect.fnUntraced(function* (
  answer: object,
  numbered: (asked: number) => number | null = (asked) => asked,
  status = 200
) {
  const server = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (body: string) => {
      response.writeHead(status)
      response.end(JSON.stringify({ jsonrpc: "2.0", id: numbered(JSON.parse(body).id), ...answer }))
    })
  })
  const host = yield* listening(server)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host] }))
  const http = PublicHttp.layer.pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
  const built = yield* Layer.build(Layer.fresh(http))
  return yield* Rpc.make(Redacted.make(`http://${host}/`)).pipe(
    Effect.provideService(PublicHttp, Context.get(built, PublicHttp))
  )
})

const answering = (result: unknown) => saying({ result })

it.effect("an answer to another question is none, and who could not read the question need not know its number", () =>
  Effect.gen(function* () {
    for (const numbered of [(asked: number) => asked + 1, () => null]) {
      const mixed = yield* saying({ result: "0x1" }, numbered)
      assert.strictEqual((yield* Effect.flip(mixed.chainId))._tag, "RAIL_UNAVAILABLE")
    }
    const error = { code: -32_700, message: "parse error" }
    const unread = yield* saying({ error }, () => null)
    assert.strictEqual((yield* Effect.flip(unread.chainId))._tag, "RpcError")
    const others = yield* saying({ error }, (asked) => asked + 1)
    assert.strictEqual((yield* Effect.flip(others.chainId))._tag, "RAIL_UNAVAILABLE")
  })
)

it.effect("a node that refuses us is told of with its status, and no address", () =>
  Effect.gen(function* () {
    for (const [status, answer] of [
      [200, "the node's answer to eth_chainId makes no sense"],
      [401, "the node's answer to eth_chainId (401) makes no sense"]
    ] as const) {
      for (const [said, id] of [
        [{ error: "project blocked" }, 1],
        [{ error: { code: -32_600, message: "Must be authenticated!" } }, 99]
      ] as const) {
        const rpc = yield* saying(said, () => id, status)
        const error = yield* Effect.flip(rpc.chainId)
        assert.strictEqual(error._tag === "RAIL_UNAVAILABLE" && error.reason, answer)
      }
    }
  })
)

it.effect("each question has a number of its own", () =>
  Effect.gen(function* () {
    const numbers: Array<number> = []
    const rpc = yield* saying({ result: "0x1" }, (asked) => {
      numbers.push(asked)
      return asked
    })
    yield* rpc.chainId
    yield* rpc.tip
    assert.strictEqual(new Set(numbers).size, 2)
  })
)

it.effect("a block of another number than was asked for is no answer", () =>
  Effect.gen(function* () {
    const hash = `0x${"ab".repeat(32)}`
    const rpc = yield* answering({ number: "0x5", hash, parentHash: hash, timestamp: "0x1" })
    assert.strictEqual((yield* rpc.blockAt(5n)).number, 5n)
    assert.strictEqual((yield* Effect.flip(rpc.blockAt(6n)))._tag, "RAIL_UNAVAILABLE")
  })
)

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

it.effect("less gas than the call costs before it is made is no answer: nobody would take what is signed for it", () =>
  Effect.gen(function* () {
    const call = { to: "0x1", data: "0x00a1b200" } as const
    const least = 21_000 + 2 * 10 + 2 * 40
    const enough = yield* answering(`0x${least.toString(16)}`)
    assert.strictEqual(yield* enough.estimateGas(call), BigInt(least))
    for (const gas of [0, least - 1]) {
      const wrong = yield* answering(`0x${gas.toString(16)}`)
      assert.strictEqual((yield* Effect.flip(wrong.estimateGas(call)))._tag, "RAIL_UNAVAILABLE")
      assert.strictEqual((yield* Effect.flip(wrong.estimateGas(call, 7n)))._tag, "RAIL_UNAVAILABLE")
    }
  })
)

it("a call was refused by the contract where the node gives its reason or says so, and not where the node failed", () => {
  const isRevert = (code: number, message: string, data?: string) =>
    Rpc.isRevert(new Rpc.RpcError({ code, message, data }))
  assert.isTrue(isRevert(3, "anything"))
  assert.isTrue(isRevert(-32_000, "VM Exception", "0x08c379a0"))
  assert.isTrue(isRevert(-32_000, "Execution Reverted"))
  assert.isTrue(isRevert(-32_015, "VM execution error.", "Reverted 0x08c379a0"))
  assert.isFalse(isRevert(-32_000, "header not found", "0x"))
  assert.isFalse(isRevert(-32_000, "header not found", "https://node.example"))
  assert.isFalse(isRevert(-32_005, "too many requests"))
})

it("a transaction is not taken because it is there already, or there is no gas, in the words of geth, Erigon, Nethermind and Besu", () => {
  const saying = (message: string) => new Rpc.RpcError({ code: -32_000, message, data: undefined })
  const known = ["already known", "ALREADY_EXISTS: already known", "AlreadyKnown", "Known transaction"]
  const old = ["nonce too low: next nonce 5, tx nonce 3", "OldNonce, Current nonce: 5", "Transaction nonce is too low."]
  const poor = [
    "insufficient funds for gas * price + value: balance 0, tx cost 5",
    "InsufficientFunds, Account balance: 0",
    "Upfront cost exceeds account balance",
    "Sender doesn't have enough funds to send tx"
  ]
  for (const message of [...known, ...old]) assert.isTrue(Rpc.hasItAlready(saying(message)), message)
  for (const message of poor) assert.isTrue(Rpc.hasNoGas(saying(message)), message)
  for (const message of ["replacement transaction underpriced", "execution aborted (timeout = 5s)"]) {
    assert.isFalse(Rpc.hasItAlready(saying(message)) || Rpc.hasNoGas(saying(message)), message)
  }
})
