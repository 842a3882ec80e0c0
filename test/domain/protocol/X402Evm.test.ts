import { assert, describe, it } from "@effect/vitest"
import { authorizationId, reservationOf } from "#domain/protocol/Authorization.ts"
import {
  authorized,
  endpoint,
  facilitator,
  nonce,
  now,
  offer,
  outcome,
  payer,
  price,
  quote,
  reasonOf,
  seconds,
  signPermit,
  signTransfer,
  stranger,
  type Transfer,
  transfer,
  usdc,
  v1,
  v2
} from "./Payers.ts"

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe("an EIP-3009 authorisation", () => {
  it("that pays what was offered is accepted, with everything in one spelling", async () => {
    const payload = await signTransfer()
    const authorization = authorized(outcome(v2(payload)))
    assert.deepStrictEqual(authorization, {
      protocol: "x402v2",
      scheme: "exact",
      method: "eip3009",
      network: "base-sepolia",
      asset: usdc.toLowerCase(),
      payer: payer.address.toLowerCase(),
      payTo: endpoint.paymentAddress,
      amount: price,
      nonce: transfer.nonce,
      validUntil: new Date((seconds + 300) * 1000),
      quote,
      payload: {
        x402Version: 2,
        accepted: offer("exact"),
        payload: {
          signature: payload.signature,
          authorization: { ...payload.authorization, from: payer.address.toLowerCase() }
        }
      },
      requirements: offer("exact"),
      identifier: undefined
    })
  })

  it("is accepted from version 1 at every price that is good for the caller, without a quote", async () => {
    const authorization = authorized(outcome(v1(await signTransfer({ value: 9_000n })), { prices: [price, 9_000n] }))
    assert.strictEqual(authorization.protocol, "x402v1")
    assert.strictEqual(authorization.amount, 9_000n)
    assert.strictEqual(authorization.requirements.amount, "9000")
    assert.isUndefined(authorization.quote)
  })

  it("from version 1 may spell the receiver with a wrong checksum", async () => {
    const payload = await signTransfer()
    const to = `0x${endpoint.paymentAddress.slice(2).toUpperCase().replace("B", "b")}`
    const header = v1({ ...payload, authorization: { ...payload.authorization, to } })
    assert.strictEqual(reasonOf(outcome(header)), "Accepted")
  })

  const refusals: ReadonlyArray<
    readonly [name: string, reason: string, change: Partial<Transfer>, domain?: Parameters<typeof signTransfer>[1]]
  > = [
    ["for another chain", "invalid_exact_evm_signature", {}, { chainId: 8453 }],
    ["for another token", "invalid_exact_evm_signature", {}, { asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" }],
    ["under another name of the token", "invalid_exact_evm_signature", {}, { name: "USD Coin" }],
    ["of somebody else", "invalid_exact_evm_signature", { from: stranger.address }],
    ["to another receiver", "invalid_exact_evm_recipient_mismatch", { to: stranger.address }],
    ["of one more", "invalid_exact_evm_payload_authorization_value_mismatch", { value: price + 1n }],
    ["of one less", "invalid_exact_evm_payload_authorization_value_mismatch", { value: price - 1n }],
    [
      "that ends before it can be settled",
      "invalid_exact_evm_payload_authorization_valid_before",
      { validBefore: BigInt(seconds + 5) }
    ],
    ["that begins later", "invalid_exact_evm_payload_authorization_valid_after", { validAfter: BigInt(seconds + 1) }]
  ]
  for (const [name, reason, change, domain] of refusals) {
    it(`${name} is refused: ${reason}`, async () => {
      const payload = await signTransfer(change, domain)
      assert.strictEqual(reasonOf(outcome(v2(payload))), reason)
      assert.strictEqual(reasonOf(outcome(v1(payload))), reason)
    })
  }

  it("at the edges of its time is accepted", async () => {
    const payload = await signTransfer({ validAfter: BigInt(seconds), validBefore: BigInt(seconds + 6) })
    assert.strictEqual(reasonOf(outcome(v2(payload))), "Accepted")
  })

  it("is refused as time goes on, from six seconds before its end", async () => {
    const header = v2(await signTransfer())
    assert.strictEqual(reasonOf(outcome(header, { now: now + 294_000 })), "Accepted")
    const late = "invalid_exact_evm_payload_authorization_valid_before"
    assert.strictEqual(reasonOf(outcome(header, { now: now + 295_000 })), late)
  })

  it("with several faults is refused for the first in the published order", async () => {
    const value = price + 1n
    const to = stranger.address
    const over = { value, to, validBefore: 1n, validAfter: BigInt(seconds + 1) }
    const reasons = [
      reasonOf(outcome(v2(await signTransfer(over, { chainId: 1 })))),
      reasonOf(outcome(v2(await signTransfer(over)))),
      reasonOf(outcome(v2(await signTransfer({ ...over, to: transfer.to })))),
      reasonOf(outcome(v2(await signTransfer({ ...over, to: transfer.to, validBefore: transfer.validBefore }))))
    ]
    assert.deepStrictEqual(reasons, [
      "invalid_exact_evm_signature",
      "invalid_exact_evm_recipient_mismatch",
      "invalid_exact_evm_payload_authorization_valid_before",
      "invalid_exact_evm_payload_authorization_valid_after"
    ])
  })

  it("is refused with every signature that USDC refuses: high s, v 0, 1 or 29, another length", async () => {
    const payload = await signTransfer()
    const { signature } = payload
    const r = signature.slice(2, 66)
    const s = BigInt(`0x${signature.slice(66, 130)}`)
    const v = parseInt(signature.slice(130), 16)
    const high = (order - s).toString(16).padStart(64, "0")
    const low = signature.slice(66, 130)
    const other = (byte: number) => byte.toString(16).padStart(2, "0")
    const broken = [
      `0x${r}${high}${other(v === 27 ? 28 : 27)}`,
      `0x${r}${high}${other(v)}`,
      `0x${r}${low}${other(v - 27)}`,
      `0x${r}${low}${other(v === 27 ? 28 : 27)}`,
      `0x${r}${low}1d`,
      `0x${r}${low}`,
      `${signature}00`,
      signature.slice(2),
      "0x",
      ""
    ]
    // The rule is ours: it holds whatever the recovery makes of such a signature.
    const credulous = () => Buffer.from(payer.address.slice(2), "hex")
    for (const text of broken) {
      const header = v2({ ...payload, signature: text })
      assert.strictEqual(reasonOf(outcome(header)), "invalid_exact_evm_signature", text)
      const isWellFormed = text === `0x${r}${low}${other(v === 27 ? 28 : 27)}`
      const believed = reasonOf(outcome(header, { recover: credulous }))
      assert.strictEqual(believed, isWellFormed ? "Accepted" : "invalid_exact_evm_signature", text)
    }
  })

  it("whose fields are not what they must be is malformed", async () => {
    const { authorization, signature } = await signTransfer()
    const broken = [
      { value: 10_000 },
      { value: "0x2710" },
      { value: "010000" },
      { value: "10000.0" },
      { value: "-1" },
      { value: "1".repeat(79) },
      { value: String(2n ** 256n) },
      { nonce: "0x00" },
      { from: "payer" },
      { to: null },
      { validBefore: undefined },
      { validAfter: "soon" }
    ]
    for (const change of broken) {
      const payload = { signature, authorization: { ...authorization, ...change } }
      assert.strictEqual(reasonOf(outcome(v2(payload))), "invalid_payload", JSON.stringify(change))
    }
    for (const payload of [{}, { signature }, { signature: 1, authorization }, { signature, authorization: [] }]) {
      assert.strictEqual(reasonOf(outcome(v2(payload))), "invalid_payload")
    }
  })

  it("is the same in any spelling of its hexadecimal digits", async () => {
    const { authorization, signature } = await signTransfer()
    const upper = (text: unknown) => `0x${String(text).slice(2).toUpperCase()}`
    const shouted = { ...authorization, nonce: upper(authorization["nonce"]), from: upper(authorization["from"]) }
    const plain = authorized(outcome(v2({ signature, authorization })))
    const loud = authorized(outcome(v2({ signature: upper(signature), authorization: shouted })))
    assert.deepStrictEqual(loud, plain)
  })

  it("valid for ever is valid until a date that can be stored", async () => {
    const { validUntil } = authorized(outcome(v2(await signTransfer({ validBefore: 2n ** 256n - 1n }))))
    assert.strictEqual(validUntil.toISOString(), "9999-12-31T23:59:59.000Z")
  })
})

describe("a Permit2 authorisation", () => {
  it("pays an exact offer, and says so to a facilitator", async () => {
    const authorization = authorized(outcome(v2(await signPermit("exact"))))
    assert.strictEqual(authorization.method, "permit2")
    assert.strictEqual(authorization.nonce, "77")
    assert.strictEqual(authorization.requirements.extra["assetTransferMethod"], "permit2")
  })

  it("pays an upto offer: what is authorised is the maximum", async () => {
    const authorization = authorized(outcome(v2(await signPermit("upto"), offer("upto"))))
    assert.strictEqual(authorization.scheme, "upto")
    assert.strictEqual(authorization.amount, price)
    assert.strictEqual(authorization.requirements.extra["facilitatorAddress"], facilitator)
  })

  const other = stranger.address
  const refusals = [
    ["of another spender", "invalid_permit2_spender", { spender: other }],
    ["to another receiver", "invalid_permit2_recipient_mismatch", { to: other }],
    ["that ends too early", "permit2_deadline_expired", { deadline: BigInt(seconds + 5) }],
    ["that begins later", "permit2_not_yet_valid", { validAfter: BigInt(seconds + 1) }],
    ["of one more", "permit2_amount_mismatch", { amount: price + 1n }],
    ["of one less", "permit2_amount_mismatch", { amount: price - 1n }],
    ["of another token", "permit2_token_mismatch", { token: other }]
  ] as const
  for (const [name, reason, change] of refusals) {
    it(`${name} is refused under both schemes: ${reason}`, async () => {
      for (const scheme of ["exact", "upto"] as const) {
        assert.strictEqual(reasonOf(outcome(v2(await signPermit(scheme, change), offer(scheme)))), reason)
      }
    })
  }

  it("for another chain, or changed after it was signed, is refused: invalid_permit2_signature", async () => {
    for (const scheme of ["exact", "upto"] as const) {
      const reason = reasonOf(outcome(v2(await signPermit(scheme, {}, 8453), offer(scheme))))
      assert.strictEqual(reason, "invalid_permit2_signature")
      const { permit2Authorization, signature } = await signPermit(scheme)
      const changed = { signature, permit2Authorization: { ...permit2Authorization, nonce: "78" } }
      assert.strictEqual(reasonOf(outcome(v2(changed, offer(scheme)))), "invalid_permit2_signature")
    }
  })

  it("under upto names the one who may settle", async () => {
    const reason = reasonOf(outcome(v2(await signPermit("upto", { facilitator: other }), offer("upto"))))
    assert.strictEqual(reason, "upto_facilitator_mismatch")
  })

  it("of one scheme is none of the other", async () => {
    assert.strictEqual(reasonOf(outcome(v2(await signPermit("exact"), offer("upto")))), "invalid_payload")
    assert.strictEqual(reasonOf(outcome(v2(await signPermit("upto"), offer("exact")))), "invalid_permit2_spender")
    assert.strictEqual(reasonOf(outcome(v2(await signTransfer(), offer("upto")))), "unsupported_payload_type")
  })

  it("without its parts is malformed", async () => {
    const { permit2Authorization, signature } = await signPermit("exact")
    for (const change of [{ witness: undefined }, { permitted: {} }, { nonce: 77 }, { deadline: "x" }]) {
      const payload = { signature, permit2Authorization: { ...permit2Authorization, ...change } }
      assert.strictEqual(reasonOf(outcome(v2(payload))), "invalid_payload")
    }
  })
})

describe("the id of a reservation", () => {
  it("is the same for the same nonce of a payer, and another for anything else", () => {
    const id = authorizationId("base-sepolia", "0xa", "0xb", nonce("first"))
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(authorizationId("base-sepolia", "0xa", "0xb", nonce("first")), id)
    const others = [
      authorizationId("base-mainnet", "0xa", "0xb", nonce("first")),
      authorizationId("base-sepolia", "0xc", "0xb", nonce("first")),
      authorizationId("base-sepolia", "0xa", "0xc", nonce("first")),
      authorizationId("base-sepolia", "0xa", "0xb", nonce("second"))
    ]
    assert.strictEqual(new Set([id, ...others]).size, 5)
  })

  it("by Permit2 is the same for all tokens and both schemes, by EIP-3009 for one token", async () => {
    const exact = authorized(outcome(v2(await signPermit("exact"))))
    const upto = authorized(outcome(v2(await signPermit("upto"), offer("upto"))))
    const transfer = authorized(outcome(v2(await signTransfer())))
    const asset = stranger.address.toLowerCase()
    assert.deepStrictEqual([exact.nonce, exact.payer], [upto.nonce, upto.payer])
    assert.strictEqual(reservationOf({ ...exact, asset }), reservationOf(exact))
    assert.strictEqual(reservationOf(upto), reservationOf(exact))
    assert.notStrictEqual(reservationOf({ ...transfer, asset }), reservationOf(transfer))
    assert.notStrictEqual(reservationOf({ ...exact, method: "eip3009" }), reservationOf(exact))
  })
})
