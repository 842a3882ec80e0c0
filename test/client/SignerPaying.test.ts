import { Struct } from "effect"
import { assert, describe, it } from "vitest"
import { verifyTypedData } from "viem"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { payingFetch, type PaymentError, receiptOf, type SignerPaying } from "#client/client.ts"
import { currencyOf, knownAssets, knownCurrencies, knownNetworks, networkName } from "#client/Asset.ts"
import { Currency } from "#domain/Money.ts"
import { assetOf, caip2 } from "#domain/Network.ts"
import { refusal, stranger } from "./Strangers.ts"

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")
const fromBase64 = (text: string | string[] | undefined) => JSON.parse(Buffer.from(String(text), "base64").toString())

const account = privateKeyToAccount(generatePrivateKey())
// Badly checksummed on purpose: servers write what they like.
const payTo = "0xAbCdefABCDEFabcdefabcdefabcdefabcdefABCD"

/** An offer of 0.01 USDC on Base Sepolia, changed. */
const offer = (changed: object = {}) => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2", quote: "q_1" },
  ...changed
})

const required = (accepts: ReadonlyArray<object>, changed: object = {}) => ({
  x402Version: 2,
  error: "Payment required",
  resource: { url: "https://shop.example/weather", description: "Wetter für überall", mimeType: "text/plain" },
  accepts,
  extensions: { "payment-identifier": { info: { required: false } } },
  ...changed
})

/** A server of x402 that asks for this, and answers what it is paid for as told. */
const shopThat = (asks: object, status = 200, headers: Record<string, string> = {}) =>
  stranger((request, response) =>
    request.headers["payment-signature"] === undefined
      ? response.writeHead(402, { "payment-required": base64(asks) }).end("{}")
      : response.writeHead(status, headers).end("served")
  )

const agent = (options: Partial<SignerPaying> = {}) =>
  payingFetch({ signer: account, retries: 1, maxRetryDelayMs: 5, ...options })

const refused = async (asks: object, options: Partial<SignerPaying> = {}): Promise<PaymentError> => {
  const shop = await shopThat(asks)
  const error = await refusal(agent(options)(shop.url))
  assert.lengthOf(shop.seen, 1)
  return error
}

describe("a fetch that pays with a key of the caller's own", () => {
  it("signs a transfer of exactly the price, that verifies on the chain it is for", async () => {
    const asks = required([offer()])
    const settled = base64({
      success: true,
      transaction: "0xabc",
      network: "eip155:84532",
      payer: account.address,
      amount: "10000"
    })
    const shop = await shopThat(asks, 200, { "PAYMENT-RESPONSE": settled })
    const before = Math.floor(Date.now() / 1000)
    const response = await agent()(shop.url, { method: "POST", body: "where" })
    assert.strictEqual(await response.text(), "served")
    assert.deepStrictEqual(receiptOf(response), {
      paymentId: undefined,
      amount: "0.01",
      transaction: "0xabc",
      network: "base-sepolia",
      payer: account.address
    })
    assert.deepStrictEqual(
      shop.seen.map(({ body }) => body),
      ["where", "where"]
    )
    const payload = fromBase64(shop.seen[1]?.headers["payment-signature"])
    assert.deepStrictEqual([payload.x402Version, payload.accepted], [2, offer()])
    assert.deepStrictEqual([payload.resource, payload.extensions], [asks.resource, asks.extensions])
    const { authorization, signature } = payload.payload
    assert.deepInclude(authorization, {
      from: account.address.toLowerCase(),
      to: payTo.toLowerCase(),
      value: "10000",
      validAfter: "0"
    })
    const life = Number(authorization.validBefore) - before
    assert.isTrue(life >= 300 && life < 360, `${life} seconds`)
    const bytes32 = { name: "nonce", type: "bytes32" } as const
    const uints = ["value", "validAfter", "validBefore"].map((name) => ({ name, type: "uint256" }))
    const addresses = ["from", "to"].map((name) => ({ name, type: "address" }))
    const isValid = await verifyTypedData({
      address: account.address,
      domain: {
        name: "USDC",
        version: "2",
        chainId: 84532,
        verifyingContract: "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
      },
      types: { TransferWithAuthorization: [...addresses, ...uints, bytes32] },
      primaryType: "TransferWithAuthorization",
      message: authorization,
      signature
    })
    assert.isTrue(isValid)
  })

  it("never uses a nonce twice, except to repeat the call it was made for", async () => {
    let paid = 0
    const shop = await stranger((request, response) => {
      if (request.headers["payment-signature"] === undefined)
        return response.writeHead(402, { "payment-required": base64(required([offer()])) }).end()
      return ++paid === 1 ? response.destroy() : response.end("served")
    })
    const fetch = agent()
    await fetch(shop.url)
    await fetch(shop.url)
    const shown = shop.seen.flatMap(({ headers }) => headers["payment-signature"] ?? [])
    assert.lengthOf(shown, 3)
    assert.strictEqual(shown[0], shown[1])
    assert.notStrictEqual(
      fromBase64(shown[1]).payload.authorization.nonce,
      fromBase64(shown[2]).payload.authorization.nonce
    )
  })

  it("takes the first offer that it may pay, and says of the first that it may not where there is none", async () => {
    const eurc = { asset: assetOf("base-sepolia", "EURC").address, extra: { name: "EURC", version: "2" } }
    const dear = offer({ ...eurc, amount: "5000000" })
    const shop = await shopThat(required([dear, offer(), offer({ amount: "1" })]))
    await agent({ maxPerCall: "0.01" })(shop.url)
    assert.strictEqual(fromBase64(shop.seen[1]?.headers["payment-signature"]).accepted.amount, "10000")
    const error = await refused(required([dear, offer()]), { maxPerCall: "0.001" })
    assert.deepInclude(error, { code: "ABOVE_MAX_PER_CALL" })
    assert.deepInclude(error.details, { amount: "5.00", currency: "EURC" })
  })

  it("takes the first offer it can pay, whatever stands before it", async () => {
    const shop = await shopThat(
      required([
        { scheme: "exact", network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" },
        offer({ scheme: "upto" }),
        offer({ extra: { assetTransferMethod: "permit2" } }),
        offer({ asset: payTo }),
        offer({ amount: "20000" }),
        offer()
      ])
    )
    await agent()(shop.url)
    assert.strictEqual(fromBase64(shop.seen[1]?.headers["payment-signature"]).accepted.amount, "20000")
  })

  it("signs nothing that is valid for long, however long the server wants", async () => {
    const shop = await shopThat(required([offer({ maxTimeoutSeconds: 1e9 })]))
    await agent()(shop.url)
    const { authorization } = fromBase64(shop.seen[1]?.headers["payment-signature"]).payload
    assert.isBelow(Number(authorization.validBefore) - Date.now() / 1000, 601)
  })

  const unpayable: Record<string, object> = {
    "an unknown network": { network: "eip155:1" },
    "an unknown token": { asset: "0x0000000000000000000000000000000000000001" },
    "a known token on another network": { asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
    "an amount in exponents": { amount: "1e30" },
    "a negative amount": { amount: "-1" },
    "a decimal amount": { amount: "0.01" },
    "an amount as a number": { amount: 10_000 },
    "a receiver that is no address": { payTo: "alice" },
    "another flow than authorization": { extra: { ...offer().extra, paymentFlow: "escrow" } },
    "no time": { maxTimeoutSeconds: undefined },
    "less than a second": { maxTimeoutSeconds: 0.5 }
  }
  for (const [name, changed] of Object.entries(unpayable)) {
    it(`does not sign for ${name}`, async () => {
      assert.strictEqual((await refused(required([offer(changed)]))).code, "NO_PAYABLE_OFFER")
    })
  }

  it("does not look through more offers than anybody makes", async () => {
    const many = (count: number) =>
      required([...Array.from({ length: count }, () => offer({ scheme: "new" })), offer()])
    assert.strictEqual((await refused(many(32))).code, "NO_PAYABLE_OFFER")
    const shop = await shopThat(many(31))
    assert.strictEqual((await agent()(shop.url)).status, 200)
  })

  it("does not sign above the caps", async () => {
    const dear = required([offer({ amount: "1000001" })])
    assert.strictEqual((await refused(dear)).code, "ABOVE_MAX_PER_CALL")
    assert.strictEqual((await refused(dear, { maxPerCall: "2", maxPerDay: "1" })).code, "ABOVE_MAX_PER_DAY")
  })

  it("does not sign on networks that it was not given", async () => {
    const error = await refused(required([offer()]), { networks: ["base-mainnet"] })
    assert.strictEqual(error.code, "NO_PAYABLE_OFFER")
  })

  it("does not understand another version of the protocol, or a header that is no JSON", async () => {
    assert.strictEqual((await refused(required([offer()], { x402Version: 3 }))).code, "INVALID_CHALLENGE")
    assert.strictEqual((await refused(required([offer()], { accepts: "all" }))).code, "INVALID_CHALLENGE")
    const shop = await stranger((_, response) => response.writeHead(402, { "payment-required": "{}" }).end())
    assert.strictEqual((await refusal(agent()(shop.url))).code, "INVALID_CHALLENGE")
  })

  it("pays with a token that it was given", async () => {
    const asset = { network: "eip155:137", address: payTo, currency: "USDT", name: "Tether", version: "1" }
    const shop = await shopThat(required([offer({ network: asset.network, asset: payTo.toLowerCase() })]))
    const fetch = agent({
      assets: [asset],
      approve: ({ currency, network }) => `${currency} ${network}` === "USDT eip155:137"
    })
    assert.strictEqual((await fetch(shop.url)).status, 200)
  })

  it("spends the day's cap of every currency once, however many there are", async () => {
    const assets = Array.from({ length: 20 }, (_, index) => ({
      network: "eip155:137",
      address: `0x${String(index).padStart(40, "0")}`,
      currency: `C${index}`,
      name: "Coin",
      version: "1"
    }))
    const fetch = agent({ assets, maxPerDay: "0.01" })
    const shops = await Promise.all(
      assets.map(({ address, network }) => shopThat(required([offer({ asset: address, network })])))
    )
    for (const { url } of shops) assert.strictEqual((await fetch(url)).status, 200)
    for (const { url } of shops) assert.strictEqual((await refusal(fetch(url))).code, "ABOVE_MAX_PER_DAY")
  })

  it("shows nobody what is no signature, or has no address, and counts nothing", async () => {
    const shop = await shopThat(required([offer()]))
    let signature: unknown
    let address: unknown = account.address
    const signer = {
      get address() {
        return address as typeof account.address
      },
      signTypedData: async () => signature as "0x"
    }
    const fetch = agent({ signer, maxPerDay: "0.01" })
    const tooLong = `0x${"ab".repeat(4_097)}`
    for (signature of [undefined, 7, "", "0x", "0xabc", "0xzz", "ab", ["0xab"], "0xab\r\n", tooLong]) {
      assert.strictEqual((await refusal(fetch(shop.url))).code, "PAY_REFUSED")
    }
    signature = "0xab"
    for (address of [undefined, "", "alice", "0x12"]) {
      assert.strictEqual((await refusal(fetch(shop.url))).code, "PAY_REFUSED")
    }
    assert.isFalse(shop.seen.some(({ headers }) => "payment-signature" in headers))
    address = account.address
    assert.strictEqual((await fetch(shop.url)).status, 200)
  })

  it("says so when the signer does not sign", async () => {
    const shop = await shopThat(required([offer()]))
    const signer = { address: account.address, signTypedData: () => Promise.reject(new Error("locked")) }
    const error = await refusal(agent({ signer })(shop.url))
    assert.strictEqual(error.code, "PAY_REFUSED")
    assert.strictEqual(Object(error.cause).message, "locked")
  })

  it("counts a signature that it gave away, although the server says it failed", async () => {
    const shop = await shopThat(required([offer()]), 400)
    const fetch = agent({ maxPerDay: "0.01" })
    assert.strictEqual((await fetch(shop.url)).status, 400)
    assert.strictEqual((await refusal(fetch(shop.url))).code, "ABOVE_MAX_PER_DAY")
  })

  it("takes the word of the server it trusts that nothing was charged", async () => {
    const shop = await shopThat(required([offer()]), 400, { "x-payment-amount": "0.00" })
    const fetch = agent({ maxPerDay: "0.01", baseUrl: shop.url })
    assert.strictEqual((await fetch(shop.url)).status, 400)
    assert.strictEqual((await fetch(shop.url)).status, 400)
  })
})

describe("the tokens the client knows", () => {
  it("are all those of the platform", () => {
    assert.deepStrictEqual([...knownCurrencies].sort(), [...Currency.literals].sort())
    assert.deepStrictEqual([...knownNetworks].sort(), Object.keys(caip2).sort())
    const tokens = Struct.keys(caip2).flatMap((name) =>
      Currency.literals.map((currency) => ({ network: caip2[name], currency, ...assetOf(name, currency) }))
    )
    for (const { address, currency } of tokens) assert.strictEqual(currencyOf(address), currency)
    // A key of the caller's own signs for EVM chains alone.
    const signed = tokens.filter(({ network }) => network.startsWith("eip155:"))
    assert.sameDeepMembers([...knownAssets], signed)
    assert.deepStrictEqual(Object.values(caip2).map(networkName), Object.keys(caip2))
  })
})
