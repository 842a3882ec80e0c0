import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Endpoints } from "#services/Endpoints.ts"
import { balance, openStream, send, server } from "./GatewayHarness.ts"
import {
  type Authorization,
  authorize,
  baseSeller,
  callWith,
  decoded,
  encoded,
  highS,
  reasonOf,
  signer,
  signFor
} from "./X402Harness.ts"

const funds = 1_000_000n

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a payment signed for x402", (it) => {
  it.effect("pays for a call: the money moves, and the receipt says so", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((request, response) =>
        response.end(`sunny for ${request.headers["x-payment-payer"]}`)
      )
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      const answer = yield* callWith(shop.path, header)
      const payer = account.address.toLowerCase()
      assert.deepStrictEqual([answer.status, answer.body], [200, `sunny for ${payer}`])
      const receipt = decoded(answer.headers["payment-response"])
      assert.match(receipt.transaction, /^0x[0-9a-f]{64}$/)
      assert.deepInclude(receipt, { success: true, network: "eip155:84532", payer, amount: "10000" })
      assert.isUndefined(answer.headers["x-payment-response"])
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      assert.deepStrictEqual(yield* balance(shop.till), { posted: 10_000n, held: 0n })
    })
  )

  it.effect("no payment header reaches the origin", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end())
      const { account } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      yield* callWith(shop.path, header, { headers: { authorization: "Payment abc" } })
      yield* callWith(shop.path, header, { headers: { "payment-authorization": "x" } })
      for (const { headers } of shop.backend.seen) {
        for (const name of ["payment-signature", "authorization", "payment-authorization"]) {
          assert.isUndefined(headers[name])
        }
      }
    })
  )

  it.effect("a hundred copies at once are one call of the origin and one movement", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end("once"))
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => callWith(shop.path, header)),
        { concurrency: 100 }
      )
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      for (const { body, json, status } of answers) {
        if (status === 200) assert.strictEqual(body, "once")
        else assert.deepStrictEqual([status, json.code], [409, "PAYMENT_IN_PROGRESS"])
      }
      assert.isAbove(answers.filter(({ status }) => status === 200).length, 0)
    })
  )

  it.effect("a lost answer is fetched again by the same request, and by no other", () =>
    Effect.gen(function* () {
      let hits = 0
      const shop = yield* baseSeller((_, response) => response.setHeader("x-hit", ++hits).end("kept"), { path: "/a/*" })
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, `${shop.path}/b`)
      const first = yield* callWith(`${shop.path}/b`, header)
      const again = yield* callWith(`${shop.path}/b`, header)
      assert.deepStrictEqual([again.status, again.body, again.headers["x-hit"]], [200, "kept", "1"])
      assert.strictEqual(again.headers["payment-response"], first.headers["payment-response"])
      const other = yield* callWith(`${shop.path}/c`, header)
      assert.deepStrictEqual([other.status, other.json.code], [409, "PAYMENT_ALREADY_USED"])
      // What was signed is public once a chain has it: who writes it down anew is somebody else.
      const anew = Buffer.from(JSON.stringify(decoded(header), null, 1)).toString("base64")
      const stranger = yield* callWith(`${shop.path}/b`, anew)
      assert.deepStrictEqual([stranger.status, stranger.json.code], [409, "PAYMENT_ALREADY_USED"])
      assert.strictEqual(hits, 1)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  it.effect(
    "a request for another part, version or language of the answer, or by another login, is another one: it is not given the first",
    () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((request, response) => {
          response.writeHead(206, { "content-range": "bytes 0-1/10" }).end(String(request.headers.range))
        })
        const { account } = yield* signer(funds)
        const { header } = yield* signFor(account, shop.path)
        const headers = { range: "bytes=0-1", "accept-language": "de" }
        const call = (changed: Record<string, string>) =>
          callWith(shop.path, header, { headers: { ...headers, ...changed } })
        assert.strictEqual((yield* call({})).status, 206)
        const again = yield* call({ "user-agent": "second attempt" })
        assert.deepStrictEqual([again.status, again.headers["idempotency-replayed"]], [206, "true"])
        for (const changed of [
          { range: "bytes=2-3" },
          { "if-range": '"2"' },
          { "if-none-match": '"1"' },
          { "if-modified-since": "Thu, 01 Jan 2026 00:00:00 GMT" },
          { cookie: "session=another" },
          { authorization: "Basic YW5vdGhlcg==" },
          { accept: "text/csv" },
          { "accept-encoding": "gzip" },
          { "accept-language": "en" }
        ]) {
          const other = yield* call(changed)
          assert.deepStrictEqual(
            [other.status, other.json?.code],
            [409, "PAYMENT_ALREADY_USED"],
            JSON.stringify(changed)
          )
        }
        assert.strictEqual(shop.backend.seen.length, 1)
      })
  )

  it.effect("a small answer without a length is kept too, and its first part does not wait for the last", () =>
    Effect.gen(function* () {
      const later: Array<() => void> = []
      const shop = yield* baseSeller((_, response) => {
        response.write("first,")
        later.push(() => response.end("last"))
      })
      const { account } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      const stream = yield* openStream(shop.path, { "payment-signature": header })
      assert.strictEqual(yield* stream.next, "first,")
      later[0]?.()
      assert.isTrue(yield* stream.ended)
      const again = yield* callWith(shop.path, header)
      assert.deepStrictEqual([again.status, again.body, shop.backend.seen.length], [200, "first,last", 1])
    })
  )

  it.effect("once money moved it is never asked for again, whatever the endpoint has become", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end("served"))
      const { account } = yield* signer(funds)
      const challenge = yield* send(shop.path)
      const [offer] = challenge.json.accepts
      const payload = yield* authorize(account, { payTo: offer.payTo, amount: offer.maxAmountRequired })
      const v1 = encoded({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload })
      assert.strictEqual((yield* send(shop.path, { headers: { "x-payment": v1 } })).status, 200)
      yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, { basePrice: 20_000n })
      const again = yield* send(shop.path, { headers: { "x-payment": v1 } })
      assert.deepStrictEqual([again.status, again.body], [200, "served"])
      assert.strictEqual(shop.backend.seen.length, 1)
    })
  )

  it.effect("an older quote is honoured after the price changed; version 1 pays the price of now", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end())
      const { account, purse } = yield* signer(funds)
      const quoted = yield* signFor(account, shop.path)
      const [offer] = quoted.challenge.json.accepts
      const old = yield* authorize(account, { payTo: offer.payTo, amount: "10000" })
      yield* (yield* Endpoints).update(shop.principal, shop.endpoint.id, { basePrice: 20_000n })
      assert.strictEqual((yield* callWith(shop.path, quoted.header)).status, 200)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      const v1 = (payload: object) => ({
        headers: { "x-payment": encoded({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload }) }
      })
      assert.strictEqual(
        (yield* send(shop.path, v1(old))).json.error,
        "invalid_exact_evm_payload_authorization_value_mismatch"
      )
      const fresh = yield* authorize(account, { payTo: offer.payTo, amount: "20000" })
      const paid = yield* send(shop.path, v1(fresh))
      assert.strictEqual(paid.status, 200)
      assert.strictEqual(decoded(paid.headers["x-payment-response"]).network, "base-sepolia")
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 30_000n, held: 0n })
    })
  )

  it.effect("an origin that fails takes nothing, and the same payment may try again", () =>
    Effect.gen(function* () {
      let status = 500
      const shop = yield* baseSeller((_, response) => {
        response.statusCode = status
        response.end("weather")
      })
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, header)).status, 500)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds, held: 0n })
      status = 200
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
      assert.strictEqual(shop.backend.seen.length, 2)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  it.effect("an identifier names one payment: with another it is refused", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end("named"))
      const { account, purse } = yield* signer(funds)
      const id = "order-0123456789abcdef"
      const named = Effect.fnUntraced(function* () {
        const { accepted, payload, resource } = yield* signFor(account, shop.path)
        const extensions = { "payment-identifier": { info: { required: false, id } } }
        return encoded({ x402Version: 2, resource, accepted, payload, extensions })
      })
      const header = yield* named()
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
      assert.strictEqual((yield* callWith(shop.path, header)).body, "named")
      const other = yield* callWith(shop.path, yield* named())
      assert.deepStrictEqual([other.status, other.json.code], [409, "IDEMPOTENCY_KEY_REUSED"])
      assert.deepStrictEqual(other.json.details, { key: id })
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("what does not pay", (it) => {
  it.effect("every change of what was signed or offered is refused with its reason, and the origin is not called", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end())
      const sibling = yield* baseSeller((_, response) => response.end())
      const { account, purse } = yield* signer(funds)
      const { accepted, header, payload, resource } = yield* signFor(account, shop.path)
      const write = (change: object) => encoded({ x402Version: 2, resource, accepted, payload, ...change })
      const offer = (change: object) => write({ accepted: { ...accepted, ...change } })
      const authorized = (change?: (plain: Authorization) => Authorization, signedFor?: { readonly chainId: number }) =>
        Effect.map(authorize(account, accepted, change, signedFor), (other) => write({ payload: other }))
      const seconds = BigInt(Math.floor(Date.now() / 1000))
      const signed = { ...payload.authorization }
      const rows: ReadonlyArray<readonly [string, string]> = [
        [offer({ amount: "9999" }), "invalid_payment_requirements"],
        [offer({ payTo: account.address }), "invalid_payment_requirements"],
        [offer({ asset: account.address }), "invalid_payment_requirements"],
        [offer({ network: "eip155:8453" }), "invalid_network"],
        [offer({ scheme: "upto" }), "unsupported_scheme"],
        [
          write({ payload: { ...payload, authorization: { ...signed, value: "9999" } } }),
          "invalid_exact_evm_signature"
        ],
        [
          yield* authorized((one) => ({ ...one, value: 10_001n })),
          "invalid_exact_evm_payload_authorization_value_mismatch"
        ],
        [yield* authorized((one) => ({ ...one, to: account.address })), "invalid_exact_evm_recipient_mismatch"],
        [
          yield* authorized((one) => ({ ...one, validBefore: seconds - 1n })),
          "invalid_exact_evm_payload_authorization_valid_before"
        ],
        [
          yield* authorized((one) => ({ ...one, validAfter: seconds + 100n })),
          "invalid_exact_evm_payload_authorization_valid_after"
        ],
        [yield* authorized(undefined, { chainId: 8453 }), "invalid_exact_evm_signature"],
        [write({ payload: { ...payload, signature: highS(payload.signature) } }), "invalid_exact_evm_signature"]
      ]
      for (const [payment, reason] of rows) {
        assert.deepStrictEqual(reasonOf(yield* callWith(shop.path, payment)), [402, reason, reason, reason])
      }
      const [, elsewhere] = reasonOf(yield* callWith(sibling.path, header))
      assert.strictEqual(elsewhere, "quote_for_another_endpoint")
      const malformed = yield* callWith(shop.path, "%%%")
      assert.deepStrictEqual([malformed.status, malformed.json.code], [400, "PAYMENT_MALFORMED"])
      assert.strictEqual(shop.backend.seen.length + sibling.backend.seen.length, 0)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds, held: 0n })
      assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
    })
  )

  it.effect("an address without a wallet, or without enough in it, pays nothing", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => response.end())
      const poor = yield* signer(9_999n)
      const { header } = yield* signFor(poor.account, shop.path)
      assert.strictEqual((yield* callWith(shop.path, header)).json.error, "insufficient_funds")
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT id FROM payments WHERE endpoint_id = ${shop.endpoint.id}`, [])
      assert.strictEqual(shop.backend.seen.length, 0)
    })
  )
})
