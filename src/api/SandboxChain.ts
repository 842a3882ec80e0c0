import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { EvmRpcAnswer, EvmRpcRequest } from "#domain/protocol/EvmRpc.ts"
import { rpcLimits } from "#domain/protocol/NodeRpc.ts"
import { SolanaRpcAnswer, SolanaRpcRequest } from "#domain/protocol/SolanaRpc.ts"
import { documented } from "./Documented.ts"
import { Visitors } from "./Visitors.ts"

const batch = [Schema.isMinLength(1), Schema.isMaxLength(rpcLimits.batch)] as const

const solanaRpc = HttpApiEndpoint.post("solanaRpc", "/solana-rpc", {
  payload: Schema.Union([SolanaRpcRequest, Schema.Array(SolanaRpcRequest).check(...batch)]),
  success: Schema.Union([SolanaRpcAnswer, Schema.Array(SolanaRpcAnswer)])
}).annotateMerge(
  documented({
    summary: "Ask the sandbox's Solana node",
    description:
      "JSON-RPC 2.0 for clients that pay on Solana: give this address as their RPC URL, and they need no network but this. " +
      "`getAccountInfo` (of the mints of USDC and EURC; an address that no key can have is an open account of tokens with enough in it, " +
      "whoever's it is, because the ledger says what is in a wallet; any other account is null), " +
      "`getTokenAccountBalance` (of the same accounts of tokens), `getLatestBlockhash`, " +
      "`simulateTransaction` (in base64: how much computing a payment takes), `getVersion` and `getHealth`; any other method is error " +
      "-32601. One request, or a batch of up to 32. Sandbox only, 404 live.",
    body: { jsonrpc: "2.0", id: 1, method: "getHealth", params: [] },
    answer: { jsonrpc: "2.0", id: 1, result: "ok" }
  })
)

const evmRpc = HttpApiEndpoint.post("evmRpc", "/evm-rpc", {
  payload: Schema.Union([EvmRpcRequest, Schema.Array(EvmRpcRequest).check(...batch)]),
  success: Schema.Union([EvmRpcAnswer, Schema.Array(EvmRpcAnswer)])
}).annotateMerge(
  documented({
    summary: "Ask the sandbox's node of Base",
    description:
      "JSON-RPC 2.0 for clients that look for the payer's money on Base before they pay: the real Base Sepolia knows nothing of wallets " +
      "here, so give them this address as their RPC URL. `eth_call` of the tokens USDC and EURC (`balanceOf` and `allowance`, enough for " +
      "everybody, because the ledger says what is in a wallet; `decimals`, `symbol`, `name`, `version`; anywhere else is no contract), " +
      "`eth_chainId`, `net_version` and `eth_blockNumber`; any other method is error -32601. One request, or a batch of up to 32. " +
      "Sandbox only, 404 live.",
    body: { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] },
    answer: { jsonrpc: "2.0", id: 1, result: "0x14a34" }
  })
)

export class SandboxChainApi extends HttpApiGroup.make("sandbox")
  .add(solanaRpc, evmRpc)
  .middleware(Visitors)
  .prefix("/v1/sandbox")
  .annotateMerge(
    OpenApi.annotations({ title: "Sandbox", description: "What stands for the outside in the sandbox." })
  ) {}
