import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"
import { requiredScope } from "#domain/Credential.ts"
import { grants, Role, roleScopes, Scope, scopeResources } from "#domain/Principal.ts"
import { redact } from "#domain/Redaction.ts"
import { readRefreshToken, refreshKey, writeRefreshToken } from "#domain/RefreshToken.ts"
import { Email, keepsAnOwner, type Manager, mayManage, NewPassword } from "#domain/User.ts"
import { presented, readsAsJwt, sessionLife } from "#domain/UserSession.ts"

const at = (seconds: number) => new Date(seconds * 1000)

describe("an address", () => {
  const read = (text: string) => Option.getOrUndefined(Schema.decodeUnknownOption(Email)(text))
  it("is kept in lower case, and is ASCII with one @", () => {
    assert.strictEqual(read("Ada.Lovelace+X@Acme.EXAMPLE"), "ada.lovelace+x@acme.example")
    for (const text of [
      "",
      "@",
      "a@",
      "@b",
      "a@b@c",
      "a b@c",
      "a@b\n",
      "ä@b.de",
      "\u212a@b.de",
      `${"a".repeat(251)}@b.c`
    ]) {
      assert.isUndefined(read(text), text)
    }
  })
})

describe("a password that is set", () => {
  const fits = (text: string) => Option.isSome(Schema.decodeUnknownOption(NewPassword)(text))
  it("has 12 to 200 characters", () => {
    assert.deepStrictEqual(
      [11, 12, 200, 201].map((length) => fits("p".repeat(length))),
      [false, true, true, false]
    )
    assert.isFalse(fits("with a NUL \u0000 in it"))
  })
})

describe("managing users", () => {
  it("is for owners and the operator whole, for admins but for owners, for nobody else", () => {
    const may = (by: Manager, ...roles: ReadonlyArray<Role>) => Result.isSuccess(mayManage(by, ...roles))
    for (const role of Role.literals) {
      assert.isTrue(may("operator", role) && may("owner", role))
      assert.strictEqual(may("admin", role), role !== "owner")
      assert.isFalse(may("member", role) || may("viewer", role))
    }
    assert.isFalse(may("admin", "member", "owner"))
    assert.isFalse(may("admin", "owner", "member"))
  })

  it("leaves every tenant an owner", () => {
    assert.isFalse(keepsAnOwner("owner", undefined, 1) || keepsAnOwner("owner", "admin", 1))
    assert.isTrue(keepsAnOwner("owner", "owner", 1) && keepsAnOwner("owner", undefined, 2))
    assert.isTrue(keepsAnOwner("viewer", undefined, 1))
  })

  it("who is a viewer looks at everything and changes nothing; a member may not give others rights", () => {
    const may = (role: Role, action: "read" | "write") =>
      scopeResources.filter((resource) => grants(roleScopes[role], resource, action))
    for (const role of Role.literals) assert.deepStrictEqual(may(role, "read"), [...scopeResources])
    assert.deepStrictEqual(may("viewer", "write"), [])
    assert.deepStrictEqual(
      may("member", "write"),
      scopeResources.filter((resource) => resource !== "api_keys")
    )
  })

  it("is granted by no scope but everything, and no key can be scoped to it", () => {
    assert.deepStrictEqual(
      Role.literals.filter((role) => grants(roleScopes[role], "users", "read")),
      ["owner", "admin"]
    )
    assert.strictEqual(requiredScope("users", "write"), "*:*")
    assert.isTrue(Option.isNone(Schema.decodeUnknownOption(Scope)("users:write")))
  })
})

describe("a refresh token that is shown", () => {
  const session = { generation: 3, refreshed_at: at(100), expires_at: at(1_000) }
  it("is judged by its generation and the time of the last refresh", () => {
    const rows = [
      [3, 999, "latest"],
      [2, 100 + sessionLife.race, "raced"],
      [2, 100 + sessionLife.race + 0.001, "reused"],
      [2, 99, "raced"],
      [1, 100, "reused"],
      [0, 999, "reused"],
      [4, 100, "unknown"],
      [3, 1_000, "expired"],
      [2, 1_000, "expired"],
      [4, 1_000, "expired"]
    ] as const
    for (const [generation, now, judged] of rows) {
      assert.strictEqual(presented(session, generation, at(now)), judged, `${generation} at ${now}`)
    }
  })

  it("is one text, which only the key writes", () => {
    const key = refreshKey(new Uint8Array(32).fill(7))
    const token = { session: "01a04010-a2b7-71c4-9321-08bdc45d2436", generation: 4_294_967_295 }
    const text = writeRefreshToken(key, token)
    assert.deepStrictEqual(readRefreshToken(key, text), token)
    assert.isUndefined(readRefreshToken(refreshKey(new Uint8Array(32).fill(8)), text))
    // The last character has bits to spare, which must not make a second spelling.
    const spellings = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
    assert.strictEqual(spellings.filter((last) => readRefreshToken(key, text.slice(0, -1) + last)).length, 1)
    assert.notStrictEqual(writeRefreshToken(key, { ...token, generation: 0 }), text)
    assert.notInclude(redact(`Cookie was ${text}`), text.slice(10))
  })
})

describe("text that reads as an access token", () => {
  it("begins as one and has three parts; no other credential does", () => {
    for (const token of ["eyJ..", "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2ln"]) assert.isTrue(readsAsJwt(token))
    for (const token of [
      "",
      "eyJ",
      "eyJ.a",
      "eyJ.a.b.c",
      ".eyJ.",
      `pk_test_${"e".repeat(32)}`,
      "sess_eyJ..",
      " eyJ.."
    ]) {
      assert.isFalse(readsAsJwt(token), token)
    }
  })

  it("is in no log", () => {
    const token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
    assert.strictEqual(redact(`{"access_token":"${token}"}`), '{"access_token":"eyJ[redacted]"}')
  })
})
