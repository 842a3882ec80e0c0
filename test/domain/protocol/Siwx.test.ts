import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { createSiweMessage } from "viem/siwe"
import { encodeBase58 } from "#domain/Network.ts"
import { tokenKey } from "#domain/PaymentToken.ts"
import { keyPair } from "#domain/protocol/SolanaKeys.ts"
import { signedIn, signInExtension, signInFor, signInText } from "#domain/protocol/Siwx.ts"
import { base64, endpoint, key, now, payer, recover, stranger } from "./Payers.ts"

const info = signInFor(key, endpoint, now)
const context = { key, now, recover }

const proof = async (change: object = {}) => ({
  ...info,
  address: payer.address,
  chainId: "eip155:84532",
  type: "eip191",
  signature: await payer.signMessage({ message: signInText(info, "base-sepolia", payer.address) }),
  ...change
})
const outcome = (fields: object, at = now, where: Parameters<typeof signedIn>[1] = endpoint) => {
  const answer = signedIn(base64(fields), where, { ...context, now: at })
  return answer._tag === "SignedIn" ? answer.address : answer.reason
}

describe("what a 402 says of signing in", () => {
  it("is what to sign, on which chain, by which kind of key, and every field that has to come back", () => {
    for (const [network, chainId, type] of [
      ["base-sepolia", "eip155:84532", "eip191"],
      ["solana-devnet", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "ed25519"]
    ] as const) {
      const { schema, ...said } = signInExtension(info, network)
      assert.deepStrictEqual(said, { info, supportedChains: [{ chainId, type }] })
      const required = ["address", "chainId", "domain", "issuedAt", "nonce", "signature", "type", "uri", "version"]
      assert.deepStrictEqual([...schema.required].sort(), required)
    }
  })

  it("on Solana is the likeness of EIP-4361, with one line in the place of a statement", () => {
    assert.deepStrictEqual(signInText(info, "solana-devnet", "me").split("\n").slice(0, 6), [
      "pay.example wants you to sign in with your Solana account:",
      "me",
      "",
      `URI: ${info.uri}`,
      "Version: 1",
      "Chain ID: EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
    ])
    assert.deepStrictEqual(signInText(info, "base-sepolia", "me").split("\n").slice(0, 7), [
      "pay.example wants you to sign in with your Ethereum account:",
      "me",
      "",
      "",
      `URI: ${info.uri}`,
      "Version: 1",
      "Chain ID: 84532"
    ])
  })
})

describe("signing in", () => {
  it("is by the text of EIP-4361, to the byte", () => {
    const expected = createSiweMessage({
      address: payer.address,
      chainId: 84_532,
      domain: info.domain,
      nonce: info.nonce,
      uri: info.uri,
      version: "1",
      issuedAt: new Date(info.issuedAt),
      expirationTime: new Date(info.expirationTime),
      resources: [...info.resources]
    })
    // The libraries disagree about a statement that is not there; clients of x402 keep both empty lines.
    const text = signInText(info, "base-sepolia", payer.address).replace("\n\n\nURI", "\n\nURI")
    assert.strictEqual(text, expected.replace("\n\n\nURI", "\n\nURI"))
  })

  it("proves an address on EVM chains", async () => {
    assert.strictEqual(outcome(await proof()), payer.address.toLowerCase())
  })

  it("proves an address on Solana", () => {
    const solana = { ...endpoint, network: "solana-devnet" as const }
    const pair = keyPair(createHash("sha256").update("sign in").digest())
    const message = Buffer.from(signInText(info, "solana-devnet", pair.address))
    const fields = {
      ...info,
      address: pair.address,
      chainId: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
      signature: encodeBase58(pair.sign(message))
    }
    assert.strictEqual(outcome(fields, now, solana), pair.address)
    const changed = { ...fields, address: keyPair(createHash("sha256").update("other").digest()).address }
    assert.strictEqual(outcome(changed, now, solana), "invalid_siwx_signature")
    for (const signature of ["", "1", "0", fields.signature.slice(1), `1${fields.signature}`, "z".repeat(5_000)]) {
      assert.strictEqual(
        outcome({ ...fields, signature }, now, solana),
        "invalid_siwx_signature",
        signature.slice(0, 9)
      )
    }
    for (const change of [{ address: 1 }, { address: [pair.address] }, { signature: 1 }, { signature: null }]) {
      assert.strictEqual(outcome({ ...fields, ...change }, now, solana), "invalid_siwx_header", JSON.stringify(change))
    }
  })

  it("is for five minutes", async () => {
    assert.strictEqual(info.expirationTime, new Date(now + 300_000).toISOString())
    assert.strictEqual(outcome(await proof(), now + 300_000), payer.address.toLowerCase())
    assert.strictEqual(outcome(await proof(), now + 300_001), "invalid_siwx_expired")
  })

  it("is for this endpoint, and under a nonce of ours", async () => {
    const other = { ...endpoint, gatewayUrl: "https://pay.example/x402/another" }
    assert.strictEqual(outcome(await proof(), now, other), "invalid_siwx_nonce")
    const later = new Date(now + 1000).toISOString()
    const around = [`${info.nonce}0`, `0${info.nonce}`, info.nonce.slice(1), [info.nonce]]
    const nonces = ["0".repeat(32), "", 1, ...around].map((nonce) => ({ nonce }))
    const changes = [...nonces, { issuedAt: later }]
    for (const change of changes) {
      assert.strictEqual(outcome(await proof(change)), "invalid_siwx_nonce", JSON.stringify(change))
    }
    const forged = signInFor(tokenKey(Buffer.alloc(32, 9)), endpoint, now)
    assert.strictEqual(outcome(await proof({ nonce: forged.nonce })), "invalid_siwx_nonce")
    const respelled = info.issuedAt.replace("Z", "+00:00")
    assert.strictEqual(outcome(await proof({ issuedAt: respelled })), "invalid_siwx_nonce")
  })

  it("is refused, and does not throw, with a nonce of as many characters but more bytes", async () => {
    assert.strictEqual(outcome(await proof({ nonce: "é".repeat(32) })), "invalid_siwx_nonce")
  })

  it("is refused, and does not throw, with a time after which there is no other", async () => {
    assert.strictEqual(outcome(await proof({ issuedAt: "+275760-09-13T00:00:00.000Z" })), "invalid_siwx_header")
  })

  it("is refused with a signature of somebody else, or on another chain", async () => {
    assert.strictEqual(outcome(await proof({ address: stranger.address })), "invalid_siwx_signature")
    const short = { signature: (await proof()).signature.slice(0, -2) }
    assert.strictEqual(outcome(await proof(short)), "invalid_siwx_signature")
    assert.strictEqual(outcome(await proof({ chainId: "eip155:8453" })), "invalid_siwx_unsupported_chain")
  })

  it("is refused when it is not what it must be", async () => {
    const changes = [
      { address: 1 },
      { address: "me" },
      { signature: undefined },
      { issuedAt: "now" },
      { issuedAt: now }
    ]
    for (const change of changes) {
      assert.strictEqual(outcome(await proof(change)), "invalid_siwx_header", JSON.stringify(change))
    }
    for (const header of ["", "x", "%", base64([]), base64(await proof({ x: "x".repeat(9_000) }))]) {
      assert.deepInclude(signedIn(header, endpoint, context), { reason: "invalid_siwx_header" })
    }
  })
})
