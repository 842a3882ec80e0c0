import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import * as Postgres from "#layers/Postgres.ts"
import * as RailEvm from "#layers/RailEvm.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import { setClock } from "../services/SetClock.ts"
import { listening } from "./Listening.ts"
import { keyOf, options } from "./RailEvmHarness.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

const block = {
  number: "0x64",
  hash: `0x${"aa".repeat(32)}`,
  parentHash: "0x0",
  timestamp: "0xc8",
  baseFeePerGas: "0xf4240"
}
const answers: { readonly [method: string]: unknown } = {
  eth_chainId: "0x14a34",
  eth_getBlockByNumber: block,
  eth_estimateGas: "0x13880",
  eth_maxPriorityFeePerGas: "0x3e8",
  eth_getBalance: "0x0"
}
/** What the contracts say: no authorisation is used, and every payer has a million. */
const said = (data: string) => `0x${(data.startsWith("0x70a08231") ? "f4240" : "0").padStart(64, "0")}`

/** Our own rail, whose relayer has no gas unless the node says otherwise. */
const railOn = Effect.fnUntraced(function* (changed: typeof answers = {}) {
  const server = createServer((request, response) => {
    let text = ""
    request
      .on("data", (chunk) => (text += chunk))
      .on("end", () => {
        const { id, method, params } = JSON.parse(text)
        const known = { ...answers, ...changed }
        const result = known[method] ?? said(params[0].data)
        response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
      })
  })
  const host = yield* listening(server)
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({ ...usual, allowHosts: [host] }))
  const http = PublicHttp.layer.pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
  return yield* Effect.provide(
    RailEvm.make({ ...options, rpcUrl: Redacted.make(`http://${host}/`), key: keyOf("8") }),
    yield* Layer.build(Layer.fresh(http))
  )
})

/** What the operator is told of payments that are turned away. */
const telling = () => {
  const told: Array<string> = []
  const keep = Logger.layer([
    Logger.make(({ message }) => {
      const [first] = Array.isArray(message) ? message : [message]
      if (String(first).includes("turned away")) told.push(String(first))
    })
  ])
  return { told, keep }
}

layer(Postgres.layerTest, { timeout: "60 seconds" })("that payments are turned away", (it) => {
  it.effect("is told once a minute, however many they are, and though the time is set back meanwhile", () =>
    Effect.gen(function* () {
      const { keep, told } = telling()
      const { clock, set } = yield* setClock
      yield* Effect.gen(function* () {
        const { verify } = yield* railOn()
        const turnedAway = Effect.gen(function* () {
          const { _tag } = yield* Effect.flip(verify(authorization()))
          assert.strictEqual(_tag, "RAIL_UNAVAILABLE")
          return told.length
        })
        assert.strictEqual(yield* turnedAway, 1)
        assert.deepStrictEqual(told, ["ALERT: Payments are turned away: the relayer has no gas"])
        yield* TestClock.adjust("59 seconds")
        assert.strictEqual(yield* turnedAway, 1)
        set.by = -3_600_000
        yield* TestClock.adjust("1 second")
        assert.strictEqual(yield* turnedAway, 2)
        assert.strictEqual(yield* turnedAway, 2)
      }).pipe(Effect.provide(keep), Effect.provideService(Clock.Clock, clock))
    })
  )

  it.effect(
    "is told of a node without a new block since a minute, for as long as something of ours waits for one",
    () =>
      Effect.gen(function* () {
        const { keep, told } = telling()
        const sending = { eth_getTransactionCount: "0x0", eth_sendRawTransaction: `0x${"dd".repeat(32)}` }
        const rich = { eth_getBalance: "0xde0b6b3a7640000", ...sending }
        const { settle, verify } = yield* railOn(rich)
        const poorly = yield* railOn({ ...rich, eth_call: `0x${"0".repeat(64)}` })
        const mined = yield* railOn({ ...rich, eth_getTransactionCount: "0x1" })
        yield* TestClock.setTime(250_000)
        // A chain that makes a block only when there is something for it.
        yield* verify(authorization())
        assert.strictEqual((yield* settle(settlement()))._tag, "Pending")
        yield* TestClock.setTime(310_000)
        yield* verify(authorization())
        assert.strictEqual((yield* Effect.flip(poorly.verify(authorization())))._tag, "AUTHORIZATION_REFUSED")
        yield* TestClock.setTime(310_001)
        yield* mined.verify(authorization())
        yield* Effect.gen(function* () {
          for (const rail of [verify, poorly.verify]) {
            const error = yield* Effect.flip(rail(authorization()))
            assert.strictEqual(error._tag, "RAIL_UNAVAILABLE")
            assert.strictEqual(error.reason, "the node has had no new block for too long")
          }
        }).pipe(Effect.provide(keep))
        const alert = "ALERT: Payments are turned away: the node has had no new block for too long"
        assert.deepStrictEqual(told, [alert, alert], "by each")
      })
  )

  it.effect("is not told where blocks come, though something of ours has waited for long", () =>
    Effect.gen(function* () {
      const block = { ...(answers["eth_getBlockByNumber"] as object), timestamp: `0x${(290).toString(16)}` }
      const sending = { eth_getTransactionCount: "0x0", eth_sendRawTransaction: `0x${"dd".repeat(32)}` }
      const { settle, verify } = yield* railOn({
        eth_getBalance: "0xde0b6b3a7640000",
        ...sending,
        eth_getBlockByNumber: block
      })
      yield* TestClock.setTime(230_000)
      yield* settle(settlement())
      yield* TestClock.setTime(350_000)
      yield* verify(authorization())
    })
  )
})
