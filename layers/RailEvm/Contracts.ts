import { Effect, Option, Schema } from "effect"
import type { Settlement } from "#domain/ChainSettlement.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { permit2 } from "#domain/protocol/Eip712.ts"
import { type Hex, isHex, type Log, type LogFilter, type Receipt, type Transaction } from "./Rpc.ts"

const exactProxy = "0x402085c248eea27d92e8b30b2c58ed07f9e20001"
const uptoProxy = "0x4020a4f3b7b90cca423b9fabcc0ce57c6c240002"

const abi = [
  "struct TokenPermissions { address token; uint256 amount; }",
  "struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }",
  "struct ExactWitness { address to; uint256 validAfter; }",
  "struct UptoWitness { address to; address facilitator; uint256 validAfter; }"
] as const

/** One question about a contract, and how its answer is read. */
export interface View {
  readonly to: string
  readonly data: Hex
}

/** What a transaction did with an authorisation: made the transfer that it is for, or used it up otherwise. */
export interface Use {
  readonly moved: boolean
  /** Which of the logs of its block is that transfer; undefined where there is none. */
  readonly log: bigint | undefined
}

/** Where logs are looked for, and which of them count. */
export interface Search extends Pick<LogFilter, "address" | "topics"> {
  readonly matches: (log: Log) => boolean
}

/** What a settlement is on the chain: the call that moves the money, and where the chain keeps that its authorisation was used. */
export interface Move {
  readonly to: string
  readonly data: Hex
  /** Seconds since 1970 from which on the chain refuses it. */
  readonly validBefore: bigint
  readonly used: View
  readonly isUsed: (answer: Hex) => boolean
  readonly balance: View
  /** What Permit2 may take of the payer's; undefined where no leave is needed. */
  readonly allowance: View | undefined
  /** The transfer in the logs of our own transaction. */
  readonly transfer: (logs: ReadonlyArray<Log>) => Log | undefined
  /** Whether a transaction that wrote these logs may have made it: not, when another payment's transfer is all that they show. */
  readonly mayBeIn: (logs: ReadonlyArray<Log>) => boolean
  /** Logs of transactions that may have used it. */
  readonly uses: Search
  /** All logs of such a transaction that tell what it did with it: whoever made it may have written any number of others. */
  readonly telling: ReadonlyArray<Pick<LogFilter, "address" | "topics">>
  /** What somebody's transaction, which went through, did with it beyond doubt; undefined where it might have been another's money. */
  readonly useIn: (transaction: Transaction, receipt: Receipt) => Use | undefined
  /** Logs of its being cancelled, where they are no `uses`: they only count where no use can have been before. */
  readonly cancellations: Search | undefined
}

const Numeric = Schema.Union([Schema.String.check(Schema.isPattern(/^\d{1,78}$/)), Schema.Int])
const Address = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{40}$/))
const Signature = Schema.String.check(Schema.isPattern(/^0x[0-9a-fA-F]{130}$/))
const decodeEip3009 = Schema.decodeUnknownOption(
  Schema.Struct({
    payload: Schema.Struct({
      signature: Signature,
      authorization: Schema.Struct({ validAfter: Numeric, validBefore: Numeric })
    })
  })
)
const decodePermit2 = Schema.decodeUnknownOption(
  Schema.Struct({
    payload: Schema.Struct({
      signature: Signature,
      permit2Authorization: Schema.Struct({
        permitted: Schema.Struct({ amount: Numeric }),
        nonce: Numeric,
        deadline: Numeric,
        witness: Schema.Struct({ validAfter: Numeric, facilitator: Schema.optional(Address) })
      })
    })
  })
)

/** Writes calls of the contracts that payments go through. The encoder is loaded when the first rail is made. */
export const make = Effect.gen(function* () {
  const { encodeFunctionData, pad, parseAbi, parseAbiItem, toEventSelector } = yield* Effect.promise(
    () => import("viem")
  )
  const token = parseAbi([
    "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
    "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
    "function balanceOf(address account) view returns (uint256)",
    "function allowance(address owner, address spender) view returns (uint256)"
  ])
  const permits = parseAbi(["function nonceBitmap(address owner, uint256 word) view returns (uint256)"])
  const exact = parseAbi([
    ...abi,
    "function settle(PermitTransferFrom permit, address owner, ExactWitness witness, bytes signature)"
  ])
  const upto = parseAbi([
    ...abi,
    "function settle(PermitTransferFrom permit, uint256 amount, address owner, UptoWitness witness, bytes signature)"
  ])
  const transferTopic = toEventSelector(parseAbiItem("event Transfer(address indexed, address indexed, uint256)"))
  const usedTopic = toEventSelector(parseAbiItem("event AuthorizationUsed(address indexed, bytes32 indexed)"))
  const canceledTopic = toEventSelector(parseAbiItem("event AuthorizationCanceled(address indexed, bytes32 indexed)"))
  const invalidatedTopic = toEventSelector(
    parseAbiItem("event UnorderedNonceInvalidation(address indexed, uint256, uint256)")
  )

  const hex = (text: string): Hex => (isHex(text) ? text : "0x")
  const padded = (address: string) => pad(hex(address))

  const isOf = (log: Log, address: string, ...topics: ReadonlyArray<string>) =>
    log.address.toLowerCase() === address && topics.every((topic, index) => log.topics[index]?.toLowerCase() === topic)

  const common = ({ asset, payTo, payer }: Authorization, amount: bigint) => {
    const isTransfer = (log: Log) =>
      isOf(log, asset, transferTopic, padded(payer), padded(payTo)) &&
      log.data.length === 66 &&
      BigInt(log.data) === amount
    return {
      isTransfer,
      transfer: (logs: ReadonlyArray<Log>) => logs.find(isTransfer),
      balance: { to: asset, data: encodeFunctionData({ abi: token, functionName: "balanceOf", args: [hex(payer)] }) }
    }
  }

  const eip3009 = (authorization: Authorization): Move | undefined => {
    const decoded = Option.getOrUndefined(decodeEip3009(authorization.payload))?.payload
    if (decoded === undefined || !/^0x[0-9a-f]{64}$/i.test(authorization.nonce)) return undefined
    const { amount, asset, payTo, payer } = authorization
    const nonce = authorization.nonce.toLowerCase()
    const signature = hex(decoded.signature)
    const validBefore = BigInt(decoded.authorization.validBefore)
    const [from, id] = [hex(payer), hex(nonce)]
    const r = hex(signature.slice(0, 66))
    const s = hex(`0x${signature.slice(66, 130)}`)
    const v = Number.parseInt(signature.slice(130), 16)
    const args = [from, hex(payTo), amount, BigInt(decoded.authorization.validAfter), validBefore, id, v, r, s] as const
    const { isTransfer, ...rest } = common(authorization, amount)
    const isUse = (log: Log) => isOf(log, asset, usedTopic, padded(payer), nonce)
    const isCancellation = (log: Log) => isOf(log, asset, canceledTopic, padded(payer), nonce)
    const uses = {
      address: asset,
      topics: [[usedTopic, canceledTopic], padded(payer), nonce],
      matches: (log: Log) => isUse(log) || isCancellation(log)
    }
    const usedIn = (logs: ReadonlyArray<Log>): Use | undefined => {
      if (logs.some(isCancellation)) return { moved: false, log: undefined }
      const use = logs.find(isUse)
      // The token names the nonce and makes its transfer right after, in one go: no other transfer can stand in that place.
      const next = use && logs.find(({ logIndex }) => logIndex === use.logIndex + 1n)
      return next && { moved: isTransfer(next), log: isTransfer(next) ? next.logIndex : undefined }
    }
    return {
      ...rest,
      mayBeIn: (logs) => usedIn(logs)?.moved === true,
      to: asset,
      data: encodeFunctionData({ abi: token, functionName: "transferWithAuthorization", args }),
      validBefore,
      used: {
        to: asset,
        data: encodeFunctionData({ abi: token, functionName: "authorizationState", args: [from, id] })
      },
      isUsed: (answer) => BigInt(answer) !== 0n,
      allowance: undefined,
      uses,
      telling: [uses, { address: asset, topics: [transferTopic, padded(payer)] }],
      useIn: (_, { logs }) => usedIn(logs),
      cancellations: undefined
    }
  }

  const permit2Move = (authorization: Authorization, amount: bigint): Move | undefined => {
    const decoded = Option.getOrUndefined(decodePermit2(authorization.payload))?.payload
    if (decoded === undefined) return undefined
    const { asset, payTo, payer, scheme } = authorization
    const { deadline, nonce, permitted, witness } = decoded.permit2Authorization
    const owner = hex(payer)
    const signature = hex(decoded.signature)
    const validAfter = BigInt(witness.validAfter)
    const number = BigInt(nonce)
    const permit = {
      permitted: { token: hex(asset), amount: BigInt(permitted.amount) },
      nonce: number,
      deadline: BigInt(deadline)
    }
    const { facilitator } = witness
    if (scheme === "upto" && facilitator === undefined) return undefined
    const to = scheme === "exact" ? exactProxy : uptoProxy
    const data =
      scheme === "exact"
        ? encodeFunctionData({
            abi: exact,
            functionName: "settle",
            args: [permit, owner, { to: hex(payTo), validAfter }, signature]
          })
        : encodeFunctionData({
            abi: upto,
            functionName: "settle",
            args: [
              permit,
              amount,
              owner,
              { to: hex(payTo), facilitator: hex(facilitator?.toLowerCase() ?? ""), validAfter },
              signature
            ]
          })
    const { isTransfer, ...rest } = common(authorization, amount)
    const uses = { address: asset, topics: [transferTopic, padded(payer), padded(payTo)], matches: isTransfer }
    return {
      ...rest,
      mayBeIn: (logs) => logs.some(isTransfer),
      to,
      data,
      validBefore: BigInt(deadline) + 1n,
      used: {
        to: permit2,
        data: encodeFunctionData({ abi: permits, functionName: "nonceBitmap", args: [owner, number >> 8n] })
      },
      isUsed: (answer) => ((BigInt(answer) >> (number & 255n)) & 1n) === 1n,
      allowance: {
        to: asset,
        data: encodeFunctionData({ abi: token, functionName: "allowance", args: [owner, permit2] })
      },
      uses,
      telling: [uses],
      // Permit2 names no nonce when it moves money. What the proxy was called for is what the payer signed, and only the call as a whole
      // is beyond doubt: whatever stands somewhere in a call of something else may stand there for show. What stands behind it nobody
      // reads: facilitators write there on whose account they call (x402's `builder-code`).
      useIn: (transaction, { logs }) => {
        const isThisCall =
          transaction.to?.toLowerCase() === to && transaction.input.toLowerCase().startsWith(data.toLowerCase())
        const log = isThisCall ? logs.find(isTransfer) : undefined
        return log && { moved: true, log: log.logIndex }
      },
      cancellations: {
        address: permit2,
        topics: [invalidatedTopic, padded(payer)],
        matches: (log) => isOf(log, permit2, invalidatedTopic, padded(payer)) && invalidates(log.data, number)
      }
    }
  }

  /** The call that settles this; undefined when the authorisation is none for a contract. */
  return ({ amount, authorization }: Pick<Settlement, "amount" | "authorization">) => {
    const fits = authorization.scheme === "exact" ? amount === authorization.amount : amount <= authorization.amount
    if (!fits) return undefined
    if (authorization.method === "eip3009") return authorization.scheme === "exact" ? eip3009(authorization) : undefined
    return authorization.method === "permit2" ? permit2Move(authorization, amount) : undefined
  }
})

/** Whether the word and the mask that Permit2 wrote are those of this nonce. */
const invalidates = (data: Hex, nonce: bigint): boolean =>
  data.length === 130 &&
  BigInt(data.slice(0, 66)) === nonce >> 8n &&
  ((BigInt(`0x${data.slice(66)}`) >> (nonce & 255n)) & 1n) === 1n
