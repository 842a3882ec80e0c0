import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { credentialRefusals, InsufficientScope, MalformedAuthHeader, MissingAuthHeader } from "#domain/Credential.ts"
import type { CredentialKind, Principal, Resource, ScannerScope } from "#domain/Principal.ts"
import { Forbidden, InvalidRequest } from "#domain/Refusal.ts"
import { problem, problems } from "./Problems.ts"
import { BodyTooLarge, InvalidAmount, RateLimitExceeded, RequestTimeout, UnsupportedMediaType } from "./Refusals.ts"

/** Who is calling; every operation behind `Authorization` has it. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "turnpike/api/Authorization/CurrentPrincipal"
) {}

/** The kinds of credentials that a tenant's own programs and people have. */
export const integrators = ["api_key", "jwt"] as const
/** The kinds that an agent has. */
export const agents = ["agent_token", "session_token"] as const
/** Whoever moves money: a tenant's own programs and people, and its agents. */
export const movers = [...integrators, ...agents] as const
/** Those, and the portals of customers, who look. */
export const onlookers = [...movers, "portal_token"] as const
/** Every kind there is. */
export const everybody = [...onlookers, "scanner_key"] as const

/** What an operation asks of the credential: which kinds it takes (`integrators` when not said), and mostly a scope. */
export type Requirement =
  | {
      readonly resource: Resource
      readonly action: "read" | "write"
      readonly kinds?: ReadonlyArray<CredentialKind>
      /** What a scanner key needs instead: its scopes are its own. */
      readonly scannerScope?: ScannerScope
    }
  | { readonly resource?: undefined; readonly kinds: ReadonlyArray<CredentialKind> }

/** What an operation of the scanner asks: a scanner key with this scope, or an API key or user that may read or write `scanner`. */
export const scanning = (
  scannerScope: ScannerScope,
  action: "read" | "write" = scannerScope === "read" ? "read" : "write"
): Requirement => ({
  resource: "scanner",
  action,
  kinds: ["scanner_key", ...integrators],
  scannerScope
})

/** `endpoint.annotate(Requires, { resource: "wallets", action: "write" })`; without it any API key or user will do. */
export const Requires = Context.Reference<Requirement | undefined>("turnpike/api/Requires", {
  defaultValue: () => undefined
})

/** An operation that calls somebody else, who may take longer than an operation usually may; it has a limit of its own. */
export const WaitsForOthers = Context.Reference("turnpike/api/WaitsForOthers", { defaultValue: () => false })

/**
 * Bearer credentials. Refuses with 401 what is not one, with 403 what lacks the scope or is of another kind, and only then looks
 * at the body.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: CurrentPrincipal }>()(
  "turnpike/api/Authorization",
  {
    security: { bearer: HttpApiSecurity.bearer },
    error: problems(
      MissingAuthHeader,
      MalformedAuthHeader,
      ...credentialRefusals,
      InsufficientScope,
      Forbidden,
      RateLimitExceeded,
      BodyTooLarge,
      UnsupportedMediaType,
      RequestTimeout,
      InvalidRequest,
      InvalidAmount
    )
  }
) {}

/** Of those whom `Authorization` let in, whoever administers the installation; refuses everybody else before the body is read. */
export class Operators extends HttpApiMiddleware.Service<Operators, { requires: CurrentPrincipal }>()(
  "turnpike/api/Authorization/Operators",
  { error: problem(Forbidden) }
) {}
