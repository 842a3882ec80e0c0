// Solana's addresses: Ed25519 keys, and addresses derived for programs, which are no keys.
import { createHash, createPrivateKey, createPublicKey, sign, verify } from "node:crypto"
import { dropOldest } from "../BoundedMap.ts"
import { isOnCurve } from "../Edwards25519.ts"
import { decodeBase58, encodeBase58 } from "../Network.ts"

const program = (address: string): Uint8Array => decodeBase58(address) ?? new Uint8Array()

/** Programs of the chain that payments use. */
export const programs = {
  token: program("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"),
  token2022: program("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"),
  associatedToken: program("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"),
  computeBudget: program("ComputeBudget111111111111111111111111111111"),
  memo: program("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  lighthouse: program("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")
}

export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

/** `find_program_address`: the address of these seeds that no key can sign for. */
const findProgramAddress = (seeds: ReadonlyArray<Uint8Array>, owner: Uint8Array): Uint8Array | undefined => {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash("sha256")
    for (const seed of seeds) hash.update(seed)
    const address = hash.update(Uint8Array.of(bump)).update(owner).update("ProgramDerivedAddress").digest()
    if (!isOnCurve(address)) return address
  }
  return undefined
}

/** Derivations cost more than a signature and never change; the one that was made first is forgotten first. */
const derived = new Map<string, Uint8Array>()
const remembered = 4096

/** The account in which `owner` keeps tokens of `mint`, both as base58; undefined when one of them is no address. */
export const associatedTokenAccount = (owner: string, mint: string, token: Uint8Array): Uint8Array | undefined => {
  const name = `${owner} ${mint} ${token === programs.token}`
  const known = derived.get(name)
  if (known !== undefined) return known
  const [ownerKey, mintKey] = [addressBytes(owner), addressBytes(mint)]
  if (ownerKey === undefined || mintKey === undefined) return undefined
  const address = findProgramAddress([ownerKey, token, mintKey], programs.associatedToken)
  if (address === undefined) return undefined
  derived.set(name, address)
  dropOldest(derived, remembered)
  return address
}

/** The 32 bytes of an address; undefined when the text is none. */
export const addressBytes = (address: string): Uint8Array | undefined => {
  const bytes = address.length > 44 ? undefined : decodeBase58(address)
  return bytes?.length === 32 ? bytes : undefined
}

/**
 * Points of small order in every encoding, without the sign: under such a key one signature fits many messages. Node refuses
 * them itself, other runtimes do not.
 */
const smallOrder = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
])
const hasSmallOrder = (point: Uint8Array): boolean => {
  const bytes = Buffer.from(point)
  bytes[31] = (bytes[31] ?? 0) & 0x7f
  return smallOrder.has(bytes.toString("hex"))
}

const hex = (text: string) => Buffer.from(text, "hex")
const publicPrefix = hex("302a300506032b6570032100")
const privatePrefix = hex("302e020100300506032b657004220420")

/** Whether the holder of this key signed the message, as strictly as validators judge it. */
export const isSignedBy = (key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean => {
  if (hasSmallOrder(key) || hasSmallOrder(signature.subarray(0, 32))) return false
  const publicKey = createPublicKey({ key: Buffer.concat([publicPrefix, key]), format: "der", type: "spki" })
  return verify(null, message, publicKey, signature)
}

/** The key pair that 32 secret bytes stand for. */
export const keyPair = (seed: Uint8Array) => {
  const privateKey = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: "der", type: "pkcs8" })
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(publicPrefix.length)
  return {
    address: encodeBase58(publicKey),
    sign: (message: Uint8Array): Uint8Array => sign(null, message, privateKey)
  }
}
