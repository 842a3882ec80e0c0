import { Result, Schema, SchemaTransformation } from "effect"
import { Moment } from "./Instant.ts"
import { KeyId } from "./Ids.ts"
import { type CredentialKind, Environment, environmentWord, type Resource, Scope } from "./Principal.ts"
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

export class InvalidAgentToken extends Schema.TaggedError<InvalidAgentToken>()(
  "INVALID_AGENT_TOKEN",
  {},
  { httpApiStatus: 401, title: "The agent token is not one of ours, or was replaced" }
) {}

export class InvalidSessionToken extends Schema.TaggedError<InvalidSessionToken>()(
  "INVALID_SESSION_TOKEN",
  {},
  { httpApiStatus: 401, title: "The session token is not one of ours, or was revoked" }
) {}

export class SessionExpired extends Schema.TaggedError<SessionExpired>()(
  "SESSION_EXPIRED",
  {},
  { httpApiStatus: 401, title: "The session is over: authenticate again" }
) {}

export class InvalidPortalToken extends Schema.TaggedError<InvalidPortalToken>()(
  "INVALID_PORTAL_TOKEN",
  {},
  { httpApiStatus: 401, title: "The portal token is not one of ours, or was revoked" }
) {}

export class ExpiredPortalToken extends Schema.TaggedError<ExpiredPortalToken>()(
  "EXPIRED_PORTAL_TOKEN",
  {},
  { httpApiStatus: 401, title: "The portal token's time is over" }
) {}

export class InvalidJwt extends Schema.TaggedError<InvalidJwt>()(
  "INVALID_JWT",
  {},
  { httpApiStatus: 401, title: "The access token is not one of ours, or its session was ended" }
) {}

export class ExpiredJwt extends Schema.TaggedError<ExpiredJwt>()(
  "EXPIRED_JWT",
  {},
  { httpApiStatus: 401, title: "The access token's time is over: refresh the session" }
) {}

export class AgentSuspended extends Schema.TaggedError<AgentSuspended>()(
  "AGENT_SUSPENDED",
  {},
  { httpApiStatus: 403, title: "The agent is suspended" }
) {}

/** Why a credential that was shown is not accepted, one class for each reason. */
export const credentialRefusals = [
  InvalidApiKey,
  ExpiredApiKey,
  EnvironmentMismatch,
  InvalidAgentToken,
  InvalidSessionToken,
  SessionExpired,
  InvalidPortalToken,
  ExpiredPortalToken,
  InvalidJwt,
  ExpiredJwt,
  AgentSuspended
] as const
export type CredentialRefused = InstanceType<(typeof credentialRefusals)[number]>

/** Credentials that are random text and known by their hash: all but access tokens, which say themselves whose they are. */
export const OpaqueKind = Schema.Literals(["api_key", "scanner_key", "agent_token", "session_token", "portal_token"])
export type OpaqueKind = Exclude<CredentialKind, "jwt">

const kinds = {
  pk: "api_key",
  psk: "scanner_key",
  agent: "agent_token",
  sess: "session_token",
  portal: "portal_token"
} as const
const words = { api_key: "pk", scanner_key: "psk", agent_token: "agent", session_token: "sess", portal_token: "portal" }
const environments = { test: "sandbox", live: "live" } as const
const tokenPattern = /^(?:(?:(pk|psk|agent|portal)_(test|live))|(sess))_[0-9A-Za-z]{32}$/
const isWord = (word: string | undefined): word is keyof typeof kinds => word !== undefined && word in kinds

/** What a token says about itself, before anybody is asked whether it exists; undefined when it is none of ours. Sessions do not say their environment. */
export const readToken = (
  token: string
): { readonly kind: OpaqueKind; readonly environment: Environment | undefined } | undefined => {
  const [, keyed, environment, session] = tokenPattern.exec(token) ?? []
  const word = keyed ?? session
  if (!isWord(word)) return undefined
  return {
    kind: kinds[word],
    environment: environment === "test" || environment === "live" ? environments[environment] : undefined
  }
}

/** What every token of this kind and environment starts with. */
export const tokenPrefix = (kind: OpaqueKind, environment: Environment): string =>
  kind === "session_token" ? "sess_" : `${words[kind]}_${environmentWord(environment)}_`

/** What is said of a token that nobody has. */
export const unknownCredential = (kind: OpaqueKind): CredentialRefused => {
  if (kind === "agent_token") return new InvalidAgentToken()
  if (kind === "session_token") return new InvalidSessionToken()
  return kind === "portal_token" ? new InvalidPortalToken() : new InvalidApiKey()
}

/** What is said of text that is no token: what it begins like is what was meant. */
export const unreadableCredential = (text: string): CredentialRefused => {
  const [, word] = /^(agent|sess|portal)_/.exec(text) ?? []
  return unknownCredential(isWord(word) ? kinds[word] : "api_key")
}

/** What is said of a token that was taken back: of keys that they were, of the others no more than of strangers'. */
export const revokedCredential = (kind: OpaqueKind): CredentialRefused =>
  kind === "api_key" || kind === "scanner_key" ? new ExpiredApiKey() : unknownCredential(kind)

/** What is said of a token whose time is over. */
export const expiredCredential = (kind: OpaqueKind): CredentialRefused => {
  if (kind === "session_token") return new SessionExpired()
  return kind === "portal_token" ? new ExpiredPortalToken() : revokedCredential(kind)
}

/** The credential of an `Authorization` header. The scheme is read in any case, the credential as it stands. */
export const readAuthorization = (
  header: string | undefined
): Result.Result<string, MissingAuthHeader | MalformedAuthHeader> => {
  if (header === undefined || header.trim() === "") return Result.fail(new MissingAuthHeader())
  const match = /^ *bearer +([!-~]{1,8192}) *$/i.exec(header)
  return match?.[1] === undefined ? Result.fail(new MalformedAuthHeader()) : Result.succeed(match[1])
}

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
export const requiredScope = (resource: Resource, action: "read" | "write"): string =>
  resource === "users" ? "*:*" : `${resource}:${action}`

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
  created_at: Moment,
  revoked_at: Schema.NullOr(Moment)
}).annotate({ identifier: "ApiKey" })
export type ApiKey = typeof ApiKey.Type

/** What a new API key is made from. The environment may be left out; it can only be this server's. */
export const CreateApiKey = Schema.Struct({
  name: name(255),
  scopes: Schema.Array(Scope).check(Schema.isMinLength(1), Schema.isMaxLength(32)),
  environment: Schema.optionalKey(EnvironmentWord)
}).annotate({ identifier: "CreateApiKey" })
export type CreateApiKey = typeof CreateApiKey.Type

/** What is said beside a key that was just made. */
export const storeNow = "Store this key now: it is not shown again."

/** A key that was just made: the only time its plaintext is shown. */
export const IssuedApiKey = Schema.Struct({
  id: KeyId,
  name: Schema.String,
  environment: EnvironmentWord,
  scopes: Schema.Array(Schema.String),
  key: Schema.String,
  prefix: Schema.String,
  last_four: Schema.String,
  created_at: Moment,
  warning: Schema.String
}).annotate({ identifier: "IssuedApiKey" })
export type IssuedApiKey = typeof IssuedApiKey.Type
