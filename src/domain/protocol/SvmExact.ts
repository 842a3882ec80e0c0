// x402 scheme `exact` on Solana, versions 2 and 1, and MPP's `solana`: a transaction that the payer has signed and we pay the fee of.
import { createHash } from "node:crypto"
import { dateOf } from "../Instant.ts"
import { encodeBase58 } from "../Network.ts"
import type { Authorization, Offer } from "./Authorization.ts"
import { associatedTokenAccount, isSignedBy, programs, sameBytes } from "./SolanaKeys.ts"
import { decodeTransaction, isWritable, type SolanaInstruction, type SolanaTransaction } from "./SolanaTransaction.ts"

export interface SvmContext {
  /** Milliseconds. */
  readonly now: number
  /** Our keys that pay fees. */
  readonly feePayers: ReadonlyArray<string>
  /** Whether the price of computing may stand before its limit: MPP says nothing of their order, and its first client writes them so. */
  readonly priceFirst?: boolean
}

/** What was signed. The nonce is the hash of the message, so that signing it again is no other payment. */
export interface SvmAccepted
  extends Pick<Authorization, "method" | "payer" | "nonce" | "validUntil" | "payload" | "requirements"> {
  readonly _tag: "Accepted"
}

export interface SvmRefused {
  readonly _tag: "Refused"
  readonly reason: SvmReason
}

/** The published reasons, in order of precedence. */
export type SvmReason =
  | "invalid_exact_svm_unsupported_scheme"
  | "invalid_exact_svm_network_mismatch"
  | "invalid_exact_svm_payload_missing_fee_payer"
  | "invalid_exact_svm_fee_payer_not_managed_by_facilitator"
  | "invalid_exact_svm_payload_transaction"
  | "invalid_exact_svm_payload_transaction_could_not_be_decoded"
  | "invalid_exact_svm_payload_excessive_signers"
  | "invalid_exact_svm_fee_payer_mismatch"
  | "invalid_exact_svm_payload_signature_invalid"
  | "invalid_exact_svm_smart_wallet_alt_resolution_not_available"
  | "invalid_exact_svm_payload_transaction_instructions_length"
  | "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction"
  | "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high"
  | "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction"
  | "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high"
  | "invalid_exact_svm_payload_no_transfer_instruction"
  | "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds"
  | "invalid_exact_svm_payload_transaction_fee_payer_included_in_instruction_accounts"
  | "invalid_exact_svm_payload_mint_mismatch"
  | "invalid_exact_svm_payload_recipient_mismatch"
  | "invalid_exact_svm_payload_amount_mismatch"
  | (typeof unknownInstruction)[number]
  | "invalid_exact_svm_payload_memo_count"
  | "invalid_exact_svm_payload_memo_mismatch"
  | "invalid_exact_svm_transaction_simulation_failed"

const unknownInstruction = [
  "invalid_exact_svm_payload_unknown_fourth_instruction",
  "invalid_exact_svm_payload_unknown_fifth_instruction",
  "invalid_exact_svm_payload_unknown_sixth_instruction",
  "invalid_exact_svm_payload_unknown_seventh_instruction"
] as const

const decimals = 6
/** Wallets add up to three Lighthouse assertions to limit, price, transfer and memo. */
const maxInstructions = 3 + unknownInstruction.length
/** What we pay for at most: this many units at 5 lamports (in millionths of a lamport). */
const maxUnits = 400_000
const maxUnitPrice = 5_000_000n
/** Us and the payer: each further signature would be a fee of ours. */
const signers = 2

/** Whether this transaction pays what was offered and can cost us nothing but its fee. `payload` is the scheme's own part. */
export const verifySvmExact = (payload: unknown, offer: Offer, context: SvmContext): SvmAccepted | SvmRefused => {
  const { feePayer } = offer.extra
  if (offer.scheme !== "exact") return refused("invalid_exact_svm_unsupported_scheme")
  if (!offer.network.startsWith("solana:")) return refused("invalid_exact_svm_network_mismatch")
  if (typeof feePayer !== "string" || feePayer === "") return refused("invalid_exact_svm_payload_missing_fee_payer")
  if (!context.feePayers.includes(feePayer)) return refused("invalid_exact_svm_fee_payer_not_managed_by_facilitator")
  const base64 = transactionOf(payload)
  if (base64 === undefined) return refused("invalid_exact_svm_payload_transaction")
  const transaction = decodeTransaction(base64)
  if (transaction === undefined) return refused("invalid_exact_svm_payload_transaction_could_not_be_decoded")
  const { keys, message } = transaction
  const reason =
    signatureReason(transaction, feePayer) ??
    layoutReason(transaction, context) ??
    transferReason(transaction, offer) ??
    memoReason(transaction, offer) ??
    outcomeReason(transaction, offer)
  if (reason !== undefined) return refused(reason)
  return {
    _tag: "Accepted",
    method: "svm",
    payer: addressAt(keys, 1),
    nonce: createHash("sha256").update(message).digest("hex"),
    // The transaction does not say when it ends: the chain takes it for some 90 seconds after its blockhash was made.
    validUntil: dateOf(context.now + offer.maxTimeoutSeconds * 1000),
    payload: { x402Version: 2, accepted: offer, payload: { transaction: base64 } },
    requirements: offer
  }
}

/**
 * The memo of one offer: its quote, and what tells it from all others of the same quote. Without it two payments of one
 * payer would be the same transaction, which the chain takes once.
 */
export const svmMemo = (quote: string, salt: string): string => `${quote} ${salt}`

/** The quote in a memo. */
export const quoteOfMemo = (memo: string): string => memo.split(" ", 1)[0] ?? ""

/** The memo of a payment, which says what it is for where the client does not (version 1); undefined when there is not just one. */
export const memoOf = (payload: unknown): string | undefined => {
  const transaction = decodeTransaction(transactionOf(payload) ?? "")
  const [memo, ...others] = transaction === undefined ? [] : memos(transaction)
  return memo === undefined || others.length > 0 ? undefined : Buffer.from(memo.data).toString()
}

/** Whether a payment has any memo; one that cannot be read counts as one that has. */
export const hasMemo = (payload: unknown): boolean => {
  const transaction = decodeTransaction(transactionOf(payload) ?? "")
  return transaction === undefined || memos(transaction).length > 0
}

/** Who pays the fee of a payment, which says so where the client does not (version 1). */
export const feePayerOf = (payload: unknown): string | undefined => {
  const transaction = decodeTransaction(transactionOf(payload) ?? "")
  return transaction === undefined ? undefined : addressAt(transaction.keys, 0)
}

const refused = (reason: SvmReason): SvmRefused => ({ _tag: "Refused", reason })

const transactionOf = (payload: unknown): string | undefined =>
  typeof payload === "object" && payload !== null && "transaction" in payload && typeof payload.transaction === "string"
    ? payload.transaction
    : undefined

const addressAt = (keys: ReadonlyArray<Uint8Array>, place: number | undefined): string =>
  encodeBase58(keys[place ?? -1] ?? new Uint8Array())

const signatureReason = ({ keys, message, signatures }: SolanaTransaction, feePayer: string): SvmReason | undefined => {
  if (signatures.length > signers) return "invalid_exact_svm_payload_excessive_signers"
  if (addressAt(keys, 0) !== feePayer) return "invalid_exact_svm_fee_payer_mismatch"
  const [ours, theirs] = signatures
  const [, payer] = keys
  // A signature of ours means that this has been sent before.
  const isOpen = ours?.every((byte) => byte === 0) === true
  return isOpen && payer !== undefined && theirs !== undefined && isSignedBy(payer, message, theirs)
    ? undefined
    : "invalid_exact_svm_payload_signature_invalid"
}

const isOf = ({ keys }: SolanaTransaction, instruction: SolanaInstruction, ...owners: ReadonlyArray<Uint8Array>) => {
  const key = keys[instruction.program]
  return key !== undefined && owners.some((owner) => sameBytes(key, owner))
}

const memos = (transaction: SolanaTransaction) =>
  transaction.instructions.filter((instruction) => isOf(transaction, instruction, programs.memo))

/** A `SetComputeUnit…` instruction's operand; undefined when the instruction is something else. */
const operand = (
  transaction: SolanaTransaction,
  instruction: SolanaInstruction | undefined,
  kind: number,
  bytes: number
) => {
  if (instruction === undefined || !isOf(transaction, instruction, programs.computeBudget)) return undefined
  const { data } = instruction
  return data[0] === kind && data.length === 1 + bytes ? littleEndian(data.subarray(1)) : undefined
}

const littleEndian = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`)

const layoutReason = (
  transaction: SolanaTransaction,
  { priceFirst = false }: Pick<SvmContext, "priceFirst">
): SvmReason | undefined => {
  const { instructions, lookups } = transaction
  // Without the chain nobody knows what the tables hold.
  if (lookups > 0) return "invalid_exact_svm_smart_wallet_alt_resolution_not_available"
  if (instructions.length < 3 || instructions.length > maxInstructions) {
    return "invalid_exact_svm_payload_transaction_instructions_length"
  }
  const turned = priceFirst && operand(transaction, instructions[0], 3, 8) !== undefined
  const [limitAt, priceAt] = turned ? [1, 0] : [0, 1]
  const units = operand(transaction, instructions[limitAt], 2, 4)
  if (units === undefined) return "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction"
  if (units > maxUnits) return "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high"
  const price = operand(transaction, instructions[priceAt], 3, 8)
  if (price === undefined) return "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction"
  return price > maxUnitPrice
    ? "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high"
    : undefined
}

/** The third instruction as `TransferChecked`; undefined when it is something else. */
const transferOf = (transaction: SolanaTransaction) => {
  const { instructions, keys } = transaction
  const [, , instruction] = instructions
  const program = keys[instruction?.program ?? 0]
  const token = [programs.token, programs.token2022].find((one) => program !== undefined && sameBytes(one, program))
  if (instruction === undefined || token === undefined) return undefined
  const { accounts, data } = instruction
  const [source, mint, destination, authority] = accounts
  if (data[0] !== 12 || data.length !== 10 || accounts.length !== 4) return undefined
  return { token, source, mint, destination, authority, amount: littleEndian(data.subarray(1, 9)), decimals: data[9] }
}

const transferReason = (transaction: SolanaTransaction, { amount, asset, payTo }: Offer): SvmReason | undefined => {
  const { instructions, keys } = transaction
  const transfer = transferOf(transaction)
  if (transfer === undefined) return "invalid_exact_svm_payload_no_transfer_instruction"
  if (transfer.authority === 0) return "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds"
  if (instructions.some(({ accounts }) => accounts.includes(0))) {
    return "invalid_exact_svm_payload_transaction_fee_payer_included_in_instruction_accounts"
  }
  if (addressAt(keys, transfer.mint) !== asset) return "invalid_exact_svm_payload_mint_mismatch"
  if (!isAccountOf(payTo, asset, transfer.token, keys[transfer.destination ?? -1])) {
    return "invalid_exact_svm_payload_recipient_mismatch"
  }
  return String(transfer.amount) === amount ? undefined : "invalid_exact_svm_payload_amount_mismatch"
}

const isAccountOf = (owner: string, mint: string, token: Uint8Array, account: Uint8Array | undefined): boolean => {
  const expected = associatedTokenAccount(owner, mint, token)
  return expected !== undefined && account !== undefined && sameBytes(expected, account)
}

const memoReason = (transaction: SolanaTransaction, { extra: { memo } }: Offer): SvmReason | undefined => {
  const optional = transaction.instructions.slice(3)
  const unknown = optional.findIndex((one) => !isOf(transaction, one, programs.memo, programs.lighthouse))
  if (unknown !== -1) return unknownInstruction[unknown]
  if (typeof memo !== "string" || memo === "") return undefined
  const [found, ...others] = memos(transaction)
  if (found === undefined || others.length > 0) return "invalid_exact_svm_payload_memo_count"
  return sameBytes(found.data, Buffer.from(memo)) ? undefined : "invalid_exact_svm_payload_memo_mismatch"
}

/** What the chain itself would refuse, and would tell in a simulation. */
const outcomeReason = (transaction: SolanaTransaction, { asset }: Offer): SvmReason | undefined => {
  const { keys } = transaction
  const transfer = transferOf(transaction)
  const works =
    transfer?.decimals === decimals &&
    // The one who signed is the one whose tokens move.
    transfer.authority === 1 &&
    isWritable(transaction, transfer.source ?? keys.length) &&
    isWritable(transaction, transfer.destination ?? keys.length) &&
    isAccountOf(addressAt(keys, transfer.authority), asset, transfer.token, keys[transfer.source ?? -1])
  return works ? undefined : "invalid_exact_svm_transaction_simulation_failed"
}
