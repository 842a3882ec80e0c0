// Solana's transaction wire format: legacy messages and version 0.

/** What a validator takes in one packet. */
export const maxTransactionBytes = 1232

export interface SolanaInstruction {
  /** Places in the list of keys, as those of `accounts`. */
  readonly program: number
  readonly accounts: Uint8Array
  readonly data: Uint8Array
}

/** A transaction that a validator would not refuse for its form. All byte arrays are views of the same bytes. */
export interface SolanaTransaction {
  readonly version: "legacy" | 0
  /** One for each of the first keys; 64 zeros where nobody has signed yet. */
  readonly signatures: ReadonlyArray<Uint8Array>
  /** What is signed. */
  readonly message: Uint8Array
  readonly readonlySigners: number
  readonly readonlyOthers: number
  /** The first one pays the fee. */
  readonly keys: ReadonlyArray<Uint8Array>
  readonly blockhash: Uint8Array
  readonly instructions: ReadonlyArray<SolanaInstruction>
  /** How many tables on the chain the message takes further accounts from. */
  readonly lookups: number
}

/** Reads a transaction in base64; undefined when it is none, or one that breaks the rules every message has to keep. */
export const decodeTransaction = (base64: string): SolanaTransaction | undefined => {
  if (base64.length > (maxTransactionBytes / 3) * 4 + 4 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined
  const bytes = new Uint8Array(Buffer.from(base64, "base64"))
  return bytes.length > maxTransactionBytes ? undefined : readTransaction(bytes)
}

/** Whether the message lets instructions change the account at this place. */
export const isWritable = ({ keys, readonlyOthers, readonlySigners, signatures }: SolanaTransaction, index: number) =>
  index < signatures.length ? index < signatures.length - readonlySigners : index < keys.length - readonlyOthers

const readTransaction = (bytes: Uint8Array): SolanaTransaction | undefined => {
  const reader = new Reader(bytes)
  const signatures = reader.list(() => reader.take(64))
  const message = bytes.subarray(reader.offset)
  const versioned = reader.peek() >= 0x80
  if (versioned && reader.byte() !== 0x80) return undefined
  const signers = reader.byte()
  const readonlySigners = reader.byte()
  const readonlyOthers = reader.byte()
  const keys = reader.list(() => reader.take(32))
  const blockhash = reader.take(32)
  const instructions = reader.list(
    (): SolanaInstruction => ({ program: reader.byte(), accounts: reader.bytes(), data: reader.bytes() })
  )
  const lookups = versioned
    ? reader.list(() => {
        reader.take(32)
        return reader.bytes().length + reader.bytes().length
      })
    : []
  // A table that nothing is taken from is refused by validators, too.
  if (!reader.isDone() || lookups.includes(0)) return undefined
  const transaction: SolanaTransaction = {
    version: versioned ? 0 : "legacy",
    signatures,
    message,
    readonlySigners,
    readonlyOthers,
    keys,
    blockhash,
    instructions,
    lookups: lookups.length
  }
  const accounts = keys.length + lookups.reduce((total, found) => total + found, 0)
  return signers === signatures.length && isSound(transaction, accounts) ? transaction : undefined
}

/** The rules by which validators refuse a message unseen (`sanitize`, and an account that is loaded twice). */
const isSound = (transaction: SolanaTransaction, accounts: number): boolean => {
  const { instructions, keys, readonlyOthers, readonlySigners, signatures } = transaction
  const distinct = new Set(keys.map((key) => Buffer.from(key).toString("latin1")))
  return (
    readonlySigners < signatures.length &&
    signatures.length + readonlyOthers <= keys.length &&
    accounts <= 256 &&
    distinct.size === keys.length &&
    instructions.every(
      ({ accounts: places, program }) =>
        program > 0 && program < keys.length && places.every((place) => place < accounts)
    )
  )
}

/** Reads forward. What is beyond the end reads as nothing, and `isDone` then stays false. */
class Reader {
  offset = 0
  readonly #bytes: Uint8Array
  #failed = false

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  take(length: number): Uint8Array {
    const end = this.offset + length
    if (end > this.#bytes.length) this.#failed = true
    const taken = this.#bytes.subarray(this.offset, end)
    this.offset = Math.min(end, this.#bytes.length)
    return taken
  }

  peek(): number {
    return this.#bytes[this.offset] ?? 0
  }

  byte(): number {
    return this.take(1)[0] ?? 0
  }

  bytes(): Uint8Array {
    return this.take(this.#count())
  }

  list<A>(read: () => A): ReadonlyArray<A> {
    const items: Array<A> = []
    for (let left = this.#count(); left > 0 && !this.#failed; left--) items.push(read())
    return items
  }

  isDone(): boolean {
    return !this.#failed && this.offset === this.#bytes.length
  }

  /** A `compact-u16`: seven bits a byte, the lowest first, in as few bytes as possible. */
  #count(): number {
    let value = 0
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = this.byte()
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        if ((byte === 0 && shift > 0) || value > 0xffff) break
        return value
      }
    }
    this.#failed = true
    return 0
  }
}
