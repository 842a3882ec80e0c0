// EIP-712 digests of the messages that move money here, built by hand: a general encoder takes ten times as long.
import { keccak_256 } from "@noble/hashes/sha3.js"

/** The address that signed a digest, as 20 bytes; undefined when no key can have. */
export type Recover = (digest: Uint8Array, signature: Uint8Array) => Uint8Array | undefined

/** What a token's signatures are bound to. */
export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: bigint
  /** Lower case. */
  readonly contract: string
}

/** EIP-3009. Addresses and nonce are hexadecimal in lower case. */
export interface TransferWithAuthorization {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  readonly nonce: string
}

/** Permit2's `PermitWitnessTransferFrom` with the witness of x402; `facilitator` is part of it under `upto` only. */
export interface PermitWitness {
  readonly token: string
  readonly amount: bigint
  readonly spender: string
  readonly nonce: bigint
  readonly deadline: bigint
  readonly to: string
  readonly facilitator: string | undefined
  readonly validAfter: bigint
}

/** The contract of Uniswap, at one address on every chain. */
export const permit2 = "0x000000000022d473030f116ddee9f6b43ac78ba3"

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")
const hashText = (text: string): string => hex(keccak_256(Buffer.from(text)))
const hashWords = (...words: ReadonlyArray<string>): string => hex(keccak_256(Buffer.from(words.join(""), "hex")))
const uint = (value: bigint): string => value.toString(16).padStart(64, "0")
const address = (text: string): string => text.slice(2).padStart(64, "0")

const domainType = hashText("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)")
const permit2DomainType = hashText("EIP712Domain(string name,uint256 chainId,address verifyingContract)")
const transferType = hashText(
  "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
)
const tokenPermissions = "TokenPermissions(address token,uint256 amount)"
const tokenPermissionsType = hashText(tokenPermissions)
const exactWitness = "Witness(address to,uint256 validAfter)"
const uptoWitness = "Witness(address to,address facilitator,uint256 validAfter)"
const permitOf = (witness: string) => ({
  witness: hashText(witness),
  permit: hashText(
    "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Witness witness)" +
      tokenPermissions +
      witness
  )
})
const exactTypes = permitOf(exactWitness)
const uptoTypes = permitOf(uptoWitness)

/** As many tokens as there are in use; an endpoint may name one of its own, so there is an end to it. */
const separators = new Map<string, string>()
const remembered = 256

const remember = (name: string, separator: () => string): string => {
  let known = separators.get(name)
  if (known === undefined) {
    known = separator()
    if (separators.size >= remembered) separators.clear()
    separators.set(name, known)
  }
  return known
}

const tokenSeparator = ({ chainId, contract, name, version }: TokenDomain): string =>
  remember(JSON.stringify([String(chainId), contract, name, version]), () =>
    hashWords(domainType, hashText(name), hashText(version), uint(chainId), address(contract))
  )

const permit2Separator = (chainId: bigint): string =>
  remember(String(chainId), () => hashWords(permit2DomainType, hashText("Permit2"), uint(chainId), address(permit2)))

const digestOf = (separator: string, struct: string): Uint8Array =>
  keccak_256(Buffer.from(`1901${separator}${struct}`, "hex"))

/** What a payer signs to let `value` be taken by EIP-3009. */
export const transferDigest = (domain: TokenDomain, message: TransferWithAuthorization): Uint8Array =>
  digestOf(
    tokenSeparator(domain),
    hashWords(
      transferType,
      address(message.from),
      address(message.to),
      uint(message.value),
      uint(message.validAfter),
      uint(message.validBefore),
      message.nonce.slice(2)
    )
  )

/** What a payer signs to let `amount`, or at most `amount`, be taken through Permit2. */
export const permitDigest = (chainId: bigint, message: PermitWitness): Uint8Array => {
  const { facilitator, to, validAfter } = message
  const types = facilitator === undefined ? exactTypes : uptoTypes
  const witness =
    facilitator === undefined
      ? hashWords(types.witness, address(to), uint(validAfter))
      : hashWords(types.witness, address(to), address(facilitator), uint(validAfter))
  return digestOf(
    permit2Separator(chainId),
    hashWords(
      types.permit,
      hashWords(tokenPermissionsType, address(message.token), uint(message.amount)),
      address(message.spender),
      uint(message.nonce),
      uint(message.deadline),
      witness
    )
  )
}

/** What a wallet signs when it signs a text (EIP-191). */
export const textDigest = (text: string): Uint8Array => {
  const bytes = Buffer.from(text)
  return keccak_256(Buffer.concat([Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`), bytes]))
}

/** `0x` and the hash of a text's bytes. */
export const keccakText = (text: string): string => `0x${hashText(text)}`

/** Half of the order of the curve: of the two signatures with the same meaning, tokens take the one below it. */
const halfOrderHex = "7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0"
const halfOrder = Buffer.from(halfOrderHex, "hex")

/** Whether this address signed the digest, as strictly as USDC asks on the chain: 65 bytes, v 27 or 28, s in the lower half. */
export const isSignedBy = (recover: Recover, signer: string, digest: Uint8Array, signature: string): boolean => {
  if (!/^0x[0-9a-f]{130}$/i.test(signature)) return false
  const bytes = Buffer.from(signature.slice(2), "hex")
  const v = bytes[64]
  if ((v !== 27 && v !== 28) || bytes.compare(halfOrder, 0, 32, 32, 64) > 0) return false
  const recovered = recover(digest, bytes)
  return recovered !== undefined && `0x${hex(recovered)}` === signer
}
