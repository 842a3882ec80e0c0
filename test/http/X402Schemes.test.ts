import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Hex, keccak256, toHex } from "viem"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import { Wallets } from "#services/Wallets.ts"
import { signInText } from "#domain/protocol/Siwx.ts"
import { payer as permitPayer, signPermit } from "../domain/protocol/Payers.ts"
import { balance, send, server, tenant } from "./GatewayHarness.ts"
import { authorize, baseSeller, callWith, challengeIn, decoded, encoded, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
const fromBase64url = (text: string) => JSON.parse(Buffer.from(text, "base64url").toString())

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a signed maximum", (it) => {
  it.effect("is held, and the origin says how much of it is taken; more, or nonsense, takes nothing", () =>
    Effect.gen(function* () {
      let asked: string | Array<string> | undefined = '{"amount":"2500"}'
      const seen: Array<ReadonlyArray<string | string[] | undefined>> = []
      const shop = yield* baseSeller(
        ({ headers }, response) => {
          seen.push([headers["x-payment-amount"], headers["x-payment-scheme"]])
          if (asked !== undefined) response.setHeader("Settlement-Overrides", asked)
          response.end("metered")
        },
        { schemes: ["exact", "upto"] }
      )
      const { principal } = yield* tenant
      const wallets = yield* Wallets
      const purse = (yield* wallets.create(principal, { network: "base-sepolia", address: permitPayer.address })).id
      yield* wallets.fund(principal, purse, { amount: funds, currency: "USDC" })
      let nonce = 1n
      const pay = Effect.gen(function* () {
        const challenge = yield* send(shop.path)
        const offers: ReadonlyArray<{ scheme: string; payTo: Hex; extra: { facilitatorAddress: Hex } }> = decoded(
          challenge.headers["payment-required"]
        ).accepts
        const accepted = offers.find(({ scheme }) => scheme === "upto")
        assert.isDefined(accepted)
        const payload = yield* Effect.promise(() =>
          signPermit("upto", {
            nonce: nonce++,
            to: accepted.payTo,
            facilitator: accepted.extra.facilitatorAddress,
            deadline: BigInt(Math.floor(Date.now() / 1000) + 300)
          })
        )
        return yield* callWith(shop.path, encoded({ x402Version: 2, accepted, payload }))
      })
      const metered = yield* pay
      assert.deepStrictEqual([metered.status, metered.body], [200, "metered"])
      assert.isUndefined(metered.headers["settlement-overrides"])
      assert.deepStrictEqual(seen, [["0.01", "upto"]], "the origin is told that it is a maximum")
      assert.strictEqual(decoded(metered.headers["payment-response"]).amount, "2500")
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 2_500n, held: 0n })
      for (const nonsense of ['{"amount":"10001"}', '{"amount":"-1"}', "much", ['{"amount":"1"}', '{"amount":"2"}']]) {
        asked = nonsense
        const refused = yield* pay
        assert.deepStrictEqual([refused.status, refused.json.code], [502, "ORIGIN_BAD_ANSWER"])
        assert.strictEqual(refused.json.details.reason, "invalid_settlement_override")
      }
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 2_500n, held: 0n })
      asked = '{"amount":"0"}'
      assert.strictEqual((yield* pay).status, 200)
      for (const nothing of ["{}", undefined]) {
        asked = nothing
        assert.strictEqual((yield* pay).status, 200)
      }
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 22_500n, held: 0n })
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 22_500n, held: 0n })
      const { account } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      const forged = { headers: { "x-payment-scheme": "upto" } }
      assert.strictEqual((yield* callWith(shop.path, header, forged)).status, 200)
      assert.deepStrictEqual(seen.at(-1), ["0.01", undefined], "and a price is none")
    })
  )

  it.effect("is what the origin may ask less of; an exact price costs what it is, whatever the origin says", () =>
    Effect.gen(function* () {
      let asked = '{"amount":"1"}'
      const shop = yield* baseSeller((_, response) => response.setHeader("Settlement-Overrides", asked).end("served"))
      const { account, purse } = yield* signer(funds)
      const call = Effect.flatMap(signFor(account, shop.path), ({ header }) => callWith(shop.path, header))
      assert.strictEqual(decoded((yield* call).headers["payment-response"]).amount, "10000")
      asked = "much"
      assert.strictEqual((yield* call).status, 200)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 20_000n, held: 0n })
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a credential of MPP", (it) => {
  /** Answers the challenge of `path`. */
  const credentialFor = Effect.fnUntraced(function* (
    account: Parameters<typeof authorize>[0],
    path: string,
    asking: Record<string, string> = {}
  ) {
    const challenge = challengeIn(yield* send(path, { headers: asking }))
    const request = fromBase64url(String(challenge["request"]))
    const { authorization, signature } = yield* authorize(
      account,
      { payTo: request.recipient, amount: request.amount },
      (plain) => ({
        ...plain,
        validBefore: BigInt(Date.parse(String(challenge["expires"])) / 1000),
        nonce: keccak256(toHex(`${challenge["id"]}${challenge["realm"]}`))
      })
    )
    const payload = { type: "authorization", ...authorization, signature }
    return `Payment ${base64url({ challenge, payload, source: `did:pkh:eip155:84532:${account.address}` })}`
  })

  it.effect("pays once, is told so by a receipt, and pays for no other endpoint", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((request, response) => response.end(request.headers.authorization ?? "served"))
      const sibling = yield* baseSeller((_, response) => response.end())
      const { account, purse } = yield* signer(funds)
      const authorization = yield* credentialFor(account, shop.path)
      const elsewhere = yield* send(sibling.path, { headers: { authorization } })
      assert.deepStrictEqual([elsewhere.status, elsewhere.json.error], [402, "quote_for_another_endpoint"])
      const paid = yield* send(shop.path, { headers: { authorization } })
      assert.deepStrictEqual([paid.status, paid.body], [200, "served"])
      const receipt = fromBase64url(String(paid.headers["payment-receipt"]))
      const { challenge } = fromBase64url(authorization.slice("Payment ".length))
      assert.deepInclude(receipt, { method: "evm", status: "success", chainId: 84532, challengeId: challenge.id })
      assert.match(receipt.reference, /^0x[0-9a-f]{64}$/)
      const again = yield* send(shop.path, { headers: { authorization } })
      assert.deepStrictEqual([again.status, again.body], [200, "served"])
      assert.strictEqual(fromBase64url(String(again.headers["payment-receipt"])).challengeId, challenge.id)
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.strictEqual(sibling.backend.seen.length, 0)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  it.effect("comes beside a key that the origin wants, in the field that the challenge names then", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((request, response) => response.end(request.headers.authorization))
      const { account } = yield* signer(funds)
      const key = { authorization: "Bearer origin-key" }
      const fieldFor = (headers: Record<string, string>) =>
        Effect.map(
          send(shop.path, { headers }),
          (asked) => /, header="([^"]+)"/.exec(String(asked.headers["www-authenticate"]))?.[1]
        )
      assert.isUndefined(yield* fieldFor({}))
      assert.isUndefined(yield* fieldFor({ authorization: "Payment x" }))
      const field = String(yield* fieldFor(key)).toLowerCase()
      const credential = yield* credentialFor(account, shop.path, key)
      const paid = yield* send(shop.path, { headers: { ...key, [field]: credential } })
      assert.deepStrictEqual([paid.status, paid.body], [200, key.authorization])
      assert.isString(paid.headers["payment-receipt"])
      const terms = fromBase64url(credential.slice("Payment ".length))
      const anew = `Payment ${Buffer.from(JSON.stringify(terms, null, 1)).toString("base64url")}`
      const stranger = yield* send(shop.path, { headers: { ...key, [field]: anew } })
      assert.deepStrictEqual([stranger.status, stranger.json?.code], [409, "PAYMENT_ALREADY_USED"])
    })
  )

  it.effect("that cannot be read is answered with a fresh challenge, as MPP says", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end("served"))
      const { account } = yield* signer(funds)
      const authorization = yield* credentialFor(account, shop.path)
      for (const unreadable of ["Payment", "Payment %%%", `Payment ${base64url({ challenge: {} })}`]) {
        const { headers, json, status } = yield* send(shop.path, { headers: { authorization: unreadable } })
        assert.deepStrictEqual([status, json.error], [402, "invalid_payload"], unreadable)
        assert.strictEqual(json.type, "https://paymentauth.org/problems/malformed-credential")
        assert.match(String(headers["www-authenticate"]), /^Payment id="[^"]+", realm="/)
      }
      const twice = yield* send(shop.path, { headers: { authorization, "payment-authorization": authorization } })
      assert.deepStrictEqual([twice.status, twice.json.error], [402, "multiple_payments"])
      const mixed = yield* send(shop.path, { headers: { authorization, "x-payment": "e30=" } })
      assert.deepStrictEqual([mixed.status, mixed.json.code], [400, "PAYMENT_MALFORMED"])
      assert.strictEqual(shop.backend.seen.length, 0)
      assert.strictEqual((yield* send(shop.path, { headers: { authorization } })).status, 200)
    })
  )

  it.effect("is not asked for, and not taken, where the endpoint does not offer it", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end())
      const without = yield* baseSeller((_, response) => response.end(), { mpp: false })
      const { account } = yield* signer(funds)
      const authorization = yield* credentialFor(account, shop.path)
      const refused = yield* send(without.path, { headers: { authorization } })
      assert.deepStrictEqual([refused.status, refused.headers["www-authenticate"]], [402, undefined])
      const unreadable = yield* send(without.path, { headers: { authorization: "Payment %%%" } })
      assert.deepStrictEqual([unreadable.status, unreadable.json.code], [400, "PAYMENT_MALFORMED"])
      assert.strictEqual(without.backend.seen.length, 0)
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a caller who signs in", (it) => {
  const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0.5 }]

  it.effect("is asked for its own price, which nobody else may pay", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end(), { volumeDiscounts })
      const { account, purse } = yield* signer(funds)
      const stranger = yield* signer(funds)
      const first = yield* signFor(account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, first.header)).status, 200)
      assert.strictEqual((yield* (yield* Ledger).tally(shop.endpoint.id, purse)).count, 1n)

      const { extensions } = decoded(first.challenge.headers["payment-required"])
      const { info } = extensions["sign-in-with-x"]
      const message = signInText(info, "base-sepolia", account.address)
      const signature = yield* Effect.promise(() => account.signMessage({ message }))
      const proof = { ...info, address: account.address, chainId: "eip155:84532", type: "eip191", signature }
      const known = { headers: { "sign-in-with-x": encoded(proof) } }
      const cheaper = yield* signFor(account, shop.path, known)
      assert.strictEqual(cheaper.accepted.amount, "5000")
      assert.strictEqual((yield* callWith(shop.path, cheaper.header)).status, 200)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 15_000n, held: 0n })

      const payload = yield* authorize(stranger.account, cheaper.accepted)
      const other = yield* callWith(shop.path, encoded({ x402Version: 2, accepted: cheaper.accepted, payload }))
      assert.deepStrictEqual([other.status, other.json.error], [402, "quote_for_another_payer"])

      const forged = { ...proof, address: stranger.account.address }
      const asked = yield* send(shop.path, { headers: { "sign-in-with-x": encoded(forged) } })
      assert.strictEqual(decoded(asked.headers["payment-required"]).accepts[0].amount, "10000")
    })
  )

  it.effect("who did not sign in pays the list price and is given the difference back", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end(), { volumeDiscounts })
      const { account, purse } = yield* signer(funds)
      yield* callWith(shop.path, (yield* signFor(account, shop.path)).header)
      const { header } = yield* signFor(account, shop.path)
      const answer = yield* callWith(shop.path, header)
      assert.strictEqual(decoded(answer.headers["payment-response"]).amount, "5000")
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 15_000n, held: 0n })
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })(
  "a way to pay that its endpoint has given up",
  (it) => {
    it.effect("still has the answer that it paid for, and nothing is charged again", () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => response.end("kept"))
        const { account, purse } = yield* signer(funds)
        const { header } = yield* signFor(account, shop.path)
        yield* callWith(shop.path, header)
        yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, { schemes: ["upto"] })
        const again = yield* callWith(shop.path, header)
        assert.deepStrictEqual([again.status, again.body, again.headers["idempotency-replayed"]], [200, "kept", "true"])
        assert.strictEqual(shop.backend.seen.length, 1)
        assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      })
    )
  }
)
