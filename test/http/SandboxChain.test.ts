import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { assetOf, encodeBase58, parseAddress } from "#domain/Network.ts"
import { associatedTokenAccount, programs } from "#domain/protocol/SolanaKeys.ts"
import { Deployment } from "#services/Deployment.ts"
import { SandboxChain } from "#services/SandboxChain.ts"
import { send, server } from "./GatewayHarness.ts"

const request = (id: number | string, method: string, params: ReadonlyArray<unknown> = []) => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})
const ask = (body: string | object, headers: Record<string, string> = {}) =>
  send("/v1/sandbox/solana-rpc", { method: "POST", body, headers })
const blockhashOf = (answer: unknown): string => Object(answer).result.value.blockhash

/** Another process on the same database, deployed like this. */
const elsewhere = (environment: "sandbox" | "live") =>
  Effect.gen(function* () {
    const deployment = { ...(yield* Deployment), environment }
    const context = yield* Layer.build(Layer.fresh(SandboxChain.layer)).pipe(
      Effect.provideService(Deployment, deployment)
    )
    return yield* Effect.provideContext(SandboxChain, context)
  })

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the sandbox's nodes", (it) => {
  it.effect("shows a mint to anybody who asks as the client does", () =>
    Effect.gen(function* () {
      const mint = assetOf("solana-devnet", "EURC").address
      const body = JSON.stringify(request("0", "getAccountInfo", [mint, { encoding: "base64" }]))
      const headers = {
        "content-type": "application/json; charset=utf-8",
        accept: "application/json",
        "solana-client": "js/5.5.1"
      }
      const { json, status } = yield* ask(body, headers)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual([json.jsonrpc, json.id], ["2.0", "0"])
      assert.strictEqual(json.result.value.owner, "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
      assert.strictEqual(Buffer.from(json.result.value.data[0], "base64")[44], 6)
    })
  )

  it.effect(
    "shows an open account of tokens where the payer's or the seller's must be, and none where a key can be",
    () =>
      Effect.gen(function* () {
        const mint = assetOf("solana-devnet", "USDC").address
        const { feePayer: owner } = yield* SandboxChain
        const account = encodeBase58(associatedTokenAccount(owner, mint, programs.token) ?? new Uint8Array())
        const [raw, parsed, keys, balance, noBalance, noAddress] = (yield* ask([
          request(1, "getAccountInfo", [account, { encoding: "base64" }]),
          request(2, "getAccountInfo", [account, { encoding: "jsonParsed" }]),
          request(3, "getAccountInfo", [owner, { encoding: "base64" }]),
          request(4, "getTokenAccountBalance", [account, { commitment: "confirmed" }]),
          request(5, "getTokenAccountBalance", [owner]),
          request(6, "getTokenAccountBalance", ["nobody"])
        ])).json
        assert.strictEqual(raw.result.value.owner, encodeBase58(programs.token))
        const bytes = Buffer.from(raw.result.value.data[0], "base64")
        assert.deepStrictEqual([bytes.length, encodeBase58(bytes.subarray(0, 32)), bytes[108]], [165, mint, 1])
        const { tokenAmount } = parsed.result.value.data.parsed.info
        const { amount } = tokenAmount
        assert.deepStrictEqual(balance.result.value, tokenAmount)
        assert.deepStrictEqual([noBalance.error.code, noAddress.error.code], [-32602, -32602])
        assert.strictEqual(String(bytes.readBigUInt64LE(64)), amount)
        assert.isAbove(Number(amount), 0)
        assert.isNull(keys.result.value)
      })
  )

  it.effect("answers a batch in order, and each blockhash it gives is another", () =>
    Effect.gen(function* () {
      const batch = [request(1, "getHealth"), request(2, "sendTransaction"), request(3, "getLatestBlockhash")]
      const [health, unknown, latest] = (yield* ask(batch)).json
      assert.deepStrictEqual(health, { jsonrpc: "2.0", id: 1, result: "ok" })
      assert.deepStrictEqual(unknown, { jsonrpc: "2.0", id: 2, error: { code: -32601, message: "Method not found" } })
      assert.strictEqual(latest.id, 3)
      const again = (yield* ask(request(1, "getLatestBlockhash"))).json
      assert.strictEqual(new Set([latest, again].map(blockhashOf)).size, 2)
      assert.isDefined(parseAddress("solana-devnet", blockhashOf(again)), "32 bytes in base58")
    })
  )

  it.effect("refuses what is no JSON-RPC, and a batch of none or of more than 32", () =>
    Effect.gen(function* () {
      const one = request(1, "getHealth")
      const batches = [
        [],
        Array.from({ length: 33 }, () => one),
        [[one]],
        { ...one, jsonrpc: "1.0" },
        { ...one, id: {} }
      ]
      for (const body of batches) {
        const { json, status } = yield* ask(JSON.stringify(body), { "content-type": "application/json" })
        assert.deepStrictEqual([status, json.code], [400, "INVALID_REQUEST"])
      }
      assert.strictEqual((yield* ask(Array.from({ length: 32 }, () => one))).status, 200)
    })
  )

  it.effect(
    "gives the slice of an account that is asked for, and refuses one that does not begin or end anywhere",
    () =>
      Effect.gen(function* () {
        const mint = assetOf("solana-devnet", "USDC").address
        const slices = [{ offset: 44, length: 1 }, { offset: { toString: 1 } }, { length: [] }, { offset: -1 }]
        const [decimals, ...refused] = (yield* ask(
          slices.map((dataSlice, id) => request(id, "getAccountInfo", [mint, { encoding: "base64", dataSlice }]))
        )).json
        assert.deepStrictEqual(decimals.result.value.data, ["Bg==", "base64"])
        for (const answer of refused) assert.strictEqual(answer.error.code, -32602)
      })
  )

  it.effect("has one fee payer and one blockhash a minute, in every process", () =>
    Effect.gen(function* () {
      const here = yield* SandboxChain
      const there = yield* elsewhere("sandbox")
      assert.strictEqual(here.feePayer, there.feePayer)
      assert.strictEqual(parseAddress("solana-devnet", here.feePayer), here.feePayer)
      const minute = Date.UTC(2026, 10, 21, 16, 30)
      assert.strictEqual(here.recentBlockhash(minute), there.recentBlockhash(minute + 59_999))
      assert.notStrictEqual(here.recentBlockhash(minute), here.recentBlockhash(minute + 60_000))
      assert.isDefined(parseAddress("solana-devnet", here.recentBlockhash(minute)))
    })
  )

  it.effect("tells who looks for money on Base that it is there, request by request or all at once", () =>
    Effect.gen(function* () {
      const to = assetOf("base-sepolia", "EURC").address
      const balance = request(1, "eth_call", [{ to, data: `0x70a08231${"0".repeat(64)}` }, "latest"])
      const asking = (body: object) => send("/v1/sandbox/evm-rpc", { method: "POST", body })
      const { json, status } = yield* asking(balance)
      assert.strictEqual(status, 200)
      assert.isAbove(Number(json.result), 0)
      const batch = (yield* asking([balance, request(2, "eth_chainId")])).json
      assert.deepStrictEqual(batch, [json, { jsonrpc: "2.0", id: 2, result: "0x14a34" }])
    })
  )

  it.effect("is not there on a live server", () =>
    Effect.gen(function* () {
      const live = yield* elsewhere("live")
      for (const ask of [live.askSolana, live.askEvm]) {
        const refusal = yield* Effect.flip(ask({ jsonrpc: "2.0", id: 1, method: "getHealth" }))
        assert.strictEqual(refusal._tag, "NOT_FOUND")
      }
    })
  )
})
