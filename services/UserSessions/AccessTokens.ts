import { DateTime, Effect, Schema } from "effect"
import type { JWTHeaderParameters } from "jose"
// By their own names: the whole of it is four times as many files to read at each start.
import { JWKSNoMatchingKey, JWTExpired } from "jose/errors"
import { SignJWT } from "jose/jwt/sign"
import { jwtVerify } from "jose/jwt/verify"
import { createHash, createPublicKey } from "node:crypto"
import { EnvironmentWord, ExpiredJwt, InvalidJwt } from "#domain/Credential.ts"
import { privateKeyOf } from "#domain/Ed25519.ts"
import { SessionId, TenantTypeId, UserId } from "#domain/Ids.ts"
import { Role } from "#domain/Principal.ts"
import { Deployment } from "../Deployment.ts"
import { Secrets } from "../Secrets.ts"

/** What an access token says. The role is for its reader: here it is looked up. */
export const Claims = Schema.Struct({
  sub: UserId,
  sid: SessionId,
  ten: TenantTypeId,
  role: Role,
  env: EnvironmentWord,
  iat: Schema.Int,
  exp: Schema.Int
})
export type Claims = typeof Claims.Type

/** No token of ours is longer. */
const longest = 2_048
const alg = "EdDSA"
const typ = "JWT"

const keysFrom = (secret: Uint8Array) => {
  const privateKey = privateKeyOf(secret)
  const publicKey = createPublicKey(privateKey)
  const kid = createHash("sha256")
    .update(publicKey.export({ format: "der", type: "spki" }))
    .digest("base64url")
  return { kid: kid.slice(0, 16), privateKey, publicKey }
}

const refusal = (cause: unknown): InvalidJwt | ExpiredJwt =>
  cause instanceof JWTExpired ? new ExpiredJwt() : new InvalidJwt()

/** Signs and reads access tokens with an Ed25519 key that all processes share; whether the session still is, others say. */
export const make = Effect.gen(function* () {
  const { publicUrl } = yield* Deployment
  const { secret } = yield* Secrets
  const { kid, privateKey, publicKey } = keysFrom(yield* secret("access tokens"))

  const keyOf = (header: JWTHeaderParameters) => {
    if (header.kid !== kid) throw new JWKSNoMatchingKey()
    return publicKey
  }
  const encode = Schema.encodeEffect(Claims)
  const sign = Effect.fnUntraced(function* (claims: Claims) {
    const { exp, iat, sub, ...rest } = yield* Effect.orDie(encode(claims))
    const token = new SignJWT(rest)
      .setProtectedHeader({ alg, typ, kid })
      .setIssuer(publicUrl)
      .setSubject(sub)
      .setIssuedAt(iat)
      .setExpirationTime(exp)
    return yield* Effect.promise(() => token.sign(privateKey))
  })

  const decode = Schema.decodeUnknownEffect(Claims)
  const requiredClaims = ["sub", "sid", "ten", "role", "env", "iat", "exp"]
  const verify = Effect.fnUntraced(function* (token: string): Effect.fn.Return<Claims, InvalidJwt | ExpiredJwt> {
    if (token.length > longest) return yield* new InvalidJwt()
    const currentDate = yield* DateTime.nowAsDate
    const { payload } = yield* Effect.tryPromise({
      try: () => jwtVerify(token, keyOf, { algorithms: [alg], typ, issuer: publicUrl, requiredClaims, currentDate }),
      catch: refusal
    })
    return yield* Effect.mapError(decode(payload), () => new InvalidJwt())
  })
  return { sign, verify }
})
