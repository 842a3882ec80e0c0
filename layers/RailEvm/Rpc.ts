import { Data, Duration, Effect, Option, Redacted, Ref, Schema, SchemaTransformation } from "effect"
import { PublicHttp } from "#services/PublicHttp.ts"
import { RailUnavailable } from "#services/Rail.ts"
import * as JsonHttp from "../Rail/JsonHttp.ts"

/** The node answered with an error: it understood the question. */
export class RpcError extends Data.TaggedError("RpcError")<{
  readonly code: number
  readonly message: string
  readonly data: string | undefined
}> {}

export type Hex = `0x${string}`
export const isHex = (text: string): text is Hex => /^0x[0-9a-fA-F]*$/.test(text)
export const Hex = Schema.String.pipe(Schema.refine((text): text is Hex => isHex(text)))

/** Whether two hashes are the same, however their letters are written. */
export const isSame = (hash: string, other: string): boolean => hash.toLowerCase() === other.toLowerCase()

/** A number as nodes write it. */
const Quantity = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{1,64}$/)).pipe(
  Schema.decodeTo(
    Schema.BigInt,
    SchemaTransformation.transform({ decode: (text: string) => BigInt(text), encode: (n) => `0x${n.toString(16)}` })
  )
)
const quantity = (n: bigint): Hex => `0x${n.toString(16)}`

/** A place in a block. No block has so many logs that it would not fit into four bytes, as which it is kept. */
const LogIndex = Quantity.check(Schema.isLessThanBigInt(1n << 31n))

const Log = Schema.Struct({
  address: Schema.String,
  topics: Schema.Array(Schema.String),
  data: Hex,
  logIndex: LogIndex,
  transactionHash: Schema.NullOr(Schema.String)
})
export type Log = typeof Log.Type
const Receipt = Schema.Struct({
  transactionHash: Schema.String,
  blockHash: Schema.String,
  blockNumber: Quantity,
  status: Quantity,
  logs: Schema.Array(Log)
})
export type Receipt = typeof Receipt.Type
const Block = Schema.Struct({
  number: Quantity,
  hash: Schema.String,
  parentHash: Schema.String,
  timestamp: Quantity,
  baseFeePerGas: Schema.optional(Schema.NullOr(Quantity))
})
export type Block = typeof Block.Type
const Transaction = Schema.Struct({
  to: Schema.NullOr(Schema.String),
  input: Schema.String,
  blockNumber: Schema.NullOr(Quantity),
  blockHash: Schema.optional(Schema.NullOr(Schema.String))
})
export type Transaction = typeof Transaction.Type

/** What we ask of an Ethereum node. An answer that is not what was asked for is no answer. */
export const make = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const ask = JsonHttp.make(yield* PublicHttp)
  const address = new URL(Redacted.value(url))
  const timeout = Duration.seconds(10)
  // What stands between us and the nodes may tell our questions apart by nothing else, and mix up their answers.
  const numbers = yield* Ref.make(0)

  const request = Effect.fnUntraced(function* (method: string, params: ReadonlyArray<unknown>) {
    const id = yield* Ref.updateAndGet(numbers, (last) => last + 1)
    const body = { jsonrpc: "2.0", id, method, params }
    const { body: said, status } = yield* ask({ method: "POST", url: address, body, timeout })
    const answer = decodeAnswer(said)
    if (Option.isNone(answer)) return yield* nonsense(method, status)
    const { error, id: answered, result } = answer.value
    // Whoever could not read a question does not know its number.
    if (answered !== id && (error == null || answered != null)) return yield* nonsense(method, status)
    if (error == null) return result
    const { code, message } = error
    return yield* new RpcError({ code, message, data: typeof error.data === "string" ? error.data : undefined })
  })
  const asking =
    <A>(schema: Schema.Codec<A, unknown>) =>
    (method: string, params: ReadonlyArray<unknown>) => {
      const decode = Schema.decodeUnknownOption(schema)
      return Effect.flatMap(request(method, params), (result) =>
        Option.match(decode(result), { onNone: () => nonsense(method), onSome: Effect.succeed })
      )
    }
  const number = asking(Quantity)
  const data = asking(Hex)
  const block = asking(Block)
  const receipt = asking(Schema.NullOr(Receipt))
  const transaction = asking(Schema.NullOr(Transaction))
  const logs = asking(Schema.Array(Log))
  const text = asking(Schema.String)

  return {
    chainId: number("eth_chainId", []),
    head: block("eth_getBlockByNumber", ["latest", false]),
    blockAt: (at: bigint) =>
      Effect.filterOrElse(
        block("eth_getBlockByNumber", [quantity(at), false]),
        (found) => found.number === at,
        () => nonsense("eth_getBlockByNumber")
      ),
    balance: (address: string) => number("eth_getBalance", [address, "latest"]),
    tip: number("eth_maxPriorityFeePerGas", []),
    transactionCount: (address: string, at: bigint | "latest") =>
      number("eth_getTransactionCount", [address, at === "latest" ? at : quantity(at)]),
    call: (call: Call, at: bigint | "latest" = "latest") =>
      data("eth_call", [call, at === "latest" ? at : quantity(at)]),
    // Signed with less, a transaction would be taken by nobody, and neither would any after it.
    estimateGas: (call: Call, at: bigint | "latest" = "latest") =>
      Effect.filterOrElse(
        number("eth_estimateGas", at === "latest" ? [call] : [call, quantity(at)]),
        (gas) => gas >= leastGas(call),
        () => nonsense("eth_estimateGas")
      ),
    // That of another transaction of the same payer may show the same transfer.
    receipt: (hash: string) =>
      Effect.filterOrElse(
        receipt("eth_getTransactionReceipt", [hash]),
        (found) => found === null || isSame(found.transactionHash, hash),
        () => nonsense("eth_getTransactionReceipt")
      ),
    transaction: (hash: string) => transaction("eth_getTransactionByHash", [hash]),
    logs: ({ address, from, to, topics }: LogFilter) =>
      logs("eth_getLogs", [{ address, topics, fromBlock: quantity(from), toBlock: quantity(to) }]),
    send: (raw: string) => text("eth_sendRawTransaction", [raw])
  }
})
export type Rpc = Effect.Success<ReturnType<typeof make>>

export interface Call {
  readonly to: string
  readonly data: Hex
  readonly from?: string
}

/** What a transaction costs for being one that carries these bytes (EIP-7623): any call of a contract takes more. */
const leastGas = ({ data }: Call): bigint =>
  (data.slice(2).match(/../g) ?? []).reduce((gas, byte) => gas + (byte === "00" ? 10n : 40n), 21_000n)

export interface LogFilter {
  readonly address: string
  /** In their places; any one of several. */
  readonly topics: ReadonlyArray<string | ReadonlyArray<string>>
  readonly from: bigint
  readonly to: bigint
}

const decodeAnswer = Schema.decodeUnknownOption(
  Schema.Struct({
    id: Schema.optional(Schema.Unknown),
    result: Schema.optional(Schema.Unknown),
    error: Schema.optional(
      Schema.NullOr(
        Schema.Struct({ code: Schema.Finite, message: Schema.String, data: Schema.optional(Schema.Unknown) })
      )
    )
  })
)

/** What is not told with the status 200 has one that may tell the operator more: of a key that nobody knows, or of another address. */
const nonsense = (method: string, status = 200) => {
  const answer = `the node's answer to ${method}${status === 200 ? "" : ` (${status})`}`
  return Effect.fail(new RailUnavailable({ reason: `${answer} makes no sense` }))
}

/** Whether the node ran the call and the contract refused it; otherwise the node itself failed. */
export const isRevert = ({ code, data = "0x", message }: RpcError): boolean =>
  code === 3 || (data !== "0x" && isHex(data)) || /^reverted/i.test(data) || /revert/i.test(message)

/** Whether a node did not take a transaction because its sender cannot pay for the gas. Each kind of node has its own words. */
export const hasNoGas = ({ message }: RpcError): boolean =>
  /insufficient ?funds|doesn't have enough funds|upfront cost exceeds/i.test(message)
/** Whether it did not because it has it, or its block. */
export const hasItAlready = ({ message }: RpcError): boolean =>
  /already ?known|known transaction|already imported|nonce (?:is )?too low|oldnonce/i.test(message)

/** A node that answers with an error where none can be meant is as good as away. */
export const unexpected = ({ message }: RpcError) =>
  new RailUnavailable({ reason: `the node says: ${message.slice(0, 200).replace(/https?:\/\/\S+/g, "…")}` })
