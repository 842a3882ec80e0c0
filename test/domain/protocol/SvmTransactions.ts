import { createHash } from "node:crypto"
import { keyPair } from "#domain/protocol/SolanaKeys.ts"
import { decodeTransaction } from "#domain/protocol/SolanaTransaction.ts"

/** A throw-away key by name. */
export const seedOf = (name: string): Uint8Array => createHash("sha256").update(`turnpike test key ${name}`).digest()
export const keysOf = (name: string) => keyPair(seedOf(name))

export interface Instruction {
  readonly program: number
  readonly accounts: ReadonlyArray<number>
  readonly data: Uint8Array
}

/** A message that can be written differently. */
export interface Parts {
  readonly versioned: boolean
  readonly signers: number
  readonly readonlySigners: number
  readonly readonlyOthers: number
  readonly keys: ReadonlyArray<Uint8Array>
  readonly blockhash: Uint8Array
  readonly instructions: ReadonlyArray<Instruction>
  /** For each table, which of its accounts are taken. */
  readonly lookups: ReadonlyArray<ReadonlyArray<number>>
}

export const partsOf = (base64: string): Parts => {
  const found = decodeTransaction(base64)!
  return {
    versioned: found.version === 0,
    signers: found.signatures.length,
    readonlySigners: found.readonlySigners,
    readonlyOthers: found.readonlyOthers,
    keys: found.keys,
    blockhash: found.blockhash,
    instructions: found.instructions.map(({ accounts, data, program }) => ({ program, accounts: [...accounts], data })),
    lookups: []
  }
}

const list = <A>(items: ReadonlyArray<A>, write: (item: A) => Uint8Array): Uint8Array => {
  const length = items.length < 128 ? [items.length] : [(items.length & 127) | 128, items.length >> 7]
  return Buffer.concat([Uint8Array.from(length), ...items.map(write)])
}
const bytes = (data: Iterable<number>) => list([...data], (byte) => Uint8Array.of(byte))

export const messageOf = (parts: Parts): Uint8Array =>
  Buffer.concat([
    Uint8Array.from(parts.versioned ? [0x80] : []),
    Uint8Array.of(parts.signers, parts.readonlySigners, parts.readonlyOthers),
    list(parts.keys, (key) => key),
    parts.blockhash,
    list(parts.instructions, ({ accounts, data, program }) =>
      Buffer.concat([Uint8Array.of(program), bytes(accounts), bytes(data)])
    ),
    ...(parts.versioned
      ? [list(parts.lookups, (taken) => Buffer.concat([new Uint8Array(32).fill(7), bytes(taken), bytes([])]))]
      : [])
  ])

const unsigned = new Uint8Array(64)

/** The transaction as it goes over the wire; `undefined` leaves a slot empty. */
export const wire = (message: Uint8Array, signatures: ReadonlyArray<Uint8Array | undefined>): string =>
  Buffer.concat([list(signatures, (signature) => signature ?? unsigned), message]).toString("base64")

/** The transaction signed by the keys after the first, as its payer does it. */
export const signed = (parts: Parts, ...payers: ReadonlyArray<ReturnType<typeof keysOf>>): string => {
  const message = messageOf(parts)
  return wire(message, [undefined, ...payers.map((payer) => payer.sign(message))])
}
