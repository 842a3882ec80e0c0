// JSON-RPC 2.0 of Solana nodes, as much of it as a client needs to sign a payment.
import { Schema } from "effect"
import { encodeBase58 } from "../Network.ts"
import { addressBytes, programs } from "./SolanaKeys.ts"

/** How many requests come in one batch, and how many parameters in one request. */
export const rpcLimits = { batch: 32, params: 8 }

const RpcId = Schema.Union([Schema.String.check(Schema.isMaxCodePoints(100)), Schema.Int])

export const RpcRequest = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: RpcId,
  method: Schema.String.check(Schema.isMinLength(1), Schema.isMaxCodePoints(100)),
  params: Schema.optionalKey(Schema.Array(Schema.Json).check(Schema.isMaxLength(rpcLimits.params)))
}).annotate({ identifier: "SolanaRpcRequest" })
export type RpcRequest = typeof RpcRequest.Type

export const RpcAnswer = Schema.Union([
  Schema.Struct({ jsonrpc: Schema.Literal("2.0"), id: RpcId, result: Schema.Json }),
  Schema.Struct({
    jsonrpc: Schema.Literal("2.0"),
    id: RpcId,
    error: Schema.Struct({ code: Schema.Int, message: Schema.String })
  })
]).annotate({ identifier: "SolanaRpcAnswer" })
export type RpcAnswer = typeof RpcAnswer.Type

/** What a node knows at this moment. */
export interface RpcChain {
  readonly slot: number
  readonly blockhash: string
  /** Mints with 6 decimals; there are no other accounts. */
  readonly mints: ReadonlyArray<string>
}

/** How many blocks a blockhash lives. */
const blockhashLife = 150
const nodeVersion = "2.2.0"

/** The answer of a node that knows this and no more. */
export const answerRpc = ({ id, method, params = [] }: RpcRequest, chain: RpcChain): RpcAnswer => {
  const result = (value: Schema.Json): RpcAnswer => ({ jsonrpc: "2.0", id, result: value })
  const at = (value: Schema.Json) => result({ context: { apiVersion: nodeVersion, slot: chain.slot }, value })
  const error = (code: number, message: string): RpcAnswer => ({ jsonrpc: "2.0", id, error: { code, message } })
  switch (method) {
    case "getAccountInfo": {
      const [address, options] = params
      if (typeof address !== "string" || addressBytes(address) === undefined) {
        return error(-32602, "Invalid param: Invalid")
      }
      if (!chain.mints.includes(address)) return at(null)
      const data = accountData(options)
      return data === undefined ? error(-32602, "Invalid params: unsupported encoding") : at({ ...mintAccount, data })
    }
    case "getLatestBlockhash":
      return at({ blockhash: chain.blockhash, lastValidBlockHeight: chain.slot + blockhashLife })
    case "getVersion":
      return result({ "feature-set": 0, "solana-core": nodeVersion })
    case "getHealth":
      return result("ok")
    default:
      return error(-32601, "Method not found")
  }
}

/** An SPL mint: no authority, a supply, decimals, initialised, nobody who freezes. */
const supply = 10n ** 15n
const mintBytes = Buffer.alloc(82)
mintBytes.writeBigUInt64LE(supply, 36)
mintBytes.set([6, 1], 44)

/** `rentEpoch` is a u64 whose usual value no JSON number of ours can carry; accounts from before that have 0. */
const mintAccount = {
  executable: false,
  lamports: 1_461_600,
  owner: encodeBase58(programs.token),
  rentEpoch: 0,
  space: mintBytes.length
}

const parsedMint = {
  program: "spl-token",
  parsed: {
    type: "mint",
    info: { decimals: 6, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply: String(supply) }
  },
  space: mintBytes.length
}

/** The account's data as these options ask for it; undefined when they ask for something else. */
const accountData = (options: Schema.Json | undefined): Schema.Json | undefined => {
  const { dataSlice, encoding }: { readonly dataSlice?: unknown; readonly encoding?: unknown } = Object(options)
  const { length = mintBytes.length, offset = 0 } = Object(dataSlice)
  const bytes = mintBytes.subarray(Number(offset), Number(offset) + Number(length))
  switch (encoding) {
    case undefined:
    case "binary":
      return encodeBase58(bytes)
    case "base58":
      return [encodeBase58(bytes), "base58"]
    case "base64":
      return [bytes.toString("base64"), "base64"]
    case "jsonParsed":
      return parsedMint
    default:
      return undefined
  }
}
