import { Result, Schema, SchemaTransformation } from "effect"
import { KeyId } from "./Ids.ts"
import { Environment, environmentWord, Scope, type scopeResources } from "./Principal.ts"
import { name } from "./Text.ts"

export class MissingAuthHeader extends Schema.TaggedError<MissingAuthHeader>()(
  "MISSING_AUTH_HEADER",
  {},
  { httpApiStatus: 401, title: "The Authorization header is missing" }
) {}

export class MalformedAuthHeader extends Schema.TaggedError<MalformedAuthHeader>()(
  "MALFORMED_AUTH_HEADER",
  {},
  { httpApiStatus: 401, title: "The Authorization header must be: Bearer <credential>" }
) {}

export class InvalidApiKey extends Schema.TaggedError<InvalidApiKey>()(
  "INVALID_API_KEY",
  {},
  { httpApiStatus: 401, title: "The credential is not one of ours" }
) {}

/** The key was revoked. */
export class ExpiredApiKey extends Schema.TaggedError<ExpiredApiKey>()(
  "EXPIRED_API_KEY",
  {},
  { httpApiStatus: 401, title: "The key was revoked" }
) {}

export class EnvironmentMismatch extends Schema.TaggedError<EnvironmentMismatch>()(
  "ENVIRONMENT_MISMATCH",
  { expected: Schema.Literals(["test", "live"]) },
  { httpApiStatus: 401, title: "The credential belongs to the other environment" }
) {}

export class InsufficientScope extends Schema.TaggedError<InsufficientScope>()(
  "INSUFFICIENT_SCOPE",
  { required_scope: Schema.String },
  { httpApiStatus: 403, title: "The credential's scopes do not allow this" }
) {}

/** Why a credential that was shown is not accepted. */
export type CredentialRefused = InvalidApiKey | ExpiredApiKey | EnvironmentMismatch

export const CredentialKind = Schema.Literals(["api_key", "scanner_key"])
export type CredentialKind = typeof CredentialKind.Type

const kinds = { pk: "api_key", psk: "scanner_key" } as const
const environments = { test: "sandbox", live: "live" } as const
const tokenPattern = /^(pk|psk)_(test|live)_[0-9A-Za-z]{32}$/

/** What a token says about itself, before anybody is asked whether it exists; undefined when it is no key of ours. */
export const readToken = (
  token: string
): { readonly kind: CredentialKind; readonly environment: Environment } | undefined => {
  const match = tokenPattern.exec(token)
  if (match === null) return undefined
  return {
    kind: kinds[match[1] === "pk" ? "pk" : "psk"],
    environment: environments[match[2] === "test" ? "test" : "live"]
  }
}

/** What every token of this kind and environment starts with. */
export const tokenPrefix = (kind: CredentialKind, environment: Environment): string =>
  `${kind === "api_key" ? "pk" : "psk"}_${environmentWord(environment)}_`

/** The credential of an `Authorization` header. The scheme is read in any case, the credential as it stands. */
export const readAuthorization = (
  header: string | undefined
): Result.Result<string, MissingAuthHeader | MalformedAuthHeader> => {
  if (header === undefined || header.trim() === "") return Result.fail(new MissingAuthHeader())
  const match = /^ *bearer +([!-~]{1,8192}) *$/i.exec(header)
  return match?.[1] === undefined ? Result.fail(new MalformedAuthHeader()) : Result.succeed(match[1])
}

/** What a scanner key may be scoped to. */
export const ScannerScope = Schema.Literals(["scan", "batch", "read", "tests"])
export type ScannerScope = typeof ScannerScope.Type

const covers = (scopes: ReadonlyArray<string>, wanted: string): boolean => {
  const [resource, action] = wanted.split(":")
  return (
    scopes.includes("*:*") ||
    scopes.includes(wanted) ||
    scopes.includes(`${resource}:*`) ||
    (action === "*" && scopes.includes(`${resource}:read`) && scopes.includes(`${resource}:write`))
  )
}

/** The first wanted scope that the held ones do not include; undefined when nothing more is asked than is held. */
export const scopeBeyond = (held: ReadonlyArray<string>, wanted: ReadonlyArray<string>): string | undefined =>
  wanted.find((scope) => !covers(held, scope))

/** The scope an operation asks for. */
export const requiredScope = (resource: (typeof scopeResources)[number], action: "read" | "write"): string =>
  `${resource}:${action}`

/** The environment as credentials, headers and records spell it. */
export const EnvironmentWord = Schema.Literals(["test", "live"]).pipe(
  Schema.decodeTo(
    Environment,
    SchemaTransformation.transform({
      decode: (word: "test" | "live") => environments[word],
      encode: environmentWord
    })
  )
)

/** An API key as it can be shown again: the key itself is not kept. */
export const ApiKey = Schema.Struct({
  id: KeyId,
  name: Schema.String,
  environment: EnvironmentWord,
  scopes: Schema.Array(Schema.String),
  prefix: Schema.String,
  last_four: Schema.String,
  created_at: Schema.DateFromString,
  revoked_at: Schema.NullOr(Schema.DateFromString)
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** What a new API key is made from. The environment may be left out; it can only be this server's. */
export const CreateApiKey = Schema.Struct({
  name: name(255),
  scopes: Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isMaxLength(32)),
  environment: Schema.optionalKey(EnvironmentWord)
}).annotate({ identifier: "CreateApiKey" })
export type CreateApiKey = typeof CreateApiKey.Type

/** A key that was just made: the only time its plaintext is shown. */
export const IssuedApiKey = Schema.Struct({
  id: KeyId,
  name: Schema.String,
  environment: EnvironmentWord,
  scopes: Schema.Array(Schema.String),
  key: Schema.String,
  prefix: Schema.String,
  last_four: Schema.String,
  created_at: Schema.DateFromString,
  warning: Schema.String
}).annotate({ identifier: "IssuedApiKey" })
export type IssuedApiKey = typeof IssuedApiKey.Type
