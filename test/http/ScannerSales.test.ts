import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { goods } from "#domain/ScannerGoods.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { ScannerSales } from "#services/ScannerSales.ts"
import { Scans } from "#services/Scans.ts"
import { Wallets } from "#services/Wallets.ts"
import { orderOf } from "../services/ScansHarness.ts"
import * as Fixture from "../shops/Fixture.ts"
import * as WellBuilt from "../shops/WellBuilt.ts"
import { contradictions, described } from "./Description.ts"
import { balance, listed, paidCall, pay, send, server, tenant } from "./GatewayHarness.ts"
import { callWith, decoded, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n

/** The operator, whose wallet the sales go to. */
const opened = Effect.gen(function* () {
  const operator = yield* tenant
  const { account_id, tenant_id } = operator.principal
  const till = (yield* (yield* Wallets).create(operator.principal, { network: "base-sepolia" })).id
  yield* (yield* ScannerSales).open({ tenant_id, account_id })
  return { ...operator, till }
})

/** Whoever opened first, whose goods they are. */
const operators: Array<Effect.Success<typeof opened>> = []

const shop = Effect.tap(WellBuilt.open, ({ domain }) => Effect.sync(() => listed.push(domain)))

const scanOf = (domain: string) => ({ method: "POST", body: { domain } })

const agent = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  const wallets = yield* Wallets
  const purse = (yield* wallets.create(principal, { network: "base-sepolia" })).id
  yield* wallets.fund(principal, purse, { amount: funds, currency: "USDC" })
  return { key, principal, purse }
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("calls of the scanner without a key", (it) => {
  it.effect("are for those who have a key until they are on sale", () =>
    Effect.gen(function* () {
      const answer = yield* send("/v1/scanner/scan", scanOf("shop.example.com"))
      assert.deepStrictEqual([answer.status, answer.json.code], [401, "MISSING_AUTH_HEADER"])
    })
  )

  it.effect("are put on sale once, however many processes do it", () =>
    Effect.gen(function* () {
      const { open } = yield* ScannerSales
      const operator = yield* opened
      const { principal, till } = operator
      operators.push(operator)
      yield* Effect.all([open(principal), open(principal), open(principal)], { concurrency: 3 })
      const { total, wallets } = yield* (yield* Wallets).list(principal, {}, { limit: 10, offset: 0 })
      assert.deepStrictEqual([total, wallets[0]?.id], [1, till])
      const listing = yield* send("/.well-known/x402")
      const own = (listing.json.resources as ReadonlyArray<string>).filter((line) => line.includes("/v1/scanner/"))
      assert.sameMembers(own, ["POST /v1/scanner/scan", "POST /v1/scanner/tests", "GET /v1/scanner/scans"])
    })
  )

  it.effect("may be paid by a page of another origin, whose client says beside its payment what it wants to read", () =>
    Effect.gen(function* () {
      const asking = { origin: "https://a.example", "access-control-request-method": "POST" }
      const { headers } = yield* send("/v1/scanner/scan", { method: "OPTIONS", headers: asking })
      const allowed = String(headers["access-control-allow-headers"]).split(", ")
      assert.includeMembers(allowed, ["payment-signature", "x-payment", "access-control-expose-headers"])
    })
  )

  it.effect("ask for the price of the operation, at its own address", () =>
    Effect.gen(function* () {
      const asked = [
        ["POST", "/v1/scanner/scan", "50000", "/v1/scanner/scan"],
        ["POST", "/v1/scanner/tests", "250000", "/v1/scanner/tests"],
        ["GET", "/v1/scanner/scans/by-domain/shop.example.com", "5000", "/v1/scanner/scans"],
        ["GET", "/v1/scanner/scans/stats", "5000", "/v1/scanner/scans"],
        ["GET", "/v1/scanner/tests/shop.example.com?limit=3", "5000", "/v1/scanner/scans"]
      ] as const
      for (const [method, path, amount, sold] of asked) {
        const { headers, json, status } = yield* send(path, { method })
        assert.deepStrictEqual(contradictions({ $ref: "#/components/schemas/PaymentOffer" }, json), [])
        assert.match(String(headers["www-authenticate"]), /^Payment /)
        const { accepts, resource } = decoded(headers["payment-required"])
        assert.deepStrictEqual(
          [status, accepts[0].amount, new URL(resource.url).pathname, accepts[0].network],
          [402, amount, sold, "eip155:84532"]
        )
      }
    })
  )

  it("are described as for sale, those and no others", () => {
    const sold = described.filter(({ responses }) => responses["402"]?.["application/json"] !== undefined)
    // Besides, the sandbox's facilitator asks for no key, and a report's own address is signed.
    const opened = ["facilitator.settle", "facilitator.verify", "scanner_reports.scan", "scanner_reports.test"]
    assert.deepStrictEqual(
      described
        .filter(({ isOpen }) => isOpen)
        .map(({ id }) => id)
        .toSorted(),
      [...sold.map(({ id }) => id), ...opened].toSorted()
    )
    const ids = sold.map(({ id }) => id).toSorted()
    const reads = ["scans.freshest", "scans.get", "scans.history", "scans.list", "scans.statistics"]
    assert.deepStrictEqual(
      ids,
      [...reads, "scans.scan", "shopping_tests.get", "shopping_tests.recent", "shopping_tests.run"].toSorted()
    )
  })

  it.effect("are made once they are paid for by any client of x402, and cost no credits", () =>
    Effect.gen(function* () {
      const { domain } = yield* shop
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, "/v1/scanner/scan", scanOf(domain))
      const answer = yield* callWith("/v1/scanner/scan", header, scanOf(domain))
      assert.deepStrictEqual([answer.status, answer.json.domain, answer.json.status], [200, domain, "completed"])
      assert.deepInclude(decoded(answer.headers["payment-response"]), { success: true, amount: "50000" })
      assert.isUndefined(answer.headers["x-credits-remaining"])
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 50_000n, held: 0n })

      const again = yield* callWith("/v1/scanner/scan", header, scanOf(domain))
      assert.strictEqual(again.json.id, answer.json.id)
      assert.strictEqual((yield* balance(purse)).posted, funds - 50_000n)

      const path = `/v1/scanner/scan/${answer.json.id}`
      const reading = yield* signFor(account, path)
      const read = yield* callWith(path, reading.header)
      assert.deepStrictEqual([read.status, read.json.id], [200, answer.json.id])
      assert.strictEqual((yield* balance(purse)).posted, funds - 55_000n)
    })
  )

  it.effect("of whoever hangs up are neither paid for nor done", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const began = yield* Deferred.make<void>()
      const { domain } = yield* Effect.tap(
        Fixture.open(() => void Deferred.doneUnsafe(began, Effect.void)),
        (site) => Effect.sync(() => listed.push(site.domain))
      )
      const buyer = yield* agent
      const call = yield* Effect.forkChild(paidCall(buyer, "/v1/scanner/scan", scanOf(domain)))
      yield* Deferred.await(began)
      yield* Fiber.interrupt(call)
      const rows = (table: string) => sql`SELECT id FROM ${sql(table)} WHERE domain = ${domain}`
      yield* Effect.repeat(rows("scanner_work"), { until: ({ length }) => length === 0 })
      assert.deepStrictEqual(yield* rows("merchant_scans"), [])
      assert.strictEqual((yield* balance(buyer.purse)).posted, funds)
    })
  )

  it.effect("are paid from a wallet here as well", () =>
    Effect.gen(function* () {
      const { domain } = yield* shop
      const buyer = yield* agent
      const answer = yield* paidCall(buyer, "/v1/scanner/scan", scanOf(domain))
      assert.deepStrictEqual([answer.status, answer.json.domain], [200, domain])
      assert.strictEqual((yield* balance(buyer.purse)).posted, funds - 50_000n)
    })
  )

  it.effect("are paid by the address that is called, as the page of the 402 shows it", () =>
    Effect.gen(function* () {
      const [{ domain }, buyer] = [yield* shop, yield* agent]
      const by = (url: string) => pay(buyer.key, { url, from_wallet_id: buyer.purse })
      const calls = { "/v1/scanner/scan": scanOf(domain), [`/v1/scanner/scans/by-domain/${domain}?x=1`]: {} }
      for (const [path, call] of Object.entries(calls)) {
        const { body } = yield* send(path, { ...call, headers: { accept: "text/html" } })
        const { json } = yield* by(/-d &#39;{&quot;url&quot;:&quot;([^&]+)&quot;/.exec(body)?.[1] ?? "")
        const answer = yield* send(path, { ...call, headers: { "x-payment-proof": json.proof } })
        assert.deepStrictEqual([answer.status, answer.json.domain], [200, domain], answer.body)
      }
      assert.strictEqual((yield* balance(buyer.purse)).posted, funds - 55_000n)
      const { publicUrl } = yield* Deployment
      assert.strictEqual((yield* by(`${publicUrl}/v1/scanner/keys`)).json.details.reason, "not_a_gateway_url")
    })
  )

  it.effect("are each paid and done for themselves, whatever idempotency key strangers name", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* shop, yield* shop]
      const scans = yield* Scans
      for (const { domain } of [one, two]) {
        yield* scans.scan({ _tag: "PaidCall", source: "req" }, orderOf(domain))
        const buyer = yield* agent
        const body = { domain, skip_if_fresh: true }
        const call = { method: "POST", body, headers: { "idempotency-key": "once" } }
        const answer = yield* paidCall(buyer, "/v1/scanner/scan", call)
        assert.deepStrictEqual([answer.status, answer.json.domain], [200, domain])
        assert.isUndefined(answer.headers["idempotency-replayed"])
        assert.strictEqual((yield* balance(buyer.purse)).posted, funds - 50_000n)
      }
    })
  )

  it.effect("cost nothing when they are refused", () =>
    Effect.gen(function* () {
      const buyer = yield* agent
      for (const body of [{ domain: "10.0.0.1" }, { domain: 1 }, {}, { domain: "shop.example.com", unknown: true }]) {
        const answer = yield* paidCall(buyer, "/v1/scanner/scan", { method: "POST", body })
        assert.include([400, 422], answer.status, answer.body)
      }
      const nobody = yield* paidCall(buyer, "/v1/scanner/scan/00000000-0000-7000-8000-000000000000")
      assert.strictEqual(nobody.status, 404)
      assert.deepStrictEqual((yield* balance(buyer.purse)).posted, funds)
    })
  )

  it.effect("leave everything else to those who have a key, and keys as they were", () =>
    Effect.gen(function* () {
      for (const [method, path] of [
        ["GET", "/v1/scanner/credits/balance"],
        ["POST", "/v1/scanner/scan/batch"],
        ["GET", "/v1/scanner/scan/batch"],
        ["GET", "/v1/scanner/keys"],
        ["DELETE", "/v1/scanner/scan"]
      ] as const) {
        assert.include([401, 405], (yield* send(path, { method })).status, path)
      }
      const wrong = yield* send("/v1/scanner/scans", { headers: { authorization: "Bearer psk_test_no" } })
      assert.strictEqual(wrong.status, 401)
      const made = yield* send("/v1/scanner/scans", { headers: { authorization: `Bearer paid_${"x".repeat(43)}` } })
      assert.strictEqual(made.status, 401)
    })
  )

  it.effect("charge a key's credits and no money, and a payment buys one kind of thing only", () =>
    Effect.gen(function* () {
      const { domain } = yield* shop
      const buyer = yield* agent
      const { key } = yield* (yield* Credentials).issue({
        tenant_id: buyer.principal.tenant_id,
        kind: "scanner_key",
        name: "scans",
        scopes: ["scan"]
      })
      const headers = { authorization: `Bearer ${key}` }
      const poor = yield* send("/v1/scanner/scan", { ...scanOf(domain), headers })
      assert.deepStrictEqual([poor.status, poor.json.code], [402, "INSUFFICIENT_CREDITS"])
      assert.deepInclude(poor.json.details, { balance: 0, required: 1 })
      assert.isUndefined(poor.headers["payment-required"])
      assert.strictEqual((yield* (yield* ScannerCredits).balance(buyer.principal.tenant_id)).consumed_total, 0)

      const challenge = yield* send("/v1/scanner/scans")
      const { json } = yield* pay(buyer.key, {
        payment_request_id: challenge.json.payment_request_id,
        from_wallet_id: buyer.purse
      })
      const other = yield* send("/v1/scanner/scan", {
        ...scanOf(domain),
        headers: { "x-payment-proof": json.proof }
      })
      assert.strictEqual(other.status, 402)
    })
  )

  it.effect("are the buyer's, whatever the operator has forwarded with them", () =>
    Effect.gen(function* () {
      const [operator] = operators
      const changed = yield* send(`/v1/x402/endpoints/${goods[2]?.id}`, {
        method: "PATCH",
        headers: { authorization: `Bearer ${operator?.key}` },
        body: { forwardHeaders: { Authorization: `Bearer ${operator?.key}`, "X-Kind": "own" } }
      })
      assert.strictEqual(changed.status, 200, changed.body)
      const buyer = yield* agent
      assert.strictEqual((yield* paidCall(buyer, "/v1/scanner/scans/stats")).status, 200)
      assert.strictEqual((yield* balance(buyer.purse)).posted, funds - 5_000n)
    })
  )

  it.effect("are priced and taken off sale by the operator, and lead nowhere through the gateway", () =>
    Effect.gen(function* () {
      const [operator] = operators
      assert.isDefined(operator)
      const [scan] = goods
      const path = `/v1/x402/endpoints/${scan?.id}`
      const change = (key: string, body: object) =>
        send(path, { method: "PATCH", headers: { authorization: `Bearer ${key}` }, body })
      assert.strictEqual((yield* change((yield* agent).key, { basePrice: 1 })).status, 404)
      assert.strictEqual((yield* change(operator.key, { basePrice: 0.07 })).status, 200)
      const dearer = yield* send("/v1/scanner/scan", { method: "POST" })
      assert.strictEqual(decoded(dearer.headers["payment-required"]).accepts[0].amount, "70000")
      const through = yield* send(`/x402/${scan?.id}/v1/scanner/scan`, { method: "POST" })
      assert.notStrictEqual(through.status, 402)
      assert.strictEqual((yield* change(operator.key, { status: "paused" })).status, 200)
      const paused = yield* send("/v1/scanner/scan", { method: "POST" })
      assert.deepStrictEqual([paused.status, paused.json.code], [401, "MISSING_AUTH_HEADER"])
    })
  )
})
