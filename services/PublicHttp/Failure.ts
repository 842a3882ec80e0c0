import { Data, Schema } from "effect"
import { errors } from "undici"
import type { BadAnswerReason } from "#domain/GatewayRefusal.ts"
import { ForbiddenTarget } from "./GuardedConnector.ts"

/**
 * Why an outbound call gave no answer: the address is not allowed; no connection, or one that broke; too slow; an answer larger than
 * the cap; an answer that is not HTTP or contradicts itself; a request that cannot be put into HTTP.
 */
export const OutboundReason = Schema.Literals([
  "ForbiddenAddress",
  "Unreachable",
  "Timeout",
  "TooLarge",
  "BadResponse",
  "BadRequest"
])
export type OutboundReason = typeof OutboundReason.Type

/** An outbound call that gave no answer. `cause` says more, for logs. */
export class OutboundFailed extends Schema.TaggedError<OutboundFailed>()("OutboundFailed", {
  reason: OutboundReason,
  cause: Schema.Defect()
}) {}

/** An answer that undici takes and we do not. */
export class BadAnswer extends Data.TaggedError("BadAnswer")<{ readonly reason: BadAnswerReason }> {}

/**
 * Tells of a failure once undici is done with it: within its report it does not expect another request for the same host, and ends the
 * process.
 */
export const outsideUndici = (tell: () => void): void => queueMicrotask(tell)

/** A connection that was not there within the connect timeout counts as unreachable: nobody was slow to answer. */
export const reasonOf = (error: Error): OutboundReason => {
  if (error instanceof ForbiddenTarget) return "ForbiddenAddress"
  if (error instanceof errors.HTTPParserError) return "BadResponse"
  if (isUnasked(error)) return "BadResponse"
  return reasons.get(codeOf(error)) ?? "Unreachable"
}

const reasons: ReadonlyMap<string, OutboundReason> = new Map([
  ["UND_ERR_HEADERS_TIMEOUT", "Timeout"],
  ["UND_ERR_BODY_TIMEOUT", "Timeout"],
  ["UND_ERR_RES_EXCEEDED_MAX_SIZE", "TooLarge"],
  ["UND_ERR_HEADERS_OVERFLOW", "BadResponse"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "BadResponse"],
  ["UND_ERR_INVALID_ARG", "BadRequest"],
  ["UND_ERR_NOT_SUPPORTED", "BadRequest"],
  ["UND_ERR_REQ_CONTENT_LENGTH_MISMATCH", "BadRequest"]
])

const codeOf = (error: Error): string => ("code" in error && typeof error.code === "string" ? error.code : "")

/** An informational answer that undici takes for the end of the connection: `100 Continue` and `101 Switching Protocols`. */
export const isUnasked = (error: Error): boolean =>
  error instanceof errors.SocketError && (error.message === "bad response" || error.message === "bad upgrade")

/** Whether an answer whose headers were in order ended before its body did. */
export const brokeOff = (error: Error): boolean =>
  error instanceof errors.ResponseContentLengthMismatchError || codeOf(error) === "HPE_INVALID_EOF_STATE"

const certificate =
  /CERT|^ERR_TLS|^ERR_SSL|^EPROTO$|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^INVALID_CA$|^INVALID_PURPOSE$|^PATH_LENGTH_EXCEEDED$|^UNSPECIFIED$/

/** Whether that is what Node says of a certificate that it does not trust, or of TLS that failed. */
export const isOfTls = (code: string): boolean => certificate.test(code)

/** Whether a name could not be looked up: whoever asks name servers has the codes of connections as well. */
export const isOfName = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && /^(query|getaddrinfo)/.test(String(error.syscall))

const endings = new Set(["UND_ERR_SOCKET", "ORIGIN_RESET", "EPIPE"])

/** Whether a connection ended that had brought something before: origins close one that is idle just as the next request leaves. */
export const endedInReuse = (error: Error & { readonly socket?: { readonly bytesRead?: number } | null }): boolean =>
  endings.has(codeOf(error)) && (error.socket?.bytesRead ?? 0) > 0

/** What was wrong with an answer that is a `BadResponse`. */
export const badAnswerReason = (cause: Error | undefined): BadAnswerReason => {
  if (cause instanceof BadAnswer) return cause.reason
  if (cause instanceof errors.HeadersOverflowError) return "headers_too_large"
  return cause !== undefined && isUnasked(cause) ? "unexpected_informational" : "malformed_response"
}
