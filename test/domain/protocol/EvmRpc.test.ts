import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import { createPublicClient, custom, erc20Abi, getAddress } from "viem"
import { baseSepolia } from "viem/chains"
import { assetOf } from "#domain/Network.ts"
import { answerEvmRpc } from "#domain/protocol/EvmRpc.ts"

const usdc = { ...assetOf("base-sepolia", "USDC"), symbol: "USDC" }
const chain = { chainId: 84_532n, block: 255, tokens: [usdc] }
const ask = (method: string, ...params: ReadonlyArray<Schema.Json>) => {
  const answer = answerEvmRpc({ jsonrpc: "2.0", id: "a", method, params }, chain)
  assert.deepStrictEqual([answer.jsonrpc, answer.id], ["2.0", "a"])
  return "result" in answer ? answer.result : answer.error.code
}
/** A library of somebody else, for which this is the chain. */
const client = createPublicClient({
  chain: baseSepolia,
  transport: custom({
    request: async ({ method, params }: { readonly method: string; readonly params?: ReadonlyArray<Schema.Json> }) =>
      ask(method, ...(params ?? []))
  })
})
const token = { address: getAddress(usdc.address), abi: erc20Abi } as const
const somebody = getAddress(`0x${"ab".repeat(20)}`)

describe("the sandbox's node of Base", () => {
  it("shows every address enough of a token, and what the token is", async () => {
    const balance = await client.readContract({ ...token, functionName: "balanceOf", args: [somebody] })
    const allowance = await client.readContract({ ...token, functionName: "allowance", args: [somebody, somebody] })
    assert.deepStrictEqual([balance, allowance], [10n ** 15n, 10n ** 15n])
    assert.strictEqual(await client.readContract({ ...token, functionName: "decimals" }), 6)
    assert.strictEqual(await client.readContract({ ...token, functionName: "symbol" }), "USDC")
    assert.strictEqual(await client.readContract({ ...token, functionName: "name" }), usdc.name)
  })

  it("is on the chain that offers name", async () => {
    assert.deepStrictEqual([await client.getChainId(), await client.getBlockNumber()], [84_532, 255n])
    assert.strictEqual(ask("net_version"), "84532")
  })

  it("has no other contract, no other function and no other method, and says so", () => {
    assert.strictEqual(ask("eth_call", { to: somebody, data: "0x70a08231" }, "latest"), "0x")
    assert.strictEqual(ask("eth_call", { to: usdc.address, data: "0xa9059cbb" }, "latest"), 3)
    assert.strictEqual(ask("eth_call", { to: usdc.address }, "latest"), -32_602)
    assert.strictEqual(ask("eth_call"), -32_602)
    assert.strictEqual(ask("eth_sendRawTransaction", "0x"), -32_601)
  })
})
