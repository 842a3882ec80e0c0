import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { SignJWT, UnsecuredJWT } from "jose"
import { createHmac, createPrivateKey, generateKeyPairSync } from "node:crypto"
import { SessionId, toTypeId } from "#domain/Ids.ts"
import { Secrets } from "#services/Secrets.ts"
import { UserSessions } from "#services/UserSessions.ts"
import * as AccessTokens from "#services/UserSessions/AccessTokens.ts"
import { loggedIn, tag, Test } from "./UsersHarness.ts"

const decoded = (part: string | undefined) => JSON.parse(Buffer.from(part ?? "", "base64url").toString())
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** The key that our own tokens are signed with, and what is said in one of them. */
const inside = Effect.gen(function* () {
  const someone = yield* loggedIn()
  const [head, body, signature] = someone.token.split(".")
  const seed = yield* (yield* Secrets).secret("access tokens")
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed])
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" })
  const header = decoded(head)
  const claims = decoded(body)
  const signed = (changes: object, headers: object = {}, by = key) =>
    Effect.promise(() => new SignJWT({ ...claims, ...changes }).setProtectedHeader({ ...header, ...headers }).sign(by))
  return { ...someone, head, body, signature, header, claims, key, signed }
})

layer(Test, { timeout: "60 seconds" })("an access token", (it) => {
  it.effect("says whose it is, until when, and which key signed it", () =>
    Effect.gen(function* () {
      const { by, claims, header, tenant_id, user } = yield* inside
      assert.deepStrictEqual({ ...header, kid: "" }, { alg: "EdDSA", typ: "JWT", kid: "" })
      assert.match(header.kid, /^[\w-]{16}$/)
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      assert.deepStrictEqual(claims, {
        iss: "http://localhost:4020",
        sub: toTypeId("usr", user.id),
        sid: toTypeId("ses", by.credential?.id ?? ""),
        ten: toTypeId("ten", tenant_id),
        role: "owner",
        env: "test",
        iat: now,
        exp: now + 900
      })
    })
  )

  it.effect("that is signed by us as we sign is taken: the attacks below fail for what they change", () =>
    Effect.gen(function* () {
      const { signed } = yield* inside
      assert.strictEqual(yield* tag((yield* UserSessions).authenticate(yield* signed({}))), "accepted")
    })
  )

  it.effect("is refused when anything about it is somebody else's work", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      const { authenticate } = yield* UserSessions
      const other = yield* inside
      const { body, by, claims, head, header, key, signature, signed, token } = yield* inside
      const stranger = generateKeyPairSync("ed25519").privateKey
      const publicKey =
        key.asymmetricKeyType === "ed25519" ? Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url") : ""
      const symmetric = (secret: string | Buffer) => {
        const text = `${encoded({ ...header, alg: "HS256" })}.${body}`
        return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`
      }
      const flipped = `${signature?.startsWith("A") ? "B" : "A"}${signature?.slice(1)}`
      const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const attacks: Record<string, string> = {
        unsigned: new UnsecuredJWT(claims).encode(),
        "unsigned under our header": `${encoded({ ...header, alg: "none" })}.${body}.`,
        "without the signature": `${head}.${body}.`,
        "with another alg's name": `${encoded({ ...header, alg: "none" })}.${body}.${signature}`,
        "HS256 with the public key": symmetric(publicKey),
        "HS256 with nothing": symmetric(""),
        "another key": yield* signed({}, {}, stranger),
        "another key that it brings along": yield* signed(
          {},
          { jwk: { kty: "OKP", crv: "Ed25519", x: "AA" } },
          stranger
        ),
        "a key we do not know": yield* signed({}, { kid: "unknown" }),
        "no key": yield* signed({}, { kid: undefined }),
        "a key named like a property": yield* signed({}, { kid: "__proto__" }),
        "another type": yield* signed({}, { typ: "other+jwt" }),
        "something critical that we do not know": `${encoded({ ...header, crit: ["exp"] })}.${body}.${signature}`,
        "another signature": `${head}.${body}.${flipped}`,
        "another body under the signature": `${head}.${encoded({ ...claims, role: "owner", exp: claims.exp + 1 })}.${signature}`,
        "the other's body under our signature": `${head}.${other.body}.${signature}`,
        "not before later": yield* signed({ nbf: now + 60 }),
        "another server's": yield* signed({ iss: "http://elsewhere:4020" }),
        "no end": yield* signed({ exp: undefined }),
        "an end that is no number": yield* signed({ exp: "never" }),
        "no user": yield* signed({ sub: undefined }),
        "another tenant's session": yield* signed({ sid: other.claims.sid }),
        "another tenant": yield* signed({ ten: other.claims.ten }),
        "another user": yield* signed({ sub: other.claims.sub }),
        "a session that never was": yield* signed({ sid: toTypeId("ses", by.tenant_id) }),
        "a session that is no id": yield* signed({ sid: "'; DROP TABLE users; --" }),
        "a role that is none": yield* signed({ role: "god" }),
        oversized: yield* signed({ more: "x".repeat(4_000) }),
        "four parts": `${token}.${signature}`,
        "white space": `${head}.${body} .${signature}`,
        padded: `${token}=`,
        nothing: "eyJ..",
        "no JSON": "eyJhbGci.eyJhbGci.AAAA"
      }
      for (const [name, attack] of Object.entries(attacks)) {
        assert.strictEqual(yield* tag(authenticate(attack)), "INVALID_JWT", name)
      }
      assert.strictEqual(yield* tag(authenticate(yield* signed({ exp: now }))), "EXPIRED_JWT")
      assert.strictEqual(yield* tag(authenticate(token)), "accepted")
    })
  )

  it.effect("gives the role that its user has, not the one it says", () =>
    Effect.gen(function* () {
      const { signed } = yield* inside
      const token = yield* signed({ role: "viewer" })
      assert.deepStrictEqual((yield* (yield* UserSessions).authenticate(token)).scopes, ["*:*"])
    })
  )

  it.effect("is the same to every process, and no longer anybody's once the key is another", () =>
    Effect.gen(function* () {
      const { by, tenant_id, user } = yield* inside
      const [here, there] = [yield* AccessTokens.make, yield* AccessTokens.make]
      const iat = Math.floor((yield* Clock.currentTimeMillis) / 1000)
      const sid = SessionId.make(by.credential?.id ?? "")
      const claims = { sub: user.id, sid, ten: tenant_id, role: "owner", env: "sandbox", iat, exp: iat + 900 } as const
      const token = yield* here.sign(claims)
      assert.deepStrictEqual(yield* there.verify(token), claims)
      const rotated = yield* AccessTokens.make.pipe(
        Effect.provideService(Secrets, Secrets.of({ secret: () => Effect.succeed(new Uint8Array(32)) }))
      )
      assert.strictEqual(yield* tag(rotated.verify(token)), "INVALID_JWT")
    })
  )
})
