import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { TenantId } from "#domain/Ids.ts"
import { isCharged, isSignedFor, Pay, type PaymentRow, recordOf, standing } from "#domain/Payment.ts"
import {
  paymentIdOf,
  readProof,
  readRequest,
  readTerms,
  requestOf,
  sealTerms,
  stepId,
  tokenKey,
  writeProof
} from "#domain/PaymentToken.ts"
import { sandboxTransaction } from "#domain/SandboxTransaction.ts"

const key = tokenKey(new Uint8Array(32).fill(7))
const other = tokenKey(new Uint8Array(32).fill(8))
const endpoint = "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10"
const wallet = "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e11"
const request = { endpoint, method: "POST", limit: 999_999_000_000n, issuedAt: 1_790_000_001_000 }
const askedAt = 1_790_000_000_123

const writeRequest = (...terms: Parameters<typeof sealTerms>) => requestOf(sealTerms(...terms), askedAt)

/** Every text that differs in one bit of the bytes behind it. */
const flipped = (text: string) => {
  const bytes = Buffer.from(text.slice(3), "base64url")
  return Array.from({ length: bytes.length * 8 }, (_, bit) => {
    const copy = Buffer.from(bytes)
    copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return text.slice(0, 3) + copy.toString("base64url")
  })
}

describe("a payment request", () => {
  it("says what was written into it, and the moment in the second before at which it was asked for", () => {
    for (const at of [askedAt, request.issuedAt - 999, request.issuedAt]) {
      assert.deepStrictEqual(readRequest(key, requestOf(sealTerms(key, request), at)), { ...request, askedAt: at })
    }
  })

  it("is for the method that was called, whichever is served", () => {
    for (const method of ["ANY", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"]) {
      assert.strictEqual(readRequest(key, writeRequest(key, { ...request, method }))?.method, method)
    }
  })

  it("is one text, as are its terms and a proof: nothing stands around it", () => {
    const [terms, whole, proof] = [sealTerms(key, request), writeRequest(key, request), writeProof(key, endpoint)]
    for (const around of [(text: string) => `${text}\n`, (text: string) => `${text}=`, (text: string) => ` ${text}`]) {
      assert.isUndefined(readTerms(key, around(terms), "everybody"))
      assert.isUndefined(readRequest(key, around(whole)))
      assert.isUndefined(readProof(key, around(proof)))
    }
    assert.isUndefined(readProof(key, `${proof}AAAA`))
    assert.isUndefined(readProof(key, "pp_"))
  })

  it("is different every time", () => {
    assert.strictEqual(new Set(Array.from({ length: 3000 }, () => writeRequest(key, request))).size, 3000)
  })

  it("cannot be changed, forged or read with another key", () => {
    const text = writeRequest(key, request)
    // The last eight bytes are the nonce: another one makes another request on the same terms.
    const forgeries = flipped(text)
    for (const forged of forgeries.slice(0, -64)) assert.isUndefined(readRequest(key, forged))
    for (const another of forgeries.slice(-64)) assert.containsSubset(readRequest(key, another), request)
    assert.isUndefined(readRequest(other, text))
  })

  it("anything else is not one", () => {
    for (const text of [
      "",
      "pr_",
      "pr_x",
      `pr_${"A".repeat(75)}`,
      `pr_${"A".repeat(74)}`,
      writeProof(key, endpoint),
      "\0"
    ]) {
      assert.isUndefined(readRequest(key, text))
    }
  })

  it("is not made of one payer's own terms, whatever nonce is put behind them", () => {
    const own = sealTerms(key, request, "onePayer")
    for (const nonce of ["AAAAAAAAAAA", writeRequest(key, request).slice(-11)]) {
      assert.isUndefined(readRequest(key, own + nonce))
    }
    assert.isUndefined(readTerms(key, own, "everybody"))
    assert.deepStrictEqual(readTerms(key, own, "onePayer"), request)
    assert.isUndefined(readTerms(key, sealTerms(key, request), "onePayer"))
  })

  it("paid twice from one wallet is one payment, from two wallets two", () => {
    const text = writeRequest(key, request)
    const id = paymentIdOf(text, askedAt, wallet)
    assert.strictEqual(paymentIdOf(text, askedAt, wallet), id)
    assert.notStrictEqual(paymentIdOf(text, askedAt, endpoint), id)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.strictEqual(parseInt(id.replaceAll("-", "").slice(0, 12), 16), askedAt)
  })
})

describe("a proof", () => {
  it("names its payment, and only under our key", () => {
    const text = writeProof(key, endpoint)
    assert.strictEqual(readProof(key, text), endpoint)
    assert.isUndefined(readProof(other, text))
    for (const forged of flipped(text)) assert.isUndefined(readProof(key, forged))
  })

  it("a payment request is not a proof", () => assert.isUndefined(readProof(key, writeRequest(key, request))))

  it("its steps have ids of their own", () => {
    const ids = [stepId(endpoint, 1, "capture"), stepId(endpoint, 2, "capture"), stepId(endpoint, 1, "release")]
    assert.strictEqual(new Set(ids).size, 3)
    assert.strictEqual(stepId(endpoint, 1, "capture"), ids[0])
  })
})

describe("what a call may do with a payment", () => {
  const at = (seconds: number) => new Date(seconds * 1000)
  const row: PaymentRow = {
    id: endpoint,
    tenant_id: TenantId.make(wallet),
    endpoint_id: endpoint,
    protocol: "native",
    rail: "ledger",
    reservation: null,
    payer_id: wallet,
    payer_address: null,
    payee_wallet_id: wallet,
    method: "GET",
    currency: "USDC",
    network: "solana-devnet",
    price: { base: 10n, tiers: [] },
    amount: 10n,
    charged: null,
    state: "authorized",
    hold_id: endpoint,
    attempt: 1,
    lease_until: null,
    proof_expires_at: at(60),
    origin_status: null,
    origin_ms: null,
    transaction: null,
    failure: null,
    request_fingerprint: null,
    delivered_at: null,
    created_at: at(0),
    completed_at: null,
    scheme: null
  }
  const call = { endpoint, method: "GET", fingerprint: "f" }
  const says = (payment: Partial<PaymentRow>, seconds: number, made: Partial<typeof call> = {}) => {
    const now = standing({ ...row, ...payment }, { ...call, ...made }, at(seconds))
    return now._tag === "Refused" ? now.reason : now._tag
  }
  const captured = { state: "captured", charged: 10n, lease_until: at(40), request_fingerprint: "f" } as const
  const onChain = { ...captured, protocol: "x402v2", rail: "chain", request_fingerprint: "f@a" } as const
  const table: ReadonlyArray<[string, string, string]> = [
    ["unused", says({}, 1), "Usable"],
    ["unused, at the last moment", says({}, 59.999), "Usable"],
    ["unused, expired", says({}, 60), "proof_expired"],
    ["another endpoint's", says({}, 1, { endpoint: wallet }), "proof_for_another_endpoint"],
    ["another method's", says({}, 1, { method: "POST" }), "proof_for_another_method"],
    ["for any method", says({ method: "ANY" }, 1, { method: "POST" }), "Usable"],
    ["in use", says({ state: "in_flight", lease_until: at(40) }, 1), "InProgress"],
    ["in use, expired meanwhile", says({ state: "in_flight", lease_until: at(70) }, 61), "InProgress"],
    ["given back", says({ state: "released" }, 1), "Reusable"],
    ["given back, free", says({ state: "released", amount: 0n }, 1), "Usable"],
    ["given back, expired", says({ state: "released" }, 61), "proof_expired"],
    ["never used", says({ state: "expired" }, 1), "proof_expired"],
    ["charged and delivered", says({ ...captured, delivered_at: at(2) }, 50), "Used"],
    ["charged, answer on its way", says(captured, 3), "InProgress"],
    ["charged, answer on its way until its lease ends", says(captured, 40), "Answerable"],
    ["charged, answer lost", says(captured, 41), "Answerable"],
    ["charged, without a lease", says({ ...captured, lease_until: null }, 3), "Answerable"],
    ["charged, answer lost, long ago", says(captured, 600), "Answerable"],
    ["charged, another request", says(captured, 41, { fingerprint: "g" }), "Used"],
    ["signed, charged", says({ ...captured, protocol: "x402v2" }, 3), "Answerable"],
    ["signed, charged and delivered", says({ ...captured, protocol: "x402v2", delivered_at: at(2) }, 3), "Answerable"],
    ["on a chain, charged", says(onChain, 3, { fingerprint: "f@b" }), "Answerable"],
    ["on a chain, charged, another request", says(onChain, 3, { fingerprint: "g@a" }), "Used"],
    [
      "on a chain, charged and delivered",
      says({ ...onChain, delivered_at: at(2) }, 3, { fingerprint: "f@a" }),
      "Answerable"
    ],
    [
      "on a chain, charged and delivered, somebody else",
      says({ ...onChain, delivered_at: at(2) }, 3, { fingerprint: "f@b" }),
      "Used"
    ],
    ["with the chain", says({ state: "settling", request_fingerprint: "f" }, 1), "Settling"],
    ["with the chain, another request", says({ state: "settling", request_fingerprint: "g" }, 1), "Used"]
  ]
  for (const [name, is, expected] of table) it(`${name}: ${expected}`, () => assert.strictEqual(is, expected))

  it("is for what its payer signed: the amount and the scheme, which was exact before it was written down", () => {
    const signed = { amount: 10n, scheme: "exact" } as const
    assert.isTrue(isSignedFor({ ...row, scheme: "exact" }, signed))
    assert.isTrue(isSignedFor(row, signed))
    for (const other of [
      { ...signed, amount: 9n },
      { ...signed, amount: 11n },
      { ...signed, scheme: "upto" } as const
    ]) {
      assert.isFalse(isSignedFor({ ...row, scheme: "exact" }, other))
      assert.isFalse(isSignedFor(row, other))
    }
    assert.isTrue(isSignedFor({ ...row, scheme: "upto" }, { ...signed, scheme: "upto" }))
    assert.isFalse(isSignedFor({ ...row, scheme: "upto" }, signed))
  })

  it("is shown with its payer's wallet, or on a chain with none, and with where a chain shows it once it is charged", () => {
    const shown = (given: Partial<PaymentRow>) => {
      const { payer_wallet_id, transaction } = recordOf({ ...row, ...given })
      return [payer_wallet_id, transaction]
    }
    const sandboxed = sandboxTransaction(row.network, row.id)
    const paid = { ...captured, transaction: "0x1" } as const
    assert.deepStrictEqual(shown({ ...captured, protocol: "native" }), [wallet, null])
    assert.deepStrictEqual(shown({ ...paid, protocol: "x402v2" }), [wallet, sandboxed])
    assert.deepStrictEqual(shown({ ...paid, protocol: "x402v2", rail: "chain" }), [null, "0x1"])
    assert.deepStrictEqual(shown({ state: "settling", protocol: "x402v2", rail: "chain", transaction: "0x1" }), [
      null,
      "0x1"
    ])
    assert.deepStrictEqual(shown({ state: "in_flight", protocol: "x402v2" }), [wallet, null])
  })

  it("no payment: unknown", () => {
    assert.deepStrictEqual(standing(undefined, call, at(1)), { _tag: "Refused", reason: "proof_unknown" })
  })
})

describe("an answer of the origin", () => {
  it("is charged below 400, or whatever it is where every answer is; but never one that asks for payment", () => {
    const charged = (chargeOn: "success" | "response") =>
      [100, 200, 399, 400, 401, 402, 403, 500, 599].filter((status) => isCharged(chargeOn, status))
    assert.deepStrictEqual(charged("success"), [100, 200, 399])
    assert.deepStrictEqual(charged("response"), [100, 200, 399, 400, 401, 403, 500, 599])
  })
})

describe("what a caller pays for", () => {
  it("is the request that a 402 named, or an address: one of the two, each of its length", () => {
    const isRead = (body: object) => Result.isSuccess(Schema.decodeUnknownResult(Pay)(body))
    for (const body of [{ payment_request_id: "pr_".padEnd(200, "x") }, { url: "https://".padEnd(4096, "x") }]) {
      assert.isTrue(isRead(body))
    }
    for (const body of [
      {},
      { payment_request_id: "pr_", url: "https://pay.example" },
      { payment_request_id: "pr_".padEnd(201, "x") },
      { url: "https://".padEnd(4097, "x") }
    ]) {
      assert.isFalse(isRead(body), JSON.stringify(body).slice(0, 60))
    }
  })
})
