import type { IncomingMessage } from "node:http"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import type { Call } from "#services/Gateway.ts"
import { callerOf } from "../RateLimiter.ts"
import { payerOf } from "./Outcome.ts"
import {
  headerValue,
  headerValues,
  isEventStream,
  type RawHeaders,
  withHeaders,
  withoutCacheOrders,
  withoutField
} from "#domain/HttpHeaders.ts"

/** What a page of another origin may read of a gateway answer. */
const exposed =
  "PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, Payment-Receipt, WWW-Authenticate, X-Payment-Required, " +
  "X-Payment-Id, X-Payment-Amount, X-Request-Id, X-Environment, Retry-After, Idempotency-Replayed"

const crossOrigin: RawHeaders = ["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers", exposed]

/** Caches keep apart what was paid for and what was not. */
const vary =
  "Accept, Authorization, X-Payment-Proof, PAYMENT-SIGNATURE, X-PAYMENT, Payment-Authorization, sign-in-with-x"

/** What every 402 of the gateway says. */
export const ofQuote: RawHeaders = [
  "X-Payment-Required",
  "true",
  "Cache-Control",
  "no-store",
  "Vary",
  vary,
  "X-Content-Type-Options",
  "nosniff",
  ...crossOrigin
]

const paymentHeaders =
  "authorization, content-type, accept, accept-payment, x-payment-proof, payment-signature, payment-authorization, x-payment, " +
  "access-control-expose-headers, sign-in-with-x, idempotency-key, x-request-id, last-event-id"

const isName = (text: string): boolean => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(text)

/** The answer to a preflight, which may ask for headers that the origin understands. */
export const ofPreflight = (allow: string, requested = ""): Array<string> => [
  "Allow",
  allow,
  "Access-Control-Allow-Origin",
  "*",
  "Access-Control-Allow-Methods",
  allow,
  "Access-Control-Allow-Headers",
  [
    paymentHeaders,
    ...requested
      .split(",", 100)
      .map((name) => name.trim())
      .filter(isName)
  ].join(", "),
  "Access-Control-Max-Age",
  "600",
  "Vary",
  "Access-Control-Request-Headers"
]

/**
 * The origin's headers with ours in place of those of the same names. An answer to a payment is never kept for others, charged or not:
 * it would stand where they are asked for theirs.
 */
export const ofAnswer = (origin: RawHeaders, ours: RawHeaders): Array<string> => {
  const added = [...ours, ...crossOrigin, "Vary", merged(headerValues(origin, "vary"), vary)]
  const readable = headerValues(origin, "access-control-expose-headers")
  if (readable !== undefined) added[added.indexOf(exposed)] = `${exposed}, ${readable}`
  added.push("Cache-Control", privately(headerValues(origin, "cache-control")))
  // nginx, unless it is told, keeps what follows until it ends. An origin that says so itself is taken at its word.
  if (isEventStream(origin) && headerValue(origin, buffering) === undefined) added.push("X-Accel-Buffering", "no")
  // What the origin says to us about its price is not for the caller; and what every page may read no browser gives to one that
  // sends credentials.
  const theirs = without(without(origin, "settlement-overrides"), "access-control-allow-credentials")
  return withHeaders(withoutCacheOrders(theirs), added)
}

const buffering = "x-accel-buffering"

const without = (headers: RawHeaders, name: string): RawHeaders =>
  headerValue(headers, name) === undefined ? headers : withoutField(headers, name)

const merged = (theirs: string | undefined, own: string): string =>
  theirs === undefined ? own : /(?:^|,)\s*\*\s*(?:,|$)/.test(theirs) ? "*" : `${theirs}, ${own}`

const privately = (theirs: string | undefined): string => {
  if (theirs === undefined || theirs === "") return "private, no-store"
  const kept = theirs
    .split(",")
    .map((part) => part.trim())
    .filter((part) => !/^(?:public|s-maxage\b.*)$/i.test(part))
  return kept.some((part) => /^private$/i.test(part)) ? kept.join(", ") : ["private", ...kept].join(", ")
}

/** Whether `100 Continue` is waited for. A caller of HTTP/1.0 would take it for the answer (RFC 9110, 10.1.1). */
export const awaitsContinue = ({ headers, httpVersionMinor }: IncomingMessage): boolean =>
  httpVersionMinor > 0 && headers.expect?.toLowerCase() === "100-continue"

/** What an origin is told about a paid call, and what its owner wants it to be told. */
export const forOrigin = (
  { host, scheme, trusted }: { readonly host: string; readonly scheme: string; readonly trusted: ReadonlySet<string> },
  { snapshot }: Call,
  request: IncomingMessage,
  requestId: string,
  payment: PaymentRow,
  signed: Pick<Authorization, "scheme"> | undefined
): RawHeaders => [
  ...Object.entries(snapshot.endpoint.forwardHeaders).flat(),
  "X-Forwarded-For",
  callerOf(request, trusted),
  "X-Forwarded-Host",
  host,
  "X-Forwarded-Proto",
  scheme,
  "X-Request-Id",
  requestId,
  "X-Payment-Payer",
  payerOf(payment),
  "X-Payment-Id",
  toTypeId("pay", payment.id),
  "X-Payment-Amount",
  formatDecimal(payment.amount),
  // Of which the origin says how much it takes: it cannot tell that from the amount.
  ...(signed?.scheme === "upto" ? ["X-Payment-Scheme", "upto"] : [])
]
