// JSON-RPC 2.0 of nodes of Base, as much of it as clients ask before they sign a payment.
import { type RpcAnswer, rpcAnswer, type RpcRequest, rpcRequest } from "./NodeRpc.ts"

export const EvmRpcRequest = rpcRequest("EvmRpcRequest")
export const EvmRpcAnswer = rpcAnswer("EvmRpcAnswer")

interface Token {
  readonly address: string
  readonly name: string
  readonly symbol: string
  readonly version: string
}

/** What a node knows at this moment. */
export interface EvmChain {
  readonly chainId: bigint
  readonly block: number
  /** Tokens with 6 decimals. */
  readonly tokens: ReadonlyArray<Token>
}

/** The answer of a node that knows this and no more. */
export const answerEvmRpc = ({ id, method, params = [] }: RpcRequest, chain: EvmChain): RpcAnswer => {
  const result = (value: string): RpcAnswer => ({ jsonrpc: "2.0", id, result: value })
  const error = (code: number, message: string): RpcAnswer => ({ jsonrpc: "2.0", id, error: { code, message } })
  switch (method) {
    case "eth_chainId":
      return result(`0x${chain.chainId.toString(16)}`)
    case "net_version":
      return result(String(chain.chainId))
    case "eth_blockNumber":
      return result(`0x${chain.block.toString(16)}`)
    case "eth_call": {
      const {
        data,
        input = data,
        to
      }: { readonly data?: unknown; readonly input?: unknown; readonly to?: unknown } = Object(params[0])
      if (typeof to !== "string" || typeof input !== "string") return error(-32602, "invalid argument 0")
      const token = chain.tokens.find(({ address }) => address.toLowerCase() === to.toLowerCase())
      // Where no contract is, a call does nothing.
      if (token === undefined) return result("0x")
      const view = views.get(input.slice(0, 10).toLowerCase())
      return view === undefined ? error(3, "execution reverted") : result(`0x${view(token)}`)
    }
    default:
      return error(-32601, "Method not found")
  }
}

const word = (value: number | bigint): string => value.toString(16).padStart(64, "0")

/** A string as contracts return one: where it begins, its length, and its bytes in whole words. */
const text = (value: string): string => {
  const bytes = Buffer.from(value)
  return word(32) + word(bytes.length) + bytes.toString("hex").padEnd(Math.ceil(bytes.length / 32) * 64, "0")
}

/** Everybody has enough, and has allowed as much: what is in a wallet the ledger says when the payment arrives. */
const enough = (): string => word(10n ** 15n)

/** What the contract of a token tells, by the selector of the function. */
const views: ReadonlyMap<string, (token: Token) => string> = new Map([
  ["0x70a08231", enough], // balanceOf(address)
  ["0xdd62ed3e", enough], // allowance(address,address)
  ["0x313ce567", () => word(6)], // decimals()
  ["0x95d89b41", ({ symbol }: Token) => text(symbol)], // symbol()
  ["0x06fdde03", ({ name }: Token) => text(name)], // name()
  ["0x54fd4d50", ({ version }: Token) => text(version)] // version()
])
