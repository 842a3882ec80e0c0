import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { wrongs } from "#http/Decoding/Wording.ts"
import { options, serverOf, withWallet } from "./WalletsServer.ts"

const nonsense: ReadonlyArray<unknown> = [
  ...[null, true, 1, -1, 1.5, 1e30, "", " ", "x", "x".repeat(5000), "\u0000", "2026-02-30T00:00:00Z"],
  ...[[], [1], [{}], ["", ""], {}, { a: 1 }, Array.from({ length: 1_100 }, () => ({}))]
]
const words = ["", "abc", "1.5", "-1", "9999999999", "x".repeat(5000), "LTE", "MQ", "%"]

/** The fields of a body or a query as they are sent. */
const fieldsOf = (schema: Schema.Top): ReadonlyArray<string> => {
  const members = (ast: typeof schema.ast): ReadonlyArray<string> => {
    if (ast._tag === "Union") return ast.types.flatMap(members)
    return ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
  }
  return members(Schema.toEncoded(schema).ast)
}

/** Everything that is said of nonsense in every field, with where. */
const said: Array<readonly [where: string, message: string]> = []
const ask = (where: string, codec: Schema.Top, input: unknown) => {
  const decode = Schema.decodeUnknownResult(codec as never, { errors: "all", onExcessProperty: "error" })
  const decoded = decode(input)
  if (Result.isSuccess(decoded)) return
  for (const { message, path } of wrongs(decoded.failure.issue)) said.push([`${where} ${path}`, message])
}
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    const name = `${group.identifier}.${endpoint.identifier}`
    for (const { schemas } of endpoint.payload.values()) {
      const body = Schema.Union(schemas)
      const codec = Schema.toCodecJson(body)
      for (const value of nonsense) {
        ask(name, codec, value)
        for (const field of fieldsOf(body)) ask(name, codec, { [field]: value })
      }
    }
    for (const query of [endpoint.query, endpoint.headers]) {
      if (query === undefined) continue
      const codec = Schema.toCodecStringTree(query)
      for (const word of words) for (const field of fieldsOf(query)) ask(name, codec, { [field]: word })
    }
  }
})

describe("what is said of a request that cannot be read", () => {
  it("is in the words of the API, whatever is wrong at whichever field", () => {
    assert.isAbove(said.length, 1_000)
    const strange = said.filter(
      ([, message]) =>
        /expected|representing|RegExp|code point|a value|filter|something else|cannot be read/i.test(message) ||
        !/^(?:must |is |name |"" is |".*" is |needs |gives )/s.test(message)
    )
    assert.deepStrictEqual(strange, [])
  })
})

layer(serverOf("sandbox"), options)("a request that cannot be read", (it) => {
  it.effect("is told what to send instead", () =>
    Effect.gen(function* () {
      const { call, id } = yield* withWallet
      const attempts: ReadonlyArray<
        readonly [method: "GET" | "POST", path: string, body: unknown, at: string, says: string]
      > = [
        ["POST", `/v1/wallets/${id}/freeze`, undefined, "", "must be a JSON object"],
        ["POST", `/v1/wallets/${id}/freeze`, {}, "reason", "is needed"],
        ["POST", `/v1/wallets/${id}/freeze`, { reason: " " }, "reason", "must not be blank"],
        ["POST", "/v1/wallets", [], "", "must be a JSON object"],
        ["POST", "/v1/wallets", { name: 1 }, "name", "must be text or null"],
        ["POST", "/v1/wallets", { name: "x".repeat(256) }, "name", "must have at most 255 characters"],
        [
          "POST",
          "/v1/x402/pay",
          { url: "x".repeat(4097), from_wallet_id: id },
          "url",
          "must have at most 4096 characters"
        ],
        [
          "POST",
          "/v1/agents",
          { name: "x", skills: Array.from({ length: 101 }, (_, index) => `${index}`) },
          "skills",
          "must have at most 100 items"
        ],
        ["POST", "/v1/wallets", { nam: "x" }, "nam", "is not known here"],
        ["POST", "/v1/wallets", { ["x".repeat(500_000)]: 1 }, `${"x".repeat(100)}…`, "is not known here"],
        ["POST", "/v1/wallets", { curency: "USDC" }, "curency", "is not known here: did you mean currency?"],
        [
          "POST",
          "/v1/transfers/batch",
          { transfers: [{ toWalletId: id }] },
          "transfers.0.toWalletId",
          "is not known here: did you mean to_wallet_id?"
        ],
        ["POST", "/v1/wallets", { currency: "USD" }, "currency", 'must be one of "USDC", "EURC"'],
        ["GET", "/v1/x402/discovery?type=mcp", undefined, "type", 'must be "http"'],
        ["POST", "/v1/api-keys", { name: "x", scopes: [] }, "scopes", "must not be empty"],
        ["POST", "/v1/agents", { name: "x", generateKeypair: 1 }, "generateKeypair", "must be true or false"],
        ["POST", "/v1/transfers/batch", { transfers: ["x"] }, "transfers.0", "must be a JSON object"],
        ["POST", "/v1/transfers/batch", { transfers: {} }, "transfers", "must be a list"],
        ["POST", "/v1/x402/pay", { url: "https://api.example.com/x402/1" }, "from_wallet_id", "is needed"],
        ["GET", "/v1/wallets?limit=abc", undefined, "limit", "must be a whole number"],
        ["GET", "/v1/wallets?limit=1.5", undefined, "limit", "must be a whole number"],
        ["GET", "/v1/wallets?limit=5&limit=5", undefined, "limit", "must be given once"],
        ["GET", "/v1/transfers?status=failed&status=pending", undefined, "status", "must be given once"],
        ["GET", "/v1/wallets?limit=201", undefined, "limit", "must be between 1 and 200"],
        ...["eA", "%25", "x".repeat(300), "MA"].map(
          (cursor) =>
            [
              "GET",
              `/v1/wallets/${id}/entries?cursor=${cursor}`,
              undefined,
              "cursor",
              "must be a cursor that an earlier answer gave as next_cursor"
            ] as const
        )
      ]
      for (const [method, path, sent, at, says] of attempts) {
        const { body, status, text } = yield* call(method, path, sent)
        assert.deepStrictEqual([status, body.code], [400, "INVALID_REQUEST"], text)
        assert.deepStrictEqual(body.details.errors[0], { path: at, message: says }, `${method} ${path}`)
      }
    })
  )

  it.effect("for a number that is too large for any reader of JSON is told so", () =>
    Effect.gen(function* () {
      const { call } = yield* withWallet
      const { body, status } = yield* call("POST", "/v1/wallets", '{"metadata":{"a":[1e400]}}')
      assert.deepStrictEqual([status, body.code], [400, "INVALID_REQUEST"])
      const message = "must be JSON without numbers above 1.7e308"
      assert.deepStrictEqual(body.details.errors, [{ path: "metadata.a", message }])
    })
  )

  it.effect("for what it names is told what that was", () =>
    Effect.gen(function* () {
      const { call, id } = yield* withWallet
      const nobody = "acc_01h455vb4pex5vsknk084sn02r"
      const attempts = [
        ["POST", "/v1/wallets", { owner_id: nobody }, `There is no such thing here (resource: account; id: ${nobody})`],
        [
          "POST",
          "/v1/wallets",
          { network: "base-mainnet" },
          "This environment does not use that network (network: base-mainnet; available: solana-devnet, base-sepolia)"
        ],
        [
          "POST",
          `/v1/wallets/${id}/fund`,
          { amount: "10000.01", currency: "USDC" },
          "The amount is larger than allowed (maximum: 10000.00)"
        ],
        [
          "DELETE",
          `/v1/wallets/${id}`,
          undefined,
          "This path does not take that method (method: DELETE; allow: GET, HEAD, OPTIONS)"
        ],
        ["GET", "/v1/walets", undefined, "There is no such thing here (resource: path; id: /v1/walets)"]
      ] as const
      for (const [method, path, sent, says] of attempts) {
        const { body, text } = yield* call(method as "GET", path, sent)
        assert.strictEqual(body.detail, says, text)
      }
    })
  )

  it.effect("is told of 50 wrong places at most", () =>
    Effect.gen(function* () {
      const { call } = yield* withWallet
      for (const [wrong, told] of [
        [50, 50],
        [51, 50]
      ] as const) {
        const transfers = Array.from({ length: wrong }, () => "x")
        const { body } = yield* call("POST", "/v1/transfers/batch", { transfers })
        assert.lengthOf(body.details.errors, told)
      }
    })
  )

  it.effect("by an amount and by something else is told of both, under no code of amounts", () =>
    Effect.gen(function* () {
      const { call, id } = yield* withWallet
      const { body } = yield* call("POST", `/v1/wallets/${id}/fund`, { amount: "0", currency: "USD" })
      assert.strictEqual(body.code, "INVALID_REQUEST")
      assert.sameMembers(
        body.details.errors.map(({ path }: { readonly path: string }) => path),
        ["amount", "currency"]
      )
    })
  )

  it.effect("for an id that cannot be one is told of what nothing has it, in the singular", () =>
    Effect.gen(function* () {
      const { call } = yield* withWallet
      for (const [path, resource] of [
        ["/v1/wallets/nope", "wallet"],
        ["/v1/transfers/batch/nope", "batch"],
        ["/v1/disputes/nope", "dispute"],
        ["/v1/agents/nope/liveness", "agent"],
        ["/v1/agents/nope/sessions", "agent"],
        ["/v1/scanner/scan/nope/report", "scan"],
        ["/v1/scanner/test/nope/report", "shopping_test"]
      ] as const) {
        const { body, status } = yield* call("GET", path)
        assert.deepStrictEqual([status, body.details], [404, { resource, id: "nope" }])
      }
    })
  )

  it.effect("for a delivery that cannot be one is not told that there is no such webhook", () =>
    Effect.gen(function* () {
      const { call } = yield* withWallet
      const order = { url: "https://shop.example/hook", events: ["transfer.completed"] }
      const { body: webhook } = yield* call("POST", "/v1/webhooks", order)
      const { body, status } = yield* call("GET", `/v1/webhooks/${webhook.id}/deliveries/nope`)
      assert.deepStrictEqual([status, body.details], [404, { resource: "delivery", id: "nope" }])
    })
  )

  it.effect("by an amount that is none is told which one", () =>
    Effect.gen(function* () {
      const { call, id } = yield* withWallet
      const item = (amount: string) => ({ to_wallet_id: id, amount, currency: "USDC" })
      const batch = { from_wallet_id: id, transfers: [item("1"), item("0")] }
      const refused = yield* call("POST", "/v1/transfers/batch", batch)
      assert.deepStrictEqual(
        [refused.status, refused.body.code, refused.body.detail],
        [422, "AMOUNT_TOO_SMALL", "transfers.1.amount: must be greater than 0"]
      )
    })
  )
})
