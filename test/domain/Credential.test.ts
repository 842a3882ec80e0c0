import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { CreateAccount } from "#domain/Account.ts"
import {
  ApiKey,
  CreateApiKey,
  EnvironmentWord,
  readAuthorization,
  readToken,
  scopeBeyond,
  tokenPrefix,
  unreadableCredential
} from "#domain/Credential.ts"

const body = "0123456789abcdefghijABCDEFGHIJKL"

describe("a token", () => {
  it("says what it is by its prefix", () => {
    assert.deepStrictEqual(readToken(`pk_test_${body}`), { kind: "api_key", environment: "sandbox" })
    assert.deepStrictEqual(readToken(`pk_live_${body}`), { kind: "api_key", environment: "live" })
    assert.deepStrictEqual(readToken(`psk_test_${body}`), { kind: "scanner_key", environment: "sandbox" })
    assert.strictEqual(tokenPrefix("scanner_key", "live"), "psk_live_")
  })

  it("of any other shape is no key of ours", () => {
    const others = [
      "",
      "pk_test_",
      `pk_test_${body}x`,
      `pk_test_${body.slice(1)}`,
      `pk_prod_${body}`,
      `PK_TEST_${body}`
    ]
    for (const token of [
      ...others,
      ` pk_test_${body}`,
      `pk_test_${body}\n`,
      `pk_test_${body.slice(1)}-`,
      "x".repeat(10_000)
    ]) {
      assert.isUndefined(readToken(token), token.slice(0, 60))
    }
  })
})

it("text that is no token is refused for what it begins like", () => {
  const codes = ["sess_x", "agent_test_x", "agent_x", "portal_x", "pk_test_x", "psk_x", "constructor_x", "x", ""].map(
    (text) => unreadableCredential(text)._tag
  )
  const key = "INVALID_API_KEY"
  assert.deepStrictEqual(codes, [
    "INVALID_SESSION_TOKEN",
    "INVALID_AGENT_TOKEN",
    "INVALID_AGENT_TOKEN",
    "INVALID_PORTAL_TOKEN",
    ...[key, key, key, key, key]
  ])
})

describe("the Authorization header", () => {
  const read = (header: string | undefined) => {
    const result = readAuthorization(header)
    return Result.isSuccess(result) ? result.success : result.failure._tag
  }

  it("carries the credential after the scheme, in any case of it", () => {
    for (const header of [`Bearer ${body}`, `bearer ${body}`, `BEARER   ${body} `])
      assert.strictEqual(read(header), body)
  })

  it("is told apart when it is missing and when it is something else", () => {
    for (const header of [undefined, "", "  "]) assert.strictEqual(read(header), "MISSING_AUTH_HEADER")
    const wrong = [
      "Bearer",
      "Bearer ",
      "Basic dXNlcjpwYXNz",
      body,
      "Bearer a b",
      `Bearer ${"x".repeat(10_000)}`,
      "Bearer a, Bearer b"
    ]
    for (const header of wrong) assert.strictEqual(read(header), "MALFORMED_AUTH_HEADER", header.slice(0, 40))
  })
})

describe("scopes", () => {
  it("can be passed on as far as they reach, and no further", () => {
    assert.isUndefined(scopeBeyond(["*:*"], ["*:*", "wallets:write"]))
    assert.isUndefined(scopeBeyond(["wallets:*"], ["wallets:read", "wallets:write", "wallets:*"]))
    assert.isUndefined(scopeBeyond(["wallets:read", "wallets:write"], ["wallets:*"]))
    assert.strictEqual(scopeBeyond(["wallets:read"], ["wallets:read", "wallets:write"]), "wallets:write")
    assert.strictEqual(scopeBeyond(["wallets:read"], ["wallets:*"]), "wallets:*")
    assert.strictEqual(scopeBeyond(["wallets:write"], ["wallets:*"]), "wallets:*")
    assert.strictEqual(scopeBeyond(["wallets:write"], ["wallets:read"]), "wallets:read")
    assert.strictEqual(scopeBeyond(["wallets:*", "accounts:*"], ["*:*"]), "*:*")
    assert.strictEqual(scopeBeyond([], ["accounts:read"]), "accounts:read")
  })

  const accepts = (input: unknown) => Result.isSuccess(Schema.decodeUnknownResult(CreateApiKey)(input))

  it("are named from a known list", () => {
    for (const scope of ["wallets:read", "x402:*", "*:*"]) assert.isTrue(accepts({ name: "a", scopes: [scope] }), scope)
    for (const scope of ["", "wallets", "wallets:", "wallets:delete", "money:read", "*:read", "*"]) {
      assert.isFalse(accepts({ name: "a", scopes: [scope] }), scope)
    }
    assert.isFalse(accepts({ name: "a", scopes: [] }))
  })

  it("belong to a key with a name", () => {
    const scopes = ["*:*"]
    for (const name of ["", "   ", "x".repeat(256), "a\u0000b", "\ud800"])
      assert.isFalse(accepts({ name, scopes }), name)
    assert.isTrue(accepts({ name: "x".repeat(255), scopes }))
    assert.isTrue(accepts({ name: "Ключ 🔑", scopes, environment: "test" }))
    assert.isFalse(accepts({ name: "a", scopes, environment: "sandbox" }))
  })
})

it.effect("a key's record shows test or live, and TypeIDs", () =>
  Effect.gen(function* () {
    assert.strictEqual(yield* Schema.encodeEffect(EnvironmentWord)("sandbox"), "test")
    const key = yield* Schema.decodeUnknownEffect(Schema.toType(ApiKey))({
      id: "01890a5d-ac96-774b-bcce-b302099a8057",
      name: "ci",
      environment: "live",
      scopes: ["*:*"],
      prefix: "pk_live_",
      last_four: "IJKL",
      created_at: new Date(0),
      revoked_at: null
    })
    const shown = yield* Schema.encodeEffect(ApiKey)(key)
    assert.strictEqual(shown.id, "key_01h455vb4pex5vsknk084sn02q")
    assert.strictEqual(shown.environment, "live")
    assert.strictEqual(shown.created_at, "1970-01-01T00:00:00.000Z")
  })
)

describe("an account", () => {
  const accepts = (input: unknown) => Result.isSuccess(Schema.decodeUnknownResult(CreateAccount)(input))
  const name = "Acme"

  it("needs no more than a name", () => {
    assert.isTrue(accepts({ name }))
    for (const input of [{}, { name: "" }, { name: " \t" }, { name: "x".repeat(256) }, { name: 7 }])
      assert.isFalse(accepts(input))
  })

  it("has an e-mail address, a country and a type that look like ones", () => {
    assert.isTrue(accepts({ name, email: "a@b.example", country: "DE", type: "person" }))
    assert.isTrue(accepts({ name, email: null, country: null }))
    for (const email of ["", "a", "a@", "@b", "a b@c", "a@b@c", `${"a".repeat(250)}@b.cc`])
      assert.isFalse(accepts({ name, email }))
    for (const country of ["de", "DEU", ""]) assert.isFalse(accepts({ name, country }))
    assert.isFalse(accepts({ name, type: "robot" }))
  })

  it("keeps metadata of at most 16 KiB that the database can store", () => {
    const fits = "x".repeat(16_384 - '{"a":""}'.length)
    assert.isTrue(accepts({ name, metadata: { a: fits } }))
    assert.isFalse(accepts({ name, metadata: { a: `${fits}x` } }))
    assert.isFalse(accepts({ name, metadata: { a: "é".repeat(8_190) } }), "bytes, not characters")
    assert.isTrue(accepts({ name, metadata: { a: [{ b: null }, 1, true], c: "\\u0000", d: "\\\\u0000" } }))
    for (const bad of ["\u0000", "\ud800", "\\\u0000"]) assert.isFalse(accepts({ name, metadata: { a: [bad] } }))
    assert.isFalse(accepts({ name, metadata: { "a\u0000": 1 } }))
    for (const metadata of [[], "a", null]) assert.isFalse(accepts({ name, metadata }))
  })
})
