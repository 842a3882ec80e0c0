import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import { assetOf, encodeBase58 } from "#domain/Network.ts"
import { answerSolanaRpc } from "#domain/protocol/SolanaRpc.ts"
import { recordings } from "./SvmRecordings.ts"
import { keysOf, messageOf, type Parts, partsOf, wire } from "./SvmTransactions.ts"

const mint = assetOf("solana-devnet", "USDC").address
const chain = { slot: 7, blockhash: keysOf("hash").address, mints: [mint] }
const ask = (method: string, ...params: ReadonlyArray<Schema.Json>) => {
  const answer = answerSolanaRpc({ jsonrpc: "2.0", id: "a", method, params }, chain)
  assert.strictEqual(answer.jsonrpc, "2.0")
  assert.strictEqual(answer.id, "a")
  return "result" in answer ? Object(answer.result) : Object(answer.error)
}

const payment = recordings.usdc.transaction
const unsigned = (change: Partial<Parts>): string => {
  const parts = { ...partsOf(payment), ...change }
  return wire(
    messageOf(parts),
    Array.from({ length: parts.signers }, () => undefined)
  )
}

describe("the Solana node of the sandbox", () => {
  it("shows a mint with 6 decimals that belongs to the token program, in every encoding the same", () => {
    const { context, value } = ask("getAccountInfo", mint, { encoding: "base64" })
    assert.strictEqual(context.slot, 7)
    assert.strictEqual(value.owner, "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
    assert.deepStrictEqual([value.executable, value.space, value.lamports], [false, 82, 1_461_600])
    const bytes = Buffer.from(value.data[0], "base64")
    assert.strictEqual(bytes.length, 82)
    assert.deepStrictEqual([bytes[44], bytes[45]], [6, 1], "decimals, initialised")
    assert.deepStrictEqual([bytes.readUInt32LE(0), bytes.readUInt32LE(46)], [0, 0], "nobody mints, nobody freezes")
    const { parsed } = ask("getAccountInfo", mint, { encoding: "jsonParsed" }).value.data
    assert.deepStrictEqual(parsed, {
      type: "mint",
      info: {
        decimals: 6,
        freezeAuthority: null,
        isInitialized: true,
        mintAuthority: null,
        supply: String(bytes.readBigUInt64LE(36))
      }
    })
    assert.deepStrictEqual(ask("getAccountInfo", mint, { encoding: "base58" }).value.data, [
      encodeBase58(bytes),
      "base58"
    ])
    assert.strictEqual(ask("getAccountInfo", mint).value.data, encodeBase58(bytes))
    const slice = { encoding: "base64", dataSlice: { offset: 44, length: 1 } }
    assert.deepStrictEqual(ask("getAccountInfo", mint, slice).value.data, ["Bg==", "base64"])
  })

  it("has no other account, and says what is no address or no encoding", () => {
    assert.isNull(ask("getAccountInfo", keysOf("nobody").address, { encoding: "base64" }).value)
    for (const params of [[], [1], ["0"], ["x".repeat(1_000_000)], [null]]) {
      assert.strictEqual(ask("getAccountInfo", ...params).code, -32602)
    }
    assert.strictEqual(ask("getAccountInfo", mint, { encoding: "base64+zstd" }).code, -32602)
  })

  it("gives a blockhash that lives 150 blocks, its health and its version", () => {
    assert.deepStrictEqual(ask("getLatestBlockhash").value, { blockhash: chain.blockhash, lastValidBlockHeight: 157 })
    assert.strictEqual(String(ask("getHealth")), "ok")
    assert.match(ask("getVersion")["solana-core"], /^\d+\.\d+\.\d+$/)
  })

  it("says how much computing a payment takes, and knows the programs of payments only", () => {
    const simulate = (transaction: Schema.Json, options: Schema.Json = { encoding: "base64" }) =>
      ask("simulateTransaction", transaction, options)
    const { context, value } = simulate(payment)
    assert.strictEqual(context.slot, 7)
    assert.deepStrictEqual(value, { err: null, unitsConsumed: 26_800, accounts: null, logs: [], returnData: null })
    // Clients ask before there is a blockhash or a signature.
    const early = unsigned({ blockhash: new Uint8Array(32) })
    assert.deepInclude(simulate(early, { encoding: "base64", sigVerify: false, replaceRecentBlockhash: true }).value, {
      err: null,
      replacementBlockhash: { blockhash: chain.blockhash, lastValidBlockHeight: 157 }
    })
    const { instructions, keys } = partsOf(payment)
    const other = keys.map((key, at) => (at === instructions[0]?.program ? new Uint8Array(32).fill(9) : key))
    assert.strictEqual(simulate(unsigned({ keys: other })).value.err, "ProgramAccountNotFound")
    for (const wrong of [null, "", "AAAA", [], payment.slice(4)]) {
      assert.deepStrictEqual(simulate(wrong), { code: -32602, message: "invalid transaction" })
    }
    assert.strictEqual(simulate(payment, { encoding: "base58" }).code, -32602)
  })

  it("does not know other methods", () => {
    for (const method of ["sendTransaction", "toString", "__proto__", "getaccountinfo"]) {
      assert.deepStrictEqual(ask(method), { code: -32601, message: "Method not found" })
    }
  })
})
