import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { parseDecimal } from "#domain/Money.ts"
import { quantumOf, QuoteCurrency, rateUnit, sandboxPerDollar } from "#domain/Rate.ts"
import { ask, bearer, entrance, layer as platform } from "./PlatformHarness.ts"
import { operationOf } from "./Description.ts"
import { refusedAmounts } from "./RefusedAmounts.ts"
import { callerOf, newcomer, options, serverOf } from "./WalletsServer.ts"

const conversion = { from_currency: "USDC", to_currency: "EURC", amount: "100.00" }

/** How many quotes a tenant has. */
const kept = Effect.fnUntraced(function* (tenant: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT id FROM quotes WHERE tenant_id = ${tenant.id}`).length
})

layer(serverOf("sandbox"), options)("quotes over HTTP", (it) => {
  it.effect("answer 201 with what the description shows, and read back the same", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const { body, responses } = operationOf("quotes.create")
      const made = yield* call("POST", "/v1/quotes", body?.example)
      assert.strictEqual(made.status, 201, made.text)
      const { created_at, expires_at, id } = made.body
      const shown = responses["201"]?.["application/json"]?.example
      assert.deepStrictEqual(made.body, { ...shown, id, created_at, expires_at })
      assert.match(id, /^qt_[0-9a-z]{26}$/)
      assert.strictEqual(Date.parse(expires_at) - Date.parse(created_at), 30_000)
      const read = yield* call("GET", `/v1/quotes/${id}`)
      assert.deepStrictEqual([read.status, read.body], [200, made.body])
    })
  )

  it.effect("can be recomputed by anybody from what they and the description say", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const micros = (text: string) => parseDecimal(text) ?? -1n
      for (const from_currency of QuoteCurrency.literals) {
        for (const to_currency of QuoteCurrency.literals) {
          for (const amount_side of ["send", "receive"]) {
            const request = { from_currency, to_currency, amount: "1234.56", amount_side }
            const { body, status } = yield* call("POST", "/v1/quotes", request)
            assert.strictEqual(status, 201)
            const perDollar = (currency: QuoteCurrency) => BigInt(Math.round(Number(sandboxPerDollar[currency]) * 100))
            const mid = (perDollar(to_currency) * rateUnit) / perDollar(from_currency)
            const rate = from_currency === to_currency ? mid : (mid * 9_950n) / 10_000n
            assert.strictEqual(body.mid_rate.replace(".", ""), mid.toString().padStart(9, "0"))
            assert.strictEqual(body.rate.replace(".", ""), rate.toString().padStart(9, "0"))
            const [send, receive, fee] = [body.send_amount, body.receive_amount, body.fee].map(micros)
            const [mine, theirs] = [quantumOf(from_currency), quantumOf(to_currency)]
            assert.strictEqual(fee, ((send! * 25n + 10_000n * mine - 1n) / (10_000n * mine)) * mine)
            assert.strictEqual(receive, (((send! - fee!) * rate) / rateUnit / theirs) * theirs)
            if (amount_side === "send") assert.strictEqual(body.send_amount, "1234.56")
            else assert.isTrue(receive! >= 1_234_560_000n)
          }
        }
      }
    })
  )

  for (const [name, json, code] of refusedAmounts) {
    it.effect(`with ${name} for an amount are 422 ${code} and name the field`, () =>
      Effect.gen(function* () {
        const { call, tenant } = yield* newcomer
        for (const side of ["send", "receive"]) {
          const text = `{"from_currency": "USDC", "to_currency": "EURC", "amount_side": "${side}", "amount": ${json}}`
          const { body } = yield* call("POST", "/v1/quotes", text)
          assert.deepInclude(body, { status: 422, code })
          assert.strictEqual(body.details.param, "amount")
        }
        assert.strictEqual(yield* kept(tenant), 0)
      })
    )
  }

  it.effect("take no fractions of a cent, on the side that is asked for", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const codeOf = (from_currency: string, to_currency: string, amount_side: string) =>
        Effect.map(
          call("POST", "/v1/quotes", { from_currency, to_currency, amount_side, amount: "10.001" }),
          ({ body, status }) => [status, body.code, body.details?.param]
        )
      assert.deepStrictEqual(yield* codeOf("USD", "USDC", "send"), [422, "INVALID_AMOUNT", "amount"])
      assert.deepStrictEqual(yield* codeOf("USDC", "BRL", "receive"), [422, "INVALID_AMOUNT", "amount"])
      assert.strictEqual((yield* codeOf("USDC", "BRL", "send"))[0], 201)
      assert.strictEqual((yield* codeOf("USD", "USDC", "receive"))[0], 201)
    })
  )

  it.effect("of which nothing would arrive are 422 and say what would be enough", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const { body } = yield* call("POST", "/v1/quotes", { ...conversion, to_currency: "USD", amount: "0.01" })
      assert.deepInclude(body, { status: 422, code: "QUOTE_AMOUNT_TOO_SMALL" })
      assert.deepStrictEqual(body.details, { minimum: "0.010077", currency: "USDC" })
      const enough = { ...conversion, to_currency: "USD", amount: body.details.minimum }
      assert.strictEqual((yield* call("POST", "/v1/quotes", enough)).body.receive_amount, "0.01")
    })
  )

  it.effect("that would be more than the ledger can hold are 422", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const all = { from_currency: "USDC", to_currency: "MXN", amount: "9223372036854.775807" }
      assert.deepInclude((yield* call("POST", "/v1/quotes", all)).body, { status: 422, code: "AMOUNT_TOO_LARGE" })
    })
  )

  const bad: ReadonlyArray<readonly [name: string, body: unknown, path: string]> = [
    ["a currency nobody knows", { ...conversion, to_currency: "JPY" }, "to_currency"],
    ["a currency in lower case", { ...conversion, from_currency: "usdc" }, "from_currency"],
    ["a currency of the prototype", { ...conversion, from_currency: "__proto__" }, "from_currency"],
    ["a currency that is no text", { ...conversion, from_currency: ["USDC"] }, "from_currency"],
    ["no currency", { from_currency: "USDC", amount: "1" }, "to_currency"],
    ["no amount", { from_currency: "USDC", to_currency: "EURC" }, "amount"],
    ["another side", { ...conversion, amount_side: "both" }, "amount_side"],
    ["null for a side", { ...conversion, amount_side: null }, "amount_side"],
    ["a rate of the caller's own", { ...conversion, rate: "2" }, "rate"],
    ["a list", [conversion], ""],
    ["nothing", "null", ""]
  ]
  for (const [name, body, path] of bad) {
    it.effect(`with ${name} are 400 and name the field`, () =>
      Effect.gen(function* () {
        const { call, tenant } = yield* newcomer
        const answer = yield* call("POST", "/v1/quotes", body)
        assert.deepInclude(answer.body, { status: 400, code: "INVALID_REQUEST" })
        assert.strictEqual(answer.body.details.errors[0].path, path)
        assert.strictEqual(yield* kept(tenant), 0)
      })
    )
  }

  it.effect("of somebody else, and ids that are none, are 404", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [yield* newcomer, yield* newcomer]
      const { id } = (yield* theirs.call("POST", "/v1/quotes", conversion)).body
      for (const one of [id, "qt_", "nonsense", id.replace("qt_", "tx_"), "%00"]) {
        assert.deepInclude((yield* mine.call("GET", `/v1/quotes/${one}`)).body, { status: 404, code: "NOT_FOUND" })
      }
    })
  )

  it.effect("are made under transfers:write and read under transfers:read", () =>
    Effect.gen(function* () {
      const { call, tenant } = yield* newcomer
      const reader = yield* callerOf(tenant, ["transfers:read"])
      const { id } = (yield* call("POST", "/v1/quotes", conversion)).body
      assert.strictEqual((yield* reader("GET", `/v1/quotes/${id}`)).status, 200)
      assert.strictEqual((yield* reader("POST", "/v1/quotes", conversion)).body.code, "INSUFFICIENT_SCOPE")
      const other = yield* callerOf(tenant, ["wallets:*"])
      assert.strictEqual((yield* other("GET", `/v1/quotes/${id}`)).body.code, "INSUFFICIENT_SCOPE")
    })
  )
})

layer(serverOf("live"), options)("quotes of a live server without rates", (it) => {
  it.effect("are 422 that says so, and those within a currency are made", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const refused = yield* call("POST", "/v1/quotes", conversion)
      assert.deepInclude(refused.body, { status: 422, code: "RATES_NOT_CONFIGURED" })
      const same = yield* call("POST", "/v1/quotes", { ...conversion, to_currency: "USDC" })
      assert.deepInclude(same.body, { rate: "1.00000000", spread_basis_points: 0, receive_amount: "99.75" })
    })
  )
})

const away = { TURNPIKE_ENVIRONMENT: "live", TURNPIKE_RATES_URL: "http://127.0.0.1:1/rates" }
layer(platform(away), options)("quotes of a live server whose rates are away", (it) => {
  it.effect("are 503 with the time to come back, and the server is up all the same", () =>
    Effect.gen(function* () {
      const { base, key } = yield* entrance
      const refused = yield* ask(`${base}/v1/quotes`, {
        method: "POST",
        headers: { ...bearer(key), "content-type": "application/json" },
        body: JSON.stringify(conversion)
      })
      assert.deepInclude(refused.body, { status: 503, code: "RATE_UNAVAILABLE" })
      assert.strictEqual(refused.headers.get("retry-after"), "5")
      assert.strictEqual((yield* ask(`${base}/health/ready`)).status, 200)
    })
  )
})
