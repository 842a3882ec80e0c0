import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { tokenKey } from "#domain/PaymentToken.ts"
import { authorizationId, timeToAnswer } from "#domain/protocol/Authorization.ts"
import { claimedPayer } from "#domain/protocol/Accept.ts"
import { sealQuote } from "#domain/protocol/SealedQuote.ts"
import { readPayment } from "#domain/protocol/X402Payload.ts"
import {
  authorized,
  base64,
  endpoint,
  key,
  now,
  offer,
  otherId,
  outcome,
  payer,
  price,
  quote,
  reasonOf,
  settlers,
  signPermit,
  signTransfer,
  stranger,
  terms,
  v1,
  v2
} from "./Payers.ts"

const original = (payload: unknown, accepted: object) => ({
  text: JSON.stringify({ x402Version: 2, accepted, payload }),
  authorization: authorized(outcome(v2(payload, accepted)))
})
const exact = original(await signTransfer(), offer("exact"))
const metered = original(await signPermit("upto"), offer("upto"))

const idOf = ({ asset, network, nonce, payer }: ReturnType<typeof authorized>) =>
  authorizationId(network, asset, payer, nonce)

describe("a payment of version 2", () => {
  it("is refused where it was not asked for: another endpoint, another method", async () => {
    const header = v2(await signTransfer())
    const other = { ...endpoint, id: otherId }
    assert.strictEqual(reasonOf(outcome(header, { endpoint: other })), "quote_for_another_endpoint")
    assert.strictEqual(reasonOf(outcome(header, { method: "POST" })), "quote_for_another_method")
  })

  it("is honoured at the price and for the time it was quoted, whatever the price is by then", async () => {
    const header = v2(await signTransfer({ validBefore: BigInt(now / 1000 + 1_000) }))
    assert.strictEqual(reasonOf(outcome(header, { prices: [20_000n], now: now + 300_000 })), "Accepted")
    assert.strictEqual(reasonOf(outcome(header, { now: now + 300_001 })), "quote_expired")
  })

  it("that is too late says what it was, as it may have been used in time", async () => {
    const payload = await signTransfer({ validBefore: BigInt(now / 1000 + 10) })
    for (const late of [now + 5_000, now + 400_000]) {
      const acceptance = outcome(v2(payload), { now: late })
      if (acceptance._tag === "Accepted" || !("outdated" in acceptance)) return assert.fail(acceptance._tag)
      assert.deepStrictEqual(acceptance.outdated, authorized(outcome(v2(payload))))
    }
    const forged = { ...payload, signature: (await signTransfer({ value: 1n })).signature }
    assert.notProperty(outcome(v2(forged), { now: now + 400_000 }), "outdated")
    assert.notProperty(outcome(v2(await signTransfer({ value: 1n }))), "outdated")
  })

  it("of a way that its endpoint has given up says what it was", async () => {
    const permit = v2(await signPermit("upto"), offer("upto"))
    const transferred = v2(await signTransfer())
    for (const [header, schemes] of [
      [permit, ["exact"]],
      [transferred, ["upto"]]
    ] as const) {
      const acceptance = outcome(header, { endpoint: { ...endpoint, schemes } })
      if (acceptance._tag === "Accepted" || !("outdated" in acceptance)) return assert.fail(acceptance._tag)
      assert.deepStrictEqual(acceptance.outdated, authorized(outcome(header)))
    }
  })

  it("under upto may name any address that settles", async () => {
    const header = v2(await signPermit("upto"), offer("upto"))
    const moved = { ...settlers, facilitator: stranger.address.toLowerCase() }
    assert.strictEqual(reasonOf(outcome(header, { settlers: moved })), "invalid_payment_requirements")
    const both = { ...moved, signers: [moved.facilitator, settlers.facilitator] }
    assert.strictEqual(reasonOf(outcome(header, { settlers: both })), "Accepted")
  })

  it("with a quote that we did not seal is refused", async () => {
    const payload = await signTransfer()
    const sealed = [
      sealQuote(tokenKey(Buffer.alloc(32, 8)), terms),
      `${quote.slice(0, -1)}${quote.endsWith("A") ? "B" : "A"}`,
      quote.slice(0, -4),
      `${quote}.AAAAAAAAAAAAAAAAAAAAAA`,
      ""
    ]
    for (const seal of sealed) {
      assert.strictEqual(reasonOf(outcome(v2(payload, offer("exact", seal)))), "quote_unknown", seal)
    }
    const { quote: _, ...others } = offer("exact").extra
    for (const extra of [others, null, undefined, quote]) {
      assert.strictEqual(reasonOf(outcome(v2(payload, { ...offer("exact"), extra }))), "quote_unknown", String(extra))
    }
  })

  it("for one payer's price is good for that payer only", async () => {
    const own = sealQuote(key, terms, payer.address.toLowerCase())
    const others = sealQuote(key, terms, stranger.address.toLowerCase())
    const payload = await signTransfer()
    assert.strictEqual(authorized(outcome(v2(payload, offer("exact", own)))).quote, own)
    assert.strictEqual(reasonOf(outcome(v2(payload, offer("exact", others)))), "quote_for_another_payer")
  })

  it("for one payer's price is good for nobody without the seal that names the payer", async () => {
    const payload = await signTransfer()
    const [bare = "", seal = ""] = sealQuote(key, terms, payer.address.toLowerCase()).split(".")
    for (const cut of [bare, `${bare}.`, `${bare}AAAAAAAAAAA`, `${quote}.${seal}`]) {
      assert.strictEqual(reasonOf(outcome(v2(payload, offer("exact", cut)))), "quote_unknown", cut)
    }
  })

  it("for one payer's price has one spelling", async () => {
    const payload = await signTransfer()
    const own = sealQuote(key, terms, payer.address.toLowerCase())
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
    const others = letters.map((letter) => own.slice(0, -1) + letter).filter((other) => other !== own)
    const reasons = others.map((other) => reasonOf(outcome(v2(payload, offer("exact", other)))))
    // Of the last letter two bits are in a byte: three other letters spell another seal, and all the rest none.
    assert.strictEqual(reasons.filter((reason) => reason === "quote_unknown").length, 60)
    assert.strictEqual(reasons.filter((reason) => reason === "quote_for_another_payer").length, 3)
  })

  it("must echo what was offered, exactly", async () => {
    const payload = await signTransfer()
    const changes: ReadonlyArray<readonly [reason: string, change: object]> = [
      ["unsupported_scheme", { scheme: "batch-settlement" }],
      ["unsupported_scheme", { scheme: undefined }],
      ["invalid_network", { network: "eip155:8453" }],
      ["invalid_network", { network: "base-sepolia" }],
      ["invalid_payment_requirements", { amount: String(price + 1n) }],
      ["invalid_payment_requirements", { amount: Number(price) }],
      ["invalid_payment_requirements", { asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" }],
      ["invalid_payment_requirements", { payTo: stranger.address }],
      ["invalid_payment_requirements", { maxTimeoutSeconds: 301 }],
      ["invalid_payment_requirements", { maxTimeoutSeconds: undefined }],
      ["invalid_payment_requirements", { unknown: true }],
      ["invalid_payment_requirements", { extra: { ...offer("exact").extra, name: "USD Coin" } }],
      ["invalid_payment_requirements", { extra: { quote } }]
    ]
    for (const [reason, change] of changes) {
      const accepted = { ...offer("exact"), ...change }
      assert.strictEqual(reasonOf(outcome(v2(payload, accepted))), reason, JSON.stringify(change))
    }
    const more = { ...offer("exact"), extra: { ...offer("exact").extra, mine: [1, 2] } }
    assert.deepStrictEqual(outcome(v2(payload, more)), outcome(v2(payload)))
  })

  it("is refused when what the endpoint asks for has changed since", async () => {
    const header = v2(await signTransfer())
    const moved = { ...endpoint, paymentAddress: stranger.address.toLowerCase() }
    assert.strictEqual(reasonOf(outcome(header, { endpoint: moved })), "invalid_payment_requirements")
    const metered = { ...endpoint, schemes: ["upto"] as const }
    assert.strictEqual(reasonOf(outcome(header, { endpoint: metered })), "unsupported_scheme")
  })

  it("under upto needs an endpoint that offers it, and somebody who settles it", async () => {
    const header = v2(await signPermit("upto"), offer("upto"))
    assert.strictEqual(reasonOf(outcome(header)), "Accepted")
    const plain = { ...endpoint, schemes: ["exact"] as const }
    assert.strictEqual(reasonOf(outcome(header, { endpoint: plain })), "unsupported_scheme")
    const alone = { ...settlers, facilitator: undefined }
    assert.strictEqual(reasonOf(outcome(header, { settlers: alone })), "unsupported_scheme")
  })

  it("carries the name that the client gave it", async () => {
    const payload = await signTransfer()
    const named = (id: unknown) =>
      v2(payload, offer("exact"), { "payment-identifier": { info: { required: false, id } } })
    assert.strictEqual(authorized(outcome(named("pay_0123456789abcdef"))).identifier, "pay_0123456789abcdef")
    assert.isUndefined(authorized(outcome(named(undefined))).identifier)
    for (const id of ["short", "x".repeat(129), "pay 0123456789abcdef", 7, null]) {
      assert.strictEqual(reasonOf(outcome(named(id))), "invalid_payload", String(id))
    }
  })
})

describe("a payment of version 1", () => {
  it("is of a scheme and a network that the endpoint has", async () => {
    const payload = await signTransfer()
    assert.strictEqual(reasonOf(outcome(v1(payload, "base-sepolia", "upto"))), "unsupported_scheme")
    for (const network of ["base", "eip155:84532", "solana-devnet", ""]) {
      assert.strictEqual(reasonOf(outcome(v1(payload, network))), "invalid_network", network)
    }
    const metered = { ...endpoint, schemes: ["upto"] as const }
    assert.strictEqual(reasonOf(outcome(v1(payload), { endpoint: metered })), "unsupported_scheme")
  })

  it("of a price that is no longer asked for says what it was", async () => {
    const acceptance = outcome(v1(await signTransfer()), { prices: [20_000n] })
    if (acceptance._tag === "Accepted" || !("outdated" in acceptance)) return assert.fail(acceptance._tag)
    assert.strictEqual(acceptance.reason, "invalid_exact_evm_payload_authorization_value_mismatch")
    assert.strictEqual(acceptance.outdated?.amount, price)
  })

  it("by Permit2 is accepted too, and says what it was when its price or time is over", async () => {
    const payload = await signPermit("exact")
    const authorization = authorized(outcome(v1(payload)))
    assert.strictEqual(authorization.method, "permit2")
    const before = { outdated: authorization }
    assert.deepInclude(outcome(v1(payload), { prices: [20_000n] }), { reason: "permit2_amount_mismatch", ...before })
    const late = { now: now + 400_000 }
    assert.deepInclude(outcome(v1(payload), late), { reason: "permit2_deadline_expired", ...before })
  })

  it("that is not good yet cannot have been used, and says nothing of before", async () => {
    const payload = await signTransfer({ validAfter: BigInt(now / 1000 + 1) })
    for (const header of [v1(payload), v2(payload)]) {
      assert.notProperty(outcome(header), "outdated")
      assert.strictEqual(reasonOf(outcome(header)), "invalid_exact_evm_payload_authorization_valid_after")
    }
  })

  it("of what is no amount is malformed, and of more than the ledger can hold of no price that ever was", async () => {
    const { authorization, signature } = await signTransfer()
    for (const value of ["soon", "12x", "x12", "-1", ""]) {
      const payload = { signature, authorization: { ...authorization, value } }
      assert.strictEqual(reasonOf(outcome(v1(payload))), "invalid_payload", value)
    }
    const much = outcome(v1(await signTransfer({ value: 10n ** 19n })))
    assert.strictEqual(reasonOf(much), "invalid_exact_evm_payload_authorization_value_mismatch")
    assert.notProperty(much, "outdated")
  })
})

describe("a payment that was changed on its way", () => {
  const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))
  const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0x20, maximum: 0x7e }))
  const changed = (text: string, place: number, byte: number) => {
    const at = place % text.length
    return text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1)
  }

  it.prop(
    "by one character of its JSON is refused or is the same authorisation",
    { place: Place, byte: Byte, upto: Schema.Boolean },
    ({ byte, place, upto }) => {
      const { authorization, text } = upto ? metered : exact
      const acceptance = outcome({ "payment-signature": Buffer.from(changed(text, place, byte)).toString("base64") })
      if (acceptance._tag === "Refused") return
      assert.strictEqual(idOf(acceptance.authorization), idOf(authorization))
      assert.deepStrictEqual(acceptance.authorization, authorization)
    }
  )

  it("by one character of its header is refused or is the same authorisation", async () => {
    const payload = await signTransfer()
    const header = base64({ x402Version: 2, accepted: offer("exact"), payload })
    const expected = authorized(outcome(v2(payload)))
    for (let place = 0; place < header.length; place += 7) {
      const acceptance = outcome({ "payment-signature": changed(header, place, 0x2b) })
      if (acceptance._tag === "Accepted") assert.deepStrictEqual(acceptance.authorization, expected)
    }
  })
})

describe("the payer that a payment names", () => {
  const claimed = (headers: Record<string, string>) => {
    const presented = readPayment(headers)
    return presented === undefined || presented._tag === "Malformed"
      ? assert.fail("malformed")
      : claimedPayer(presented)
  }

  it("is known before anything is checked, so that its price can be looked up", async () => {
    const address = payer.address.toLowerCase()
    assert.strictEqual(claimed(v1(await signTransfer())), address)
    const permit = await signPermit("exact")
    assert.strictEqual(claimed(v1(permit)), address)
    const other = { from: `0x${"1".repeat(40)}` }
    assert.strictEqual(claimed(v1({ ...permit, authorization: other, ...other })), address, "the one who signed")
    assert.isUndefined(claimed(v1({ transaction: "AQID" })))
    for (const from of ["me", `${address}0`, `0${address}`, [address], 1, null]) {
      assert.isUndefined(claimed(v1({ authorization: { from } })), JSON.stringify(from))
    }
  })
})

describe("the time that an origin has to answer whole", () => {
  it("ends as long before the lease and the authorisation do as settling takes", () => {
    const { authorization } = exact
    const ends = authorization.validUntil.getTime()
    assert.strictEqual(timeToAnswer(authorization, new Date(now + 40_000), now), 34_000)
    assert.strictEqual(timeToAnswer(authorization, new Date(ends + 40_000), now), ends - now - 6_000)
    assert.strictEqual(timeToAnswer(authorization, new Date(now + 5_000), now), 0)
    assert.strictEqual(timeToAnswer(authorization, null, now), 0)
  })
})
