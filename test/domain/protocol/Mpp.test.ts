import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import { keccak256, stringToHex } from "viem"
import {
  challengeOf,
  problemOf,
  readCredential,
  receiptHeader,
  speaksMpp,
  writeChallenge
} from "#domain/protocol/Mpp.ts"
import { sealQuote } from "#domain/protocol/SealedQuote.ts"
import {
  authorized,
  endpoint,
  key,
  now,
  offer,
  outcome,
  payer,
  price,
  quote,
  reasonOf,
  settlers,
  signTransfer,
  stranger,
  terms,
  transfer
} from "./Payers.ts"

const challengeFor = (seal = quote, salt = "AAAAAAAAAAA", asked = endpoint) => {
  const made = challengeOf(key, { endpoint: asked, price, settlers }, { quote: seal, salt, issuedAt: now })
  return made?.challenge ?? assert.fail("no challenge")
}
const challenge = challengeFor()
const challengeNonce = ({ id, realm } = challenge) => keccak256(stringToHex(id + realm))
const inTime = { validBefore: BigInt((now + 300_000) / 1000) }

const credential = (value: object) => ({
  authorization: `Payment ${Buffer.from(JSON.stringify(value)).toString("base64url")}`
})
const signed = async (change: Parameters<typeof signTransfer>[0] = {}, answered = challenge) => {
  const { authorization, signature } = await signTransfer({ nonce: challengeNonce(answered), ...inTime, ...change })
  return { type: "authorization", ...authorization, signature }
}

describe("a challenge", () => {
  it("is written as HTTP authentication: what is asked for, in base64url of JSON with sorted keys", () => {
    const text = writeChallenge(challenge)
    assert.match(text, /^Payment id="[^"]+", realm="pay\.example", method="evm", intent="charge", request="[\w-]+", /)
    const request = Buffer.from(challenge.request, "base64url").toString()
    assert.strictEqual(
      request,
      '{"amount":"10000","currency":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","methodDetails":{"chainId":84532,' +
        `"credentialTypes":["authorization"],"decimals":6},"recipient":"${endpoint.paymentAddress}"}`
    )
    assert.strictEqual(challenge.expires, new Date(now + 300_000).toISOString())
  })

  it("differs in everything that it binds", () => {
    const ids = [
      challenge,
      challengeFor(sealQuote(key, { ...terms, limit: 20_000n })),
      challengeFor(quote, "BBBBBBBBBBB"),
      challengeFor(quote, "AAAAAAAAAAA", { ...endpoint, paymentAddress: stranger.address }),
      challengeFor(quote, "AAAAAAAAAAA", { ...endpoint, gatewayUrl: "https://other.example/x402/1" }),
      challengeFor(quote, "AAAAAAAAAAA", { ...endpoint, network: "base-mainnet" })
    ].map(({ id }) => id)
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("on Solana asks for a transfer whose fee we pay, with a memo of its own, and needs somebody who pays the fee", () => {
    const solana = { ...endpoint, network: "solana-devnet", assetAddress: null } as const
    const asked = challengeFor(quote, "AAAAAAAAAAA", solana)
    assert.match(writeChallenge(asked), /, method="solana", intent="charge", /)
    assert.strictEqual(
      Buffer.from(asked.request, "base64url").toString(),
      `{"amount":"10000","currency":"4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU","externalId":"${quote} AAAAAAAAAAA",` +
        `"methodDetails":{"decimals":6,"feePayer":true,"feePayerKey":"${settlers.feePayer}","network":"devnet",` +
        `"tokenProgram":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"},"recipient":"${endpoint.paymentAddress}"}`
    )
    const main = challengeFor(quote, "AAAAAAAAAAA", { ...solana, network: "solana-mainnet" })
    assert.notInclude(Buffer.from(main.request, "base64url").toString(), "network")
    const nobody = { endpoint: solana, price, settlers: { ...settlers, feePayer: undefined } }
    assert.isUndefined(challengeOf(key, nobody, { quote, salt: "A", issuedAt: now }))
  })

  it("is none without the exact scheme", () => {
    const metered = { ...endpoint, schemes: ["upto"] as const }
    assert.isUndefined(challengeOf(key, { endpoint: metered, price, settlers }, { quote, salt: "A", issuedAt: now }))
  })
})

describe("a credential", () => {
  it("that answers the challenge is the same authorisation as one of x402", async () => {
    const payload = await signed()
    const source = `did:pkh:eip155:84532:${payer.address}`
    const authorization = authorized(outcome(credential({ challenge, payload, source })))
    assert.strictEqual(authorization.protocol, "mpp")
    assert.strictEqual(authorization.method, "eip3009")
    assert.strictEqual(authorization.payer, payer.address.toLowerCase())
    assert.strictEqual(authorization.nonce, challengeNonce())
    assert.strictEqual(authorization.quote, quote)
    assert.deepStrictEqual(authorization.requirements, offer("exact"))
    assert.isTrue(outcome(credential({ challenge, payload }))._tag === "Accepted")
  })

  it("must echo the challenge as it was", async () => {
    const payload = await signed()
    const changes = [
      { realm: "other.example" },
      { method: "tempo" },
      { intent: "session" },
      { request: challengeFor(quote, "A", { ...endpoint, network: "base-mainnet" }).request },
      { expires: new Date(now + 900_000).toISOString() },
      { id: `${challenge.id.slice(0, 42)}x.AAAAAAAAAAA` },
      { id: challenge.id.slice(0, 43) },
      { id: `x${challenge.id}` },
      { id: challenge.id.replace(/.\./, "é.") },
      { id: [challenge.id] },
      { id: undefined },
      { opaque: [challenge.opaque] },
      { opaque: 1 }
    ]
    for (const change of changes) {
      const reason = reasonOf(outcome(credential({ challenge: { ...challenge, ...change }, payload })))
      assert.include(["invalid_challenge", "quote_unknown"], reason, JSON.stringify(change))
    }
    const resalted = { ...challenge, id: challenge.id.replace("AAAAAAAAAAA", "BBBBBBBBBBB") }
    assert.strictEqual(reasonOf(outcome(credential({ challenge: resalted, payload }))), "challenge_nonce_mismatch")
    const forged = { ...challenge, opaque: Buffer.from('{"quote":"pr_x"}').toString("base64url") }
    assert.strictEqual(reasonOf(outcome(credential({ challenge: forged, payload }))), "quote_unknown")
  })

  it("with any other id than the challenge's is refused, and does not throw", async () => {
    const payload = await signed()
    const { id } = challenge
    const read = (other: unknown) =>
      readCredential({ _tag: "Mpp", challenge: { ...challenge, id: other }, payload, source: undefined }, challenge)
    for (const other of [undefined, 1, [id], "", `${id}A`, id.slice(1), `é${id.slice(1)}`, `${id.slice(1)}é`]) {
      assert.strictEqual(read(other), "invalid_challenge", String(other))
    }
    assert.isObject(read(id))
  })

  it("is refused where it was not asked for", async () => {
    const header = credential({ challenge, payload: await signed() })
    assert.strictEqual(reasonOf(outcome(header, { endpoint: { ...endpoint, mpp: false } })), "unsupported_scheme")
    assert.strictEqual(reasonOf(outcome(header, { method: "POST" })), "quote_for_another_method")
    assert.strictEqual(reasonOf(outcome(header, { now: now + 300_001 })), "quote_expired")
    const moved = { ...endpoint, paymentAddress: stranger.address.toLowerCase() }
    assert.strictEqual(reasonOf(outcome(header, { endpoint: moved })), "invalid_challenge")
  })

  const changes = [
    ["with another nonce", "challenge_nonce_mismatch", { nonce: transfer.nonce }],
    ["with another end", "challenge_expiry_mismatch", { validBefore: inTime.validBefore + 1n }],
    ["to another receiver", "invalid_exact_evm_recipient_mismatch", { to: stranger.address }],
    ["of another amount", "invalid_exact_evm_payload_authorization_value_mismatch", { value: price - 1n }],
    ["of somebody else", "invalid_exact_evm_signature", { from: stranger.address }]
  ] as const
  for (const [name, reason, change] of changes) {
    it(`${name} is refused: ${reason}`, async () => {
      assert.strictEqual(reasonOf(outcome(credential({ challenge, payload: await signed(change) }))), reason)
    })
  }

  it("of another type, or of another source than its payer, is refused", async () => {
    const payload = await signed()
    const typed = credential({ challenge, payload: { ...payload, type: "transaction" } })
    assert.strictEqual(reasonOf(outcome(typed)), "invalid_payload")
    for (const nonce of [undefined, 1, [challengeNonce()]]) {
      assert.strictEqual(
        reasonOf(outcome(credential({ challenge, payload: { ...payload, nonce } }))),
        "invalid_payload"
      )
    }
    const loud = `0x${challengeNonce().slice(2).toUpperCase()}`
    assert.strictEqual(reasonOf(outcome(credential({ challenge, payload: { ...payload, nonce: loud } }))), "Accepted")
    for (const source of [`did:pkh:eip155:84532:${stranger.address}`, `did:pkh:eip155:1:${payer.address}`, ""]) {
      assert.strictEqual(reasonOf(outcome(credential({ challenge, payload, source }))), "payer_mismatch", source)
    }
  })

  it("whose payer is no text is refused, and does not throw", async () => {
    const payload = await signed()
    const source = `did:pkh:eip155:84532:${payer.address}`
    for (const from of [{ toString: 1 }, { toString: null, valueOf: null }, [payer.address], 1, null, undefined]) {
      const header = credential({ challenge, payload: { ...payload, from }, source })
      assert.strictEqual(reasonOf(outcome(header)), "payer_mismatch", JSON.stringify(from))
    }
  })

  it("may be the payer's own price, and is then for nobody else", async () => {
    const own = challengeFor(sealQuote(key, terms, stranger.address.toLowerCase()))
    const header = credential({ challenge: own, payload: await signed({}, own) })
    assert.strictEqual(reasonOf(outcome(header)), "quote_for_another_payer")
  })
})

it("MPP is spoken by endpoints that have a fixed price, unless their sellers do not want it", () => {
  const wanted = { mpp: true, schemes: ["exact", "upto"] } as const
  assert.isTrue(speaksMpp(wanted))
  assert.isFalse(speaksMpp({ ...wanted, mpp: false }))
  assert.isFalse(speaksMpp({ ...wanted, schemes: ["upto"] }))
})

describe("what MPP is told", () => {
  it("of a success is a receipt", () => {
    const about = { reference: "pay_1", at: DateTime.makeUnsafe(now), challenge: "id" }
    const told = { reference: "pay_1", status: "success", timestamp: new Date(now).toISOString(), challengeId: "id" }
    const receiptOn = (network: "base-sepolia" | "solana-devnet") =>
      JSON.parse(Buffer.from(receiptHeader({ ...about, network }), "base64url").toString())
    assert.deepStrictEqual(receiptOn("base-sepolia"), { ...told, method: "evm", chainId: 84532 })
    assert.deepStrictEqual(receiptOn("solana-devnet"), { ...told, method: "solana" })
  })

  it("of a refusal is a problem of its own kind", () => {
    const kinds = {
      payment_required: "Payment Required",
      invalid_payload: "Malformed Credential",
      payment_header_too_large: "Malformed Credential",
      multiple_payments: "Malformed Credential",
      invalid_challenge: "Invalid Challenge",
      quote_unknown: "Invalid Challenge",
      quote_expired: "Payment Expired",
      insufficient_funds: "Payment Insufficient",
      invalid_exact_evm_signature: "Verification Failed"
    }
    for (const [reason, title] of Object.entries(kinds)) {
      const type = `https://paymentauth.org/problems/${title.toLowerCase().replace(" ", "-")}`
      assert.deepStrictEqual(problemOf(reason), { type, title, status: 402, detail: reason })
    }
  })
})
