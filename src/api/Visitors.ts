import { HttpApiMiddleware } from "effect/http-api"
import { credentialRefusals, InsufficientScope, MalformedAuthHeader, MissingAuthHeader } from "#domain/Credential.ts"
import { Forbidden, InvalidRequest } from "#domain/Refusal.ts"
import { problem, problems } from "./Problems.ts"
import { BodyTooLarge, InvalidAmount, RateLimitExceeded, RequestTimeout, UnsupportedMediaType } from "./Refusals.ts"

/** Lets anybody in, and counts requests by address. */
export class Visitors extends HttpApiMiddleware.Service<Visitors>()("turnpike/api/Visitors", {
  error: problem(RateLimitExceeded)
}) {}

/** Lets anybody in who has to prove first who they are: ten requests a minute by address, for each operation. */
export class Claimants extends HttpApiMiddleware.Service<Claimants>()("turnpike/api/Visitors/Claimants", {
  error: problems(RateLimitExceeded, BodyTooLarge, UnsupportedMediaType, RequestTimeout, InvalidRequest, InvalidAmount)
}) {}

const guarded = problems(
  RateLimitExceeded,
  MissingAuthHeader,
  MalformedAuthHeader,
  ...credentialRefusals,
  InsufficientScope,
  Forbidden,
  BodyTooLarge,
  UnsupportedMediaType,
  RequestTimeout,
  InvalidRequest,
  InvalidAmount
)

/**
 * Lets anybody into the sandbox, counted by address; a live server asks for a credential with the scope that the operation
 * `Requires`. A credential that is shown must be one, and is counted for itself.
 */
export class Integrators extends HttpApiMiddleware.Service<Integrators>()("turnpike/api/Visitors/Integrators", {
  error: guarded
}) {}

/**
 * Lets in whoever has the address of a report as its record gives it, with the signature that the operation then looks at; everybody
 * else needs a credential.
 */
export class ReportReaders extends HttpApiMiddleware.Service<ReportReaders>()("turnpike/api/Visitors/ReportReaders", {
  error: guarded
}) {}
