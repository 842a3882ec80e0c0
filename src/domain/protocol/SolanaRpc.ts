// JSON-RPC 2.0 of Solana nodes, as much of it as a client needs to sign a payment.
import type { Schema } from "effect"
import { isOnCurve } from "../Edwards25519.ts"
import { encodeBase58 } from "../Network.ts"
import { type RpcAnswer, rpcAnswer, type RpcRequest, rpcRequest } from "./NodeRpc.ts"
import { addressBytes, programs, sameBytes } from "./SolanaKeys.ts"
import { decodeTransaction, type SolanaTransaction } from "./SolanaTransaction.ts"

export const SolanaRpcRequest = rpcRequest("SolanaRpcRequest")
export const SolanaRpcAnswer = rpcAnswer("SolanaRpcAnswer")

/** What a node knows at this moment. */
export interface RpcChain {
  readonly slot: number
  readonly blockhash: string
  /** Mints with 6 decimals. */
  readonly mints: ReadonlyArray<string>
}

/** How many blocks a blockhash lives. */
const blockhashLife = 150
const nodeVersion = "2.2.0"

/** The answer of a node that knows this and no more. */
export const answerSolanaRpc = ({ id, method, params = [] }: RpcRequest, chain: RpcChain): RpcAnswer => {
  const result = (value: Schema.Json): RpcAnswer => ({ jsonrpc: "2.0", id, result: value })
  const at = (value: Schema.Json) => result({ context: { apiVersion: nodeVersion, slot: chain.slot }, value })
  const error = (code: number, message: string): RpcAnswer => ({ jsonrpc: "2.0", id, error: { code, message } })
  switch (method) {
    case "getAccountInfo": {
      const [address, options] = params
      const bytes = typeof address === "string" ? addressBytes(address) : undefined
      if (bytes === undefined) return error(-32602, "Invalid param: Invalid")
      const account = chain.mints.some((mint) => mint === address) ? mintAccount : tokenAccount(bytes, chain)
      if (account === undefined) return at(null)
      const data = accountData(account, options)
      if (data === undefined) return error(-32602, "Invalid params: unsupported encoding or slice")
      const { bytes: content, lamports } = account
      return at({
        executable: false,
        lamports,
        owner: encodeBase58(programs.token),
        rentEpoch,
        space: content.length,
        data
      })
    }
    case "getTokenAccountBalance": {
      const [address] = params
      const bytes = typeof address === "string" ? addressBytes(address) : undefined
      if (bytes === undefined) return error(-32602, "Invalid param: Invalid")
      return tokenAccount(bytes, chain) === undefined
        ? error(-32602, "Invalid param: could not find account")
        : at(tokenAmount)
    }
    case "getLatestBlockhash":
      return at({ blockhash: chain.blockhash, lastValidBlockHeight: chain.slot + blockhashLife })
    case "simulateTransaction": {
      const [transaction, options] = params
      const {
        encoding,
        replaceRecentBlockhash
      }: { readonly encoding?: unknown; readonly replaceRecentBlockhash?: unknown } = Object(options)
      if (encoding !== "base64") return error(-32602, "Invalid params: unsupported encoding")
      const decoded = typeof transaction === "string" ? decodeTransaction(transaction) : undefined
      if (decoded === undefined) return error(-32602, "invalid transaction")
      const replaced = { blockhash: chain.blockhash, lastValidBlockHeight: chain.slot + blockhashLife }
      const replacement: Record<string, Schema.Json> =
        replaceRecentBlockhash === true ? { replacementBlockhash: replaced } : {}
      return at({ ...simulated(decoded), accounts: null, logs: [], returnData: null, ...replacement })
    }
    case "getVersion":
      return result({ "feature-set": 0, "solana-core": nodeVersion })
    case "getHealth":
      return result("ok")
    default:
      return error(-32601, "Method not found")
  }
}

/** A u64 whose usual value no JSON number of ours can carry; accounts from before that have 0. */
const rentEpoch = 0

interface RpcAccount {
  readonly lamports: number
  readonly bytes: Buffer
  /** The same as `jsonParsed` shows it. */
  readonly parsed: Schema.Json
}

/** An SPL mint: no authority, a supply, decimals, initialised, nobody who freezes. */
const supply = 10n ** 15n
const mintBytes = Buffer.alloc(82)
mintBytes.writeBigUInt64LE(supply, 36)
mintBytes.set([6, 1], 44)

const mintAccount: RpcAccount = {
  lamports: 1_461_600,
  bytes: mintBytes,
  parsed: {
    type: "mint",
    info: { decimals: 6, freezeAuthority: null, isInitialized: true, mintAuthority: null, supply: String(supply) }
  }
}

const nobody = new Uint8Array(32)

/** What is in every account of tokens. */
const tokenAmount = {
  amount: String(supply),
  decimals: 6,
  uiAmount: Number(supply / 1_000_000n),
  uiAmountString: String(supply / 1_000_000n)
}

/**
 * The account of tokens at an address that no key can have, because clients look for those of the payer and of the seller before
 * they sign. Whose it is cannot be told from the address, so each of them is open and has enough: what is in a wallet the ledger
 * says when the payment arrives. Undefined where a key can be.
 */
const tokenAccount = (address: Uint8Array, { mints: [mint = ""] }: RpcChain): RpcAccount | undefined => {
  if (isOnCurve(address)) return undefined
  const bytes = Buffer.alloc(165)
  bytes.set(addressBytes(mint) ?? nobody)
  bytes.writeBigUInt64LE(supply, 64)
  bytes[108] = 1 // initialised
  return {
    lamports: 2_039_280,
    bytes,
    parsed: {
      type: "account",
      info: {
        isNative: false,
        mint,
        owner: encodeBase58(nobody),
        state: "initialized",
        tokenAmount
      }
    }
  }
}

/** What an instruction of each program takes at most of those that payments are made of. */
const computeUnits: ReadonlyArray<readonly [program: Uint8Array, units: number]> = [
  [programs.computeBudget, 150],
  [programs.token, 6_500],
  [programs.memo, 20_000]
]

/** Clients ask before they sign how much computing a payment takes. Nothing is executed: the ledger says whether there is money. */
const simulated = ({ instructions, keys }: SolanaTransaction) => {
  let unitsConsumed = 0
  for (const { program } of instructions) {
    const known = computeUnits.find(([address]) => sameBytes(address, keys[program] ?? nobody))
    if (known === undefined) return { err: "ProgramAccountNotFound", unitsConsumed: 0 }
    unitsConsumed += known[1]
  }
  return { err: null, unitsConsumed }
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** The account's data as these options ask for it; undefined when they ask for something else. */
const accountData = ({ bytes, parsed }: RpcAccount, options: Schema.Json | undefined): Schema.Json | undefined => {
  const { dataSlice, encoding }: { readonly dataSlice?: unknown; readonly encoding?: unknown } = Object(options)
  const { length = bytes.length, offset = 0 }: { readonly length?: unknown; readonly offset?: unknown } =
    Object(dataSlice)
  if (!isCount(offset) || !isCount(length)) return undefined
  const part = bytes.subarray(offset, offset + length)
  switch (encoding) {
    case undefined:
    case "binary":
      return encodeBase58(part)
    case "base58":
      return [encodeBase58(part), "base58"]
    case "base64":
      return [part.toString("base64"), "base64"]
    case "jsonParsed":
      return { program: "spl-token", parsed, space: bytes.length }
    default:
      return undefined
  }
}
