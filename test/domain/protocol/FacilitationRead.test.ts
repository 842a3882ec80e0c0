import { assert, describe, it } from "@effect/vitest"
import { maxMicros } from "#domain/Money.ts"
import { assetOf } from "#domain/Network.ts"
import {
  authorize,
  declined,
  type Facilitation,
  invalid,
  networkOf,
  readFacilitation,
  supportedOf,
  unsettled,
  usedBefore
} from "#domain/protocol/Facilitation.ts"
import { authorized, facilitator, feePayer, now, offer, outcome, recover, signTransfer, usdc, v2 } from "./Payers.ts"

type Fields = Facilitation["paymentRequirements"]
const exact = { ...offer("exact"), extra: { name: "USDC", version: "2" } }
const asked = (wanted: Fields = {}, payment: Fields = {}, x402Version?: number): Facilitation => {
  const paymentRequirements = { ...exact, ...wanted }
  return {
    ...(x402Version !== undefined && { x402Version }),
    paymentPayload: { x402Version: 2, accepted: paymentRequirements, payload: {}, ...payment },
    paymentRequirements
  }
}
const { amount: _, network: __, ...rest } = exact
const first = { ...rest, network: "base-sepolia", maxAmountRequired: "10000" }
/** The same as version 1 writes it. */
const askedFirst = (wanted: Fields = {}, payment: Fields = {}): Facilitation => {
  const { scheme, network } = first
  return {
    paymentPayload: { x402Version: 1, scheme, network, payload: {}, ...payment },
    paymentRequirements: { ...first, ...wanted }
  }
}
const read = (facilitation: Facilitation) => readFacilitation(facilitation, "sandbox", [facilitator])
const reason = (facilitation: Facilitation) => {
  const found = read(facilitation)
  return found._tag === "Declined" ? found.reason : found._tag
}

describe("what is read of a seller's question", () => {
  it("is the same in both versions, in one spelling", () => {
    // No checksum that it could have.
    const loud = usdc.toUpperCase().replace("0X", "0x").replace("C", "c")
    for (const facilitation of [asked({ asset: loud }), askedFirst({ asset: loud })]) {
      assert.deepInclude(read(facilitation), {
        network: "base-sepolia",
        currency: "USDC",
        amount: 10_000n,
        offer: { ...exact, asset: usdc.toLowerCase(), scheme: "exact" }
      })
    }
    assert.deepInclude(read(askedFirst()), { version: 1 })
  })

  it("keeps to the domain of the token, and says of it only what the seller did", () => {
    const extraOf = (extra: unknown) => {
      const found = read(asked({ extra } as Fields))
      return found._tag === "Asked" ? found.offer.extra : found.reason
    }
    assert.deepStrictEqual(extraOf({ name: "Euro", version: "1", more: 1 }), { name: "USDC", version: "2", more: 1 })
    assert.deepStrictEqual(extraOf({ name: "USDC" }), { name: "USDC" })
    assert.deepStrictEqual(extraOf({ version: "9" }), { version: "2" })
    for (const none of [{}, null, undefined, "x", []]) assert.deepStrictEqual(extraOf(none), {})
  })

  it("adds the domain of the token where version 1 left it out, as its official facilitator did; a transaction on Solana has none", () => {
    const extraOf = (facilitation: Facilitation) => {
      const found = read(facilitation)
      return found._tag === "Asked" ? found.offer.extra : found.reason
    }
    const domain = { name: "USDC", version: "2" }
    for (const none of [{}, null]) assert.deepStrictEqual(extraOf(askedFirst({ extra: none })), domain)
    assert.deepStrictEqual(extraOf(askedFirst({ extra: { name: "Euro", more: 1 } })), { ...domain, more: 1 })
    const network = "solana-devnet"
    const { address: asset } = assetOf(network, "USDC")
    const onSolana = { network, asset, payTo: feePayer, extra: { feePayer } }
    assert.deepStrictEqual(extraOf(askedFirst(onSolana, { network })), { feePayer })
  })

  it("keeps the case of addresses on Solana, where it means something", () => {
    const network = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
    const { address: asset } = assetOf("solana-devnet", "USDC")
    const found = read(asked({ network, asset, payTo: feePayer, extra: {} }))
    assert.deepInclude(found._tag === "Asked" ? found.offer : {}, { asset, payTo: feePayer })
    assert.strictEqual(reason(asked({ network, asset: asset.toLowerCase(), payTo: feePayer })), requirements)
  })

  const requirements = "invalid_payment_requirements"
  it("is refused for what is wrong about it", () => {
    const refusals: ReadonlyArray<readonly [expected: string, facilitation: Facilitation]> = [
      ...[0, 3, "2", null].map((x402Version) => ["invalid_x402_version", asked({}, { x402Version })] as const),
      ["invalid_x402_version", asked({}, {}, 1)],
      ["invalid_network", asked({ network: "base-sepolia" })],
      ["invalid_network", asked({ network: "eip155:8453" })],
      ["invalid_network", askedFirst({ network: "eip155:84532" })],
      ["invalid_payload", asked({}, { accepted: null })],
      ["invalid_payload", asked({}, { payload: "0x" })],
      ["invalid_payload", askedFirst({}, { payload: null })],
      ["invalid_scheme", asked({}, { accepted: { ...exact, scheme: "upto" } })],
      ["invalid_scheme", askedFirst({}, { scheme: "upto" })],
      ["invalid_network", asked({}, { accepted: { ...exact, network: "eip155:1" } })],
      ...["-1", "01", "1.5", "", 10_000, ["10000"], String(maxMicros + 1n), "1".repeat(20)].map(
        (amount) => [requirements, asked({ amount } as Fields)] as const
      ),
      [requirements, askedFirst({ amount: "10000", maxAmountRequired: 1 })],
      ...["0x", facilitator, 1, null].map((asset) => [requirements, asked({ asset })] as const),
      ...["0x", 1, null].map((payTo) => [requirements, asked({ payTo })] as const),
      ...[0, -1, 31_536_001, "60", null].map(
        (maxTimeoutSeconds) => [requirements, asked({ maxTimeoutSeconds })] as const
      )
    ]
    for (const [expected, facilitation] of refusals) {
      assert.strictEqual(reason(facilitation), expected, JSON.stringify(facilitation))
    }
  })

  it("goes up to what the ledger can hold, and to a year", () => {
    assert.strictEqual(reason(asked({ amount: String(maxMicros) })), "Asked")
    for (const maxTimeoutSeconds of [0.5, 1, 31_536_000]) {
      assert.strictEqual(reason(asked({ maxTimeoutSeconds })), "Asked")
    }
    assert.strictEqual(reason(asked({}, {}, 2)), "Asked")
  })

  it("names its network for the answer, whatever that is", () => {
    assert.strictEqual(networkOf(asked({ network: "x".repeat(101) })), "x".repeat(100))
    assert.strictEqual(networkOf(asked({ network: 7 })), "")
  })
})

describe("the word of a payer to a seller", () => {
  const wordOf = async (
    facilitation: (payload: Fields) => Facilitation,
    at: number | undefined = now,
    value?: bigint
  ) => {
    const payload = await signTransfer(value === undefined ? {} : { value })
    const found = read(facilitation({ payload: payload as unknown as Fields }))
    if (found._tag === "Declined") return found.reason
    const word = authorize(found, { now: at, recover, feePayers: [] })
    return "_tag" in word ? word.reason : `${word.protocol} ${word.amount}`
  }

  it("is of the seller's version, and for exactly what was asked", async () => {
    assert.strictEqual(await wordOf((payment) => asked({}, payment)), "x402v2 10000")
    assert.strictEqual(await wordOf((payment) => askedFirst({}, payment)), "x402v1 10000")
    assert.strictEqual(await wordOf((payment) => asked({ amount: "1" }, payment), now, 1n), "x402v2 1")
    assert.strictEqual(
      await wordOf((payment) => asked({ amount: "0" }, payment), now, 0n),
      "invalid_payment_requirements"
    )
  })

  it("that was used is told under the name of its scheme", async () => {
    const word = authorized(outcome(v2(await signTransfer())))
    assert.strictEqual(usedBefore(word).reason, "invalid_exact_evm_nonce_already_used")
    assert.strictEqual(usedBefore({ ...word, method: "svm" }).reason, "duplicate_settlement")
  })
})

describe("the answers to a seller", () => {
  it("have what is known and nothing else", () => {
    const why = declined("invalid_network", "because")
    assert.deepStrictEqual(invalid(declined("invalid_network")), { isValid: false, invalidReason: "invalid_network" })
    assert.deepStrictEqual(invalid(why, "0x1"), {
      isValid: false,
      invalidReason: "invalid_network",
      invalidMessage: "because",
      payer: "0x1"
    })
    const failed = { success: false, errorReason: "invalid_network", network: "n" }
    assert.deepStrictEqual(unsettled(declined("invalid_network"), "n"), { ...failed, transaction: "" })
    assert.deepStrictEqual(unsettled({ ...why, transaction: "0x2" }, "n", "0x1"), {
      ...failed,
      errorMessage: "because",
      payer: "0x1",
      transaction: "0x2"
    })
  })

  it("list the ways to pay in both versions, each as it writes them; version 1 knows no maximum", () => {
    const extra = { facilitatorAddress: facilitator }
    const listed = supportedOf([
      { network: "base-sepolia", scheme: "exact", extra: {} },
      { network: "base-sepolia", scheme: "upto", extra }
    ])
    assert.deepStrictEqual(listed, {
      kinds: [
        { x402Version: 2, scheme: "exact", network: "eip155:84532" },
        { x402Version: 2, scheme: "upto", network: "eip155:84532", extra },
        { x402Version: 1, scheme: "exact", network: "base-sepolia" }
      ],
      extensions: [],
      signers: { "eip155:*": [facilitator] }
    })
    assert.deepStrictEqual(supportedOf([]), { kinds: [], extensions: [], signers: {} })
  })
})
