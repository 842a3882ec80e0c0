import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import secp256k1 from "secp256k1"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { hashDomain, hexToBytes } from "viem"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { type Connection, get } from "../gateway/Connection.ts"
import { expectStatus, open } from "../gateway/HttpLoad.ts"

/** Keys that sign payments in turn. */
export interface Payers {
  readonly addresses: ReadonlyArray<string>
  /** Signs `count` fresh payments of what a server asks for this path now, as whole requests. */
  readonly sign: (port: number, path: string, count: number) => Effect.Effect<Array<string>>
}

const eip712Domain = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" }
] as const

const typeHash = keccak_256(
  Buffer.from(
    "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
  )
)

/** 32 bytes of a number, an address or a hash. */
const word = (value: string): Buffer =>
  Buffer.from((value.startsWith("0x") ? value.slice(2) : BigInt(value).toString(16)).padStart(64, "0"), "hex")

export const makePayers = (count: number): Payers => {
  const keys = Array.from({ length: count }, generatePrivateKey)
  const payers = keys.map((key) => ({ secret: hexToBytes(key), address: privateKeyToAddress(key) }))

  const requests = async (connection: Connection, path: string, count: number) => {
    const { head } = expectStatus(402, await connection.exchange(get(path)))
    const header = /\r\npayment-required: *(\S+)/i.exec(head)?.[1] ?? ""
    const { accepts, resource } = JSON.parse(Buffer.from(header, "base64").toString())
    const [accepted] = accepts
    const { name, version } = accepted.extra
    // Hashing by hand takes a tenth of the time that a library needs, and there are tens of thousands to sign.
    const domain = hexToBytes(
      hashDomain({
        domain: { name, version, chainId: 84532n, verifyingContract: accepted.asset },
        types: { EIP712Domain: eip712Domain }
      })
    )
    const validBefore = String(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds)
    return Array.from({ length: count }, (_, index) => {
      const payer = payers[index % payers.length]
      if (payer === undefined) throw new Error("Nobody pays")
      const nonce = `0x${randomBytes(32).toString("hex")}`
      const authorization = {
        from: payer.address,
        to: accepted.payTo,
        value: accepted.amount,
        validAfter: "0",
        validBefore,
        nonce
      }
      const struct = keccak_256(Buffer.concat([typeHash, ...Object.values(authorization).map(word)]))
      const digest = keccak_256(Buffer.concat([Buffer.from("1901", "hex"), domain, struct]))
      const { recid, signature } = secp256k1.ecdsaSign(digest, payer.secret)
      const payload = {
        authorization,
        signature: `0x${Buffer.from(signature).toString("hex")}${(27 + recid).toString(16)}`
      }
      const payment = Buffer.from(JSON.stringify({ x402Version: 2, resource, accepted, payload })).toString("base64")
      return get(path, `PAYMENT-SIGNATURE: ${payment}\r\n`)
    })
  }

  return {
    addresses: payers.map(({ address }) => address),
    sign: (port, path, count) =>
      Effect.scoped(
        Effect.flatMap(open(port, 1), ([connection]) => Effect.promise(() => requests(connection, path, count)))
      )
  }
}
