import { HttpApiMiddleware } from "effect/http-api"
import {
  EnvironmentMismatch,
  ExpiredApiKey,
  InsufficientScope,
  InvalidApiKey,
  MalformedAuthHeader,
  MissingAuthHeader
} from "#domain/Credential.ts"
import { Forbidden, InvalidRequest } from "#domain/Refusal.ts"
import { problem, problems } from "./Problems.ts"
import { BodyTooLarge, RateLimitExceeded, RequestTimeout, UnsupportedMediaType } from "./Refusals.ts"

/** Lets anybody in, and counts requests by address. */
export class Visitors extends HttpApiMiddleware.Service<Visitors>()("turnpike/api/Visitors", {
  error: problem(RateLimitExceeded)
}) {}

/**
 * Lets anybody into the sandbox, counted by address; a live server asks for a credential with the scope that the operation
 * `Requires`. A credential that is shown must be one, and is counted for itself.
 */
export class Integrators extends HttpApiMiddleware.Service<Integrators>()("turnpike/api/Visitors/Integrators", {
  error: problems(
    RateLimitExceeded,
    MissingAuthHeader,
    MalformedAuthHeader,
    InvalidApiKey,
    ExpiredApiKey,
    EnvironmentMismatch,
    InsufficientScope,
    Forbidden,
    BodyTooLarge,
    UnsupportedMediaType,
    RequestTimeout,
    InvalidRequest
  )
}) {}
