import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newUuid } from "#services/NewId.ts"
import { serverOf, withWallet } from "./WalletsServer.ts"
import { Deployment } from "#services/Deployment.ts"
import { Credentials } from "#services/Credentials.ts"

/** What differs from answer to answer (a connection ends when the body was not here yet), or because a browser asked. */
const ofItself = new Set(["date", "x-request-id", "connection", "keep-alive", "access-control-expose-headers"])

interface Request {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | Uint8Array
}

/** The answer without what is of this one request only. */
const answerTo = ({ body, headers, path }: Request) =>
  Effect.flatMap(Deployment, ({ publicUrl }) =>
    Effect.promise(async () => {
      const response = await fetch(`${publicUrl}${path}`, { method: "POST", headers, body: Buffer.from(body) })
      const text = await response.text()
      return {
        status: response.status,
        headers: Object.fromEntries([...response.headers].filter(([name]) => !ofItself.has(name))),
        body: text.replace(/"request_id":"[^"]*"/, "")
      }
    })
  )

layer(serverOf("sandbox"), { excludeTestServices: true, timeout: "60 seconds" })("a busy operation", (it) => {
  it.effect("refuses a plain request in the same words as one that takes the way of all others", () =>
    Effect.gen(function* () {
      const { id, tenant } = yield* withWallet
      const { issue, revoke } = yield* Credentials
      const key = (scopes: ReadonlyArray<string>) =>
        issue({ tenant_id: tenant.id, kind: "api_key", name: "test", scopes })
      const good = yield* key(["*:*"])
      const reader = yield* key(["transfers:read", "x402:read"])
      const gone = yield* key(["*:*"])
      yield* revoke(tenant.id, gone.id)
      const nobody = `wal_${"0".repeat(26)}`

      const transfer = { from_wallet_id: id, to_wallet_id: nobody, amount: "1.00", currency: "USDC" }
      const pay = { url: "https://elsewhere.test/", from_wallet_id: id }
      const bodies = [transfer, pay].flatMap((body) => [
        body,
        { ...body, extra: 1 },
        { ...body, from_wallet_id: nobody },
        { ...body, from_wallet_id: "wal_x" },
        { ...body, amount: "1e3" },
        { ...body, amount: "0" },
        { ...body, amount: "9223372036854775808" },
        { ...body, max_amount: "-1" },
        { ...body, type: "cross_border" },
        { ...body, idempotency_key: "another key" },
        { ...body, idempotency_key: "" },
        { ...body, memo: "\u0000" },
        { ...body, memo: "x".repeat(1001) }
      ])
      const texts = [
        "{",
        "[]",
        "null",
        "1",
        '"text"',
        "{}",
        '{"amount":"1","amount":"2"}',
        `${"[".repeat(70)}`,
        `[${"1,".repeat(7000)}1]`
      ]
      const requests: Array<Request> = ["/v1/transfers", "/v1/x402/pay"].flatMap((path) => {
        const plain = { authorization: `Bearer ${good.key}`, "content-type": "application/json" }
        const of = (body: string | Uint8Array, headers: Record<string, string> = plain): Request => ({
          path,
          headers,
          body
        })
        return [
          ...bodies.map((body) => of(JSON.stringify(body))),
          ...texts.map((text) => of(text)),
          of(new Uint8Array([0x7b, 0xff, 0x7d])),
          of("{}", { "content-type": "application/json" }),
          of("{}", { ...plain, authorization: "Basic x" }),
          of("{}", { ...plain, authorization: `Bearer ${newUuid()}` }),
          of("{}", { ...plain, authorization: `Bearer ${gone.key}` }),
          of("{}", { ...plain, authorization: `Bearer ${reader.key}` }),
          of("{}", { ...plain, authorization: `Bearer pk_live_${"a".repeat(32)}` }),
          of("{}", { ...plain, "content-type": "text/plain" }),
          of(JSON.stringify(transfer), { ...plain, "content-encoding": "gzip" }),
          of(JSON.stringify({ ...transfer, memo: "x".repeat(1_048_576) })),
          of(JSON.stringify(transfer), { ...plain, "idempotency-key": "one", "x-idempotency-key": "two" }),
          of(JSON.stringify(transfer), { ...plain, "idempotency-key": "x".repeat(256) })
        ]
      })
      for (const request of requests) {
        const direct = yield* answerTo(request)
        // A request from a page of another origin is no plain one.
        const usual = yield* answerTo({ ...request, headers: { ...request.headers, origin: "https://a.test" } })
        assert.isAtLeast(direct.status, 400)
        assert.deepStrictEqual(direct, usual, `${request.path} ${String(request.body).slice(0, 200)}`)
      }
    })
  )

  it.effect("answers a plain request with the same record and headers", () =>
    Effect.gen(function* () {
      const { call, fund, id } = yield* withWallet
      yield* fund({ amount: "10.00", currency: "USDC" })
      const { body: other } = yield* call("POST", "/v1/wallets", {})
      const body = { from_wallet_id: id, to_wallet_id: other.id, amount: "1.00", currency: "USDC", memo: "Ä €" }
      const direct = yield* call("POST", "/v1/transfers", body, { "idempotency-key": "direct" })
      const usual = yield* call("POST", "/v1/transfers", body, { "idempotency-key": "usual", origin: "https://a.test" })
      const [one, two] = [direct, usual].map(({ body, headers, status }) => ({
        status,
        headers: Object.fromEntries([...headers].filter(([name]) => !ofItself.has(name))),
        body: { ...body, id: "", created_at: "", updated_at: "", completed_at: "" }
      }))
      assert.deepStrictEqual(one, two)
      const again = yield* call("POST", "/v1/transfers", body, { "idempotency-key": "direct" })
      assert.deepStrictEqual([again.headers.get("idempotency-replayed"), again.body], ["true", direct.body])
    })
  )
})
