import type { Allowance } from "#domain/RateLimit.ts"
import type { ProblemBody } from "#api/Problems.ts"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { environmentWord } from "#domain/Principal.ts"
import type { Deployment } from "#services/Deployment.ts"

/** What a browser's script may read of our answers. */
const exposed = [
  "x-request-id",
  "x-environment",
  "retry-after",
  "x-credits-remaining",
  "link",
  "idempotency-replayed",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "payment-required",
  "payment-response",
  "x-payment-required",
  "x-payment-response",
  "x-payment-id",
  "x-payment-amount",
  "x-service-error",
  "payment-receipt",
  "www-authenticate"
].join(", ")

/** What a browser's script may send. */
const accepted = [
  "authorization",
  "content-type",
  "idempotency-key",
  "x-idempotency-key",
  "x-request-id",
  "x-payment-proof",
  "payment-signature",
  "payment-authorization",
  "accept-payment",
  "sign-in-with-x",
  "x-payment",
  // Clients of x402 send what is a header of answers beside their payment, and a browser asks for that as well.
  "access-control-expose-headers",
  "solana-client",
  "last-event-id",
  // Whatever else its libraries add, such as `traceparent`. Before a browser takes it for all of them, it knows those above.
  "*"
].join(", ")

type Headers = Readonly<Record<string, string>>

/** Headers of every answer, whoever writes it. API keys are no browser credentials, so any origin may ask, without cookies. */
export const always = (deployment: Deployment["Service"]): Headers => ({
  "x-environment": environmentWord(deployment.environment),
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "access-control-allow-origin": "*",
  ...(deployment.publicUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {})
})

/** Those of them that even the answers of origins carry, because they are about our host and not about the answer. */
const ofHost = new Map([
  ["x-environment", "X-Environment"],
  ["strict-transport-security", "Strict-Transport-Security"]
])

/** Those as name, value, name, value. */
export const ofEveryExchange = (deployment: Deployment["Service"]): RawHeaders => {
  const headers = always(deployment)
  return [...ofHost].flatMap(([name, spelled]) => (headers[name] === undefined ? [] : [spelled, headers[name]]))
}

/** The others, for raw routes whose answers are ours. */
export const ofOurAnswers = (deployment: Deployment["Service"]): RawHeaders =>
  Object.entries(always(deployment))
    .filter(([name]) => !ofHost.has(name))
    .flat()

/** What a request from a page of another origin is told besides. */
export const crossOrigin: Headers = { "access-control-expose-headers": exposed }

/** The methods that any path of ours may take. */
export const everyMethod = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]

/** What a preflight is told; `methods` are those of the path. */
export const preflight = (methods: ReadonlyArray<string>): Headers => ({
  allow: methods.join(", "),
  "access-control-allow-methods": methods.join(", "),
  "access-control-allow-headers": accepted,
  "access-control-max-age": "600"
})

export const rateLimit = ({ limit, remaining, reset }: Allowance): Headers => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(reset),
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": String(remaining),
  "x-ratelimit-reset": String(reset)
})

/** What a refusal says in headers as well. Its code tells it from an origin's answer: no origin may set a header of that name. */
export const ofProblem = (problem: ProblemBody): Headers => {
  const headers: Record<string, string> = { "x-service-error": problem.code }
  const { retry_after, allow } = problem.details ?? {}
  if (typeof retry_after === "number") headers["retry-after"] = String(retry_after)
  if (Array.isArray(allow)) headers["allow"] = allow.join(", ")
  if (problem.status === 401) {
    const known = problem.code === "MISSING_AUTH_HEADER"
    headers["www-authenticate"] = known ? "Bearer" : 'Bearer error="invalid_token"'
  }
  if (problem.code === "INSUFFICIENT_SCOPE") headers["www-authenticate"] = 'Bearer error="insufficient_scope"'
  return headers
}

/** The problem with everything that only this request and this deployment know. */
export const complete = (problem: ProblemBody, requestId: string, deployment: Deployment["Service"]): ProblemBody => ({
  ...problem,
  type: `${deployment.publicUrl}${problem.type}`,
  request_id: requestId
})
