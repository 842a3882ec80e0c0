import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import {
  EnvironmentMismatch,
  ExpiredApiKey,
  InsufficientScope,
  InvalidApiKey,
  MalformedAuthHeader,
  MissingAuthHeader
} from "#domain/Credential.ts"
import type { ActorType, Principal, scopeResources } from "#domain/Principal.ts"
import { Forbidden, InvalidRequest } from "#domain/Refusal.ts"
import { problems } from "./Problems.ts"
import { BodyTooLarge, RateLimitExceeded, RequestTimeout, UnsupportedMediaType } from "./Refusals.ts"

/** Who is calling; every operation behind `Authorization` has it. */
export class CurrentPrincipal extends Context.Service<CurrentPrincipal, Principal>()(
  "turnpike/api/Authorization/CurrentPrincipal"
) {}

/** What an operation asks of the credential: a scope, and which kinds of actor may call it (API keys and users when not said). */
export interface Requirement {
  readonly resource: (typeof scopeResources)[number]
  readonly action: "read" | "write"
  readonly kinds?: ReadonlyArray<typeof ActorType.Type>
}

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
      InvalidApiKey,
      ExpiredApiKey,
      EnvironmentMismatch,
      InsufficientScope,
      Forbidden,
      RateLimitExceeded,
      BodyTooLarge,
      UnsupportedMediaType,
      RequestTimeout,
      InvalidRequest
    )
  }
) {}
