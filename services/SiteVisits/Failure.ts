import { errors } from "undici"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { isOfName, isOfTls, reasonOf } from "../PublicHttp/Failure.ts"
import { ForbiddenTarget } from "../PublicHttp/GuardedConnector.ts"
import type { NoAnswer } from "./Visit.ts"

export interface Failure {
  readonly reason: NoAnswer["reason"]
  readonly detail: string
}

/** How the detail of an `unreachable` begins when no name server gave an answer: that may be our trouble as well as the site's. */
const lookupFailed = "the name could not be looked up"

/** Not asked, because a visit reads so many bytes and no more. */
export const enoughRead: Failure = { reason: "budget", detail: "a visit reads no more than it has read" }

/** Whether that is why there is no answer. */
export const isReadOut = ({ detail, reason }: NoAnswer): boolean =>
  reason === enoughRead.reason && detail === enoughRead.detail

/** Whether there is no answer because no name server gave one. */
const isLookupTrouble = ({ detail, reason }: NoAnswer): boolean =>
  reason === "unreachable" && detail.startsWith(lookupFailed)

/**
 * Why a site is not looked at at all when its home page gave no such answer: nothing was sent there, or the trouble may be ours. Neither
 * is a finding about the site.
 */
export const refusalOf = (domain: string, outcome: NoAnswer): DomainNotAllowed | ScannerUnavailable | undefined => {
  if (outcome.reason === "forbidden_address") return new DomainNotAllowed({ domain, reason: "AddressNotPublic" })
  if (outcome.reason === "name_not_found") return new DomainNotAllowed({ domain, reason: "NameNotFound" })
  return isLookupTrouble(outcome) ? new ScannerUnavailable({ reason: "Failed", retry_after: 30 }) : undefined
}

/** The name does not exist, or has no address: name servers said so. */
const noSuchName = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"])

const words: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", "the connection was refused"],
  ["ECONNRESET", "the connection was reset"],
  ["ORIGIN_RESET", "the connection was reset"],
  ["EPIPE", "the connection was reset"],
  ["UND_ERR_SOCKET", "the connection was closed"]
])

/** What undici, the guard and the system say, told apart by whose fault it is. */
export const failureOf = (error: Error): Failure => {
  // Several addresses were tried; the first tells what is wrong.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  if (first instanceof ForbiddenTarget) return { reason: "forbidden_address", detail: first.reason }
  const code = first instanceof Error && "code" in first && typeof first.code === "string" ? first.code : ""
  if (isOfName(first)) {
    return noSuchName.has(code)
      ? { reason: "name_not_found", detail: "the name has no address" }
      : { reason: "unreachable", detail: `${lookupFailed}: ${code}` }
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return { reason: "timeout", detail: "no connection was made in time" }
  }
  if (isOfTls(code)) return { reason: "tls", detail: code }
  if (first instanceof errors.HTTPParserError) return { reason: "bad_response", detail: "the answer is not HTTP" }
  return byReason(reasonOf(error), code)
}

const byReason = (reason: ReturnType<typeof reasonOf>, code: string): Failure => {
  switch (reason) {
    case "BadRequest":
      return { reason: "bad_request", detail: `this cannot be put into HTTP: ${code}` }
    case "BadResponse":
      return {
        reason: "bad_response",
        detail:
          code === "UND_ERR_HEADERS_OVERFLOW"
            ? "the answer's headers are too large"
            : `the answer contradicts itself: ${code}`
      }
    case "Timeout":
      return { reason: "timeout", detail: code }
    default:
      return { reason: "unreachable", detail: words.get(code) ?? (code === "" ? "the connection failed" : code) }
  }
}
