import { decodeBase58 } from "#domain/Network.ts"
import type { Offer } from "#domain/protocol/Authorization.ts"
import { associatedTokenAccount, programs } from "#domain/protocol/SolanaKeys.ts"
import type { SvmReason } from "#domain/protocol/SvmExact.ts"
import { type Instruction, keysOf, messageOf, type Parts, partsOf, signed, wire } from "./SvmTransactions.ts"

/** A transaction changed in one thing and signed again by its payer, and what is said to it. */
export interface Change {
  readonly name: string
  readonly make: (base64: string, offer: Offer) => string
  readonly reason: SvmReason | "accepted"
  /** What the facilitator of the reference implementation says, where that is something else. */
  readonly reference?: string
}

const payer = keysOf("payer")

const change = (
  name: string,
  reason: Change["reason"],
  edit: (parts: Parts, offer: Offer) => Partial<Parts>,
  reference?: string
): Change => ({
  name,
  reason,
  make: (base64, offer) => {
    const parts = partsOf(base64)
    return signed({ ...parts, ...edit(parts, offer) }, payer)
  },
  ...(reference === undefined ? {} : { reference })
})

const edited = (parts: Parts, place: number, edit: (instruction: Instruction) => Partial<Instruction>) => ({
  instructions: parts.instructions.map((one, index) => (index === place ? { ...one, ...edit(one) } : one))
})
const data = (...values: ReadonlyArray<number>) => Uint8Array.from(values)
const little = (kind: number, value: bigint, length: number) =>
  Uint8Array.from({ length: length + 1 }, (_, index) =>
    index === 0 ? kind : Number((value >> BigInt(8 * (index - 1))) & 255n)
  )
const transfer = (amount: bigint, decimals = 6) => Buffer.concat([little(12, amount, 8), data(decimals)])
const withKeys = (parts: Parts, ...more: ReadonlyArray<Uint8Array>) => ({
  keys: [...parts.keys, ...more],
  readonlyOthers: parts.readonlyOthers + more.length
})
const placeOf = (parts: Parts, program: Uint8Array) => parts.keys.findIndex((key) => Buffer.compare(key, program) === 0)
/** As many instructions of a program in place of the memo, and the program's key. */
const instead = (parts: Parts, memos: ReadonlyArray<string>, others: ReadonlyArray<Uint8Array>, before = 0) => {
  const memo = parts.instructions[3]!
  const rest = memos.map((text) => ({ ...memo, data: Buffer.from(text) }))
  const foreign = others.map((_, index) => ({ program: parts.keys.length + index, accounts: [], data: data(0) }))
  return {
    ...withKeys(parts, ...others),
    instructions: [...parts.instructions.slice(0, 3), ...rest.slice(0, before), ...foreign, ...rest.slice(before)]
  }
}
const stranger = (name: string) => decodeBase58(keysOf(name).address)!
const memoIn = ({ extra }: Offer) => String(extra["memo"])
const systemProgram = new Uint8Array(32)

const limit = "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction"
const price = "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction"
const length = "invalid_exact_svm_payload_transaction_instructions_length"
const noTransfer = "invalid_exact_svm_payload_no_transfer_instruction"
const simulation = "invalid_exact_svm_transaction_simulation_failed"
const undecodable = "invalid_exact_svm_payload_transaction_could_not_be_decoded"
const signature = "invalid_exact_svm_payload_signature_invalid"

/** What a payer can sign, besides what was asked for. The transaction to change has the four instructions of the client. */
export const changes: ReadonlyArray<Change> = [
  change("nothing", "accepted", () => ({})),
  change("the legacy format", "accepted", () => ({ versioned: false })),
  change("another blockhash", "accepted", () => ({ blockhash: stranger("any hash") }), simulation),
  change("units at the limit", "accepted", (parts) => edited(parts, 0, () => ({ data: little(2, 400_000n, 4) }))),
  change("a price at the limit", "accepted", (parts) => edited(parts, 1, () => ({ data: little(3, 5_000_000n, 8) }))),

  change(
    "three assertions of a wallet before the memo",
    "accepted",
    (parts, offer) => {
      const assertion = { program: parts.keys.length, accounts: [1], data: data(0) }
      const { instructions } = instead(parts, [memoIn(offer)], [])
      return {
        ...withKeys(parts, programs.lighthouse),
        instructions: [...instructions.slice(0, 3), assertion, assertion, assertion, ...instructions.slice(3)]
      }
    },
    // Its chain has no such program.
    simulation
  ),

  change("a table of accounts", "invalid_exact_svm_smart_wallet_alt_resolution_not_available", () => ({
    lookups: [[0]]
  })),
  change("an account twice", undecodable, (parts) => withKeys(parts, parts.keys[1]!), simulation),
  change(
    "an account that is not there",
    undecodable,
    (parts) => edited(parts, 3, () => ({ accounts: [parts.keys.length] })),
    simulation
  ),
  change("a program that is not there", undecodable, (parts) =>
    edited(parts, 3, () => ({ program: parts.keys.length }))
  ),
  change("the fee payer as program", undecodable, (parts) => edited(parts, 3, () => ({ program: 0 })), unknown(4)),
  change("a fee payer that is read-only", undecodable, () => ({ readonlySigners: 2 }), simulation),
  change("more read-only accounts than there are", undecodable, () => ({ readonlyOthers: 7 }), simulation),
  change("another fee payer", "invalid_exact_svm_fee_payer_mismatch", ({ keys }) => ({
    keys: [stranger("stranger"), ...keys.slice(1)]
  })),
  {
    name: "a third signer",
    reason: "invalid_exact_svm_payload_excessive_signers",
    make: (base64) => {
      const parts = partsOf(base64)
      const [ours, theirs, ...others] = parts.keys
      const moved = (place: number) => (place < 2 ? place : place + 1)
      const third = keysOf("third")
      const instructions = parts.instructions.map(({ accounts, data, program }) => ({
        program: moved(program),
        accounts: accounts.map(moved),
        data
      }))
      const keys = [ours!, theirs!, decodeBase58(third.address)!, ...others]
      return signed({ ...parts, signers: 3, keys, instructions }, payer, third)
    }
  },
  {
    name: "no signature",
    reason: signature,
    make: (base64) => wire(messageOf(partsOf(base64)), [undefined, undefined])
  },
  {
    name: "somebody else's signature",
    reason: signature,
    make: (base64) => signed(partsOf(base64), keysOf("stranger"))
  },
  {
    name: "a signature of another message",
    reason: signature,
    make: (base64) => wire(messageOf(partsOf(base64)), [undefined, payer.sign(new Uint8Array(32))])
  },
  {
    name: "the signature of the fee payer",
    reason: signature,
    reference: "accepted",
    make: (base64) => {
      const message = messageOf(partsOf(base64))
      return wire(message, [keysOf("fee payer").sign(message), payer.sign(message)])
    }
  },
  {
    name: "a payer under whose key one signature fits every message",
    reason: signature,
    make: (base64) => {
      const parts = partsOf(base64)
      const identity = new Uint8Array(32)
      identity[0] = 1
      const [ours, , ...others] = parts.keys
      const message = messageOf({ ...parts, keys: [ours!, identity, ...others] })
      return wire(message, [undefined, Buffer.concat([identity, new Uint8Array(32)])])
    }
  },

  change("two instructions", length, ({ instructions }) => ({ instructions: instructions.slice(0, 2) })),
  change("eight instructions", length, ({ instructions }) => ({
    instructions: [...instructions, ...Array.from({ length: 4 }, () => instructions[3]!)]
  })),
  change("the price first", limit, ({ instructions: [units, unitPrice, ...rest] }) => ({
    instructions: [unitPrice!, units!, ...rest]
  })),
  change("a limit of another program", limit, (parts) =>
    edited(parts, 0, () => ({ program: placeOf(parts, programs.memo) }))
  ),
  change("a limit cut short", limit, (parts) => edited(parts, 0, () => ({ data: data(2, 0, 0, 0) }))),
  change(
    "a limit with something behind it",
    limit,
    (parts) => edited(parts, 0, ({ data }) => ({ data: Buffer.concat([data, Uint8Array.of(0)]) })),
    "accepted"
  ),
  change("more units", `${limit}_too_high`, (parts) => edited(parts, 0, () => ({ data: little(2, 400_001n, 4) }))),
  change("the limit again instead of the price", price, (parts) =>
    edited(parts, 1, () => ({ data: little(2, 20_000n, 4) }))
  ),
  change("a higher price", `${price}_too_high`, (parts) =>
    edited(parts, 1, () => ({ data: little(3, 5_000_001n, 8) }))
  ),
  change("an unchecked transfer", noTransfer, (parts) => edited(parts, 2, () => ({ data: little(3, 10_000n, 8) }))),
  change("a transfer that does not say its decimals", noTransfer, (parts) =>
    edited(parts, 2, () => ({ data: little(12, 10_000n, 8) }))
  ),
  change(
    "a transfer with a fifth account",
    noTransfer,
    (parts) => edited(parts, 2, ({ accounts }) => ({ accounts: [...accounts, 1] })),
    "accepted"
  ),
  change("a transfer by another program", noTransfer, (parts) => ({
    ...withKeys(parts, stranger("program")),
    ...edited(parts, 2, () => ({ program: parts.keys.length }))
  })),
  change(
    "a transfer of the fee payer's money",
    "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds",
    (parts) => edited(parts, 2, ({ accounts }) => ({ accounts: [...accounts.slice(0, 3), 0] }))
  ),
  change(
    "the fee payer in a memo",
    "invalid_exact_svm_payload_transaction_fee_payer_included_in_instruction_accounts",
    (parts) => edited(parts, 3, () => ({ accounts: [0] })),
    "accepted"
  ),
  change(
    "the fee payer in the compute budget",
    "invalid_exact_svm_payload_transaction_fee_payer_included_in_instruction_accounts",
    (parts) => edited(parts, 0, () => ({ accounts: [0] })),
    "accepted"
  ),
  change("another mint", "invalid_exact_svm_payload_mint_mismatch", (parts) => ({
    ...withKeys(parts, stranger("mint")),
    ...edited(parts, 2, ({ accounts: [from, , to, by] }) => ({ accounts: [from!, parts.keys.length, to!, by!] }))
  })),
  change("a transfer to itself", "invalid_exact_svm_payload_recipient_mismatch", (parts) =>
    edited(parts, 2, ({ accounts: [from, mint, , by] }) => ({ accounts: [from!, mint!, from!, by!] }))
  ),
  change("a transfer to somebody else", "invalid_exact_svm_payload_recipient_mismatch", (parts, { asset }) => ({
    ...withKeys(parts, associatedTokenAccount(keysOf("stranger").address, asset, programs.token)!),
    ...edited(parts, 2, ({ accounts: [from, mint, , by] }) => ({ accounts: [from!, mint!, parts.keys.length, by!] }))
  })),
  change("a transfer to the seller's own key", "invalid_exact_svm_payload_recipient_mismatch", (parts, { payTo }) => ({
    ...withKeys(parts, decodeBase58(payTo)!),
    ...edited(parts, 2, ({ accounts: [from, mint, , by] }) => ({ accounts: [from!, mint!, parts.keys.length, by!] }))
  })),
  ...([-1n, 1n] as const).map((more) =>
    change(`${more} in the amount`, "invalid_exact_svm_payload_amount_mismatch", (parts, { amount }) =>
      edited(parts, 2, () => ({ data: transfer(BigInt(amount) + more) }))
    )
  ),
  ...[4, 5, 6, 7].map((place) =>
    change(`something else as instruction ${place}`, unknown(place), (parts, offer) =>
      instead(parts, [memoIn(offer), memoIn(offer), memoIn(offer)], [systemProgram], place - 4)
    )
  ),
  change("a second transfer", unknown(4), ({ instructions }) => ({
    instructions: [...instructions.slice(0, 3), ...instructions.slice(2)]
  })),
  change("no memo", "invalid_exact_svm_payload_memo_count", (parts) => instead(parts, [], [])),
  change("two memos", "invalid_exact_svm_payload_memo_count", (parts, offer) =>
    instead(parts, [memoIn(offer), memoIn(offer)], [])
  ),
  change("another memo", "invalid_exact_svm_payload_memo_mismatch", (parts, offer) =>
    instead(parts, [`${memoIn(offer)} `], [])
  ),
  change("a memo of the first version of its program", unknown(4), (parts, offer) => ({
    ...instead(parts, [memoIn(offer)], []),
    keys: parts.keys.map((key) =>
      Buffer.compare(key, programs.memo) === 0 ? decodeBase58("Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo")! : key
    )
  })),
  change("other decimals", simulation, (parts, { amount }) =>
    edited(parts, 2, () => ({ data: transfer(BigInt(amount), 9) }))
  ),
  change("the tokens of somebody who did not sign", simulation, (parts, { asset }) => ({
    ...withKeys(
      parts,
      decodeBase58(keysOf("victim").address)!,
      associatedTokenAccount(keysOf("victim").address, asset, programs.token)!
    ),
    readonlyOthers: 0,
    ...edited(parts, 2, ({ accounts: [, mint, to] }) => ({
      accounts: [parts.keys.length + 1, mint!, to!, parts.keys.length]
    }))
  })),
  change("somebody else's account, in the payer's name", simulation, (parts, { asset }) => ({
    ...withKeys(parts, associatedTokenAccount(keysOf("victim").address, asset, programs.token)!),
    readonlyOthers: 0,
    ...edited(parts, 2, ({ accounts: [, mint, to, by] }) => ({ accounts: [parts.keys.length, mint!, to!, by!] }))
  })),
  ...[2, 3].map((writable) =>
    change(`read-only accounts from ${writable} on`, simulation, ({ keys }) => ({
      readonlyOthers: keys.length - writable
    }))
  )
]

function unknown(place: number) {
  const word = (["fourth", "fifth", "sixth", "seventh"] as const)[place - 4]!
  return `invalid_exact_svm_payload_unknown_${word}_instruction` as const
}
