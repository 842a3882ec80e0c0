import { Result, Schema } from "effect"
import { getDomain } from "tldts"
import { addressKind } from "./Address.ts"
import { type OriginRules, refuseTarget } from "./OriginUrl.ts"

/** Why a domain is not looked at, in order of precedence. The last three are known only when it is looked up, or its robots.txt asked for. */
export const DomainRefusal = Schema.Literals([
  "TooLong",
  "NotADomain",
  "IpAddress",
  "SingleLabel",
  "ReservedName",
  "OwnHost",
  "AddressNotPublic",
  "NameNotFound",
  "RobotsDisallowed"
])
export type DomainRefusal = typeof DomainRefusal.Type

/** Refused: nothing but a robots.txt that keeps us out was asked for there, and nothing is charged. */
export class DomainNotAllowed extends Schema.TaggedError<DomainNotAllowed>()(
  "DOMAIN_NOT_ALLOWED",
  { domain: Schema.String, reason: DomainRefusal },
  { httpApiStatus: 422, title: "This domain cannot be looked at" }
) {}

/** Longest accepted input, and longest name in DNS, in characters. */
const maxInput = 2048
const maxName = 253

/** The names below these mean nothing on the public internet: RFC 6761, 6762, 7686, 8375, 9476, ICANN's, and customary private ones. */
const reservedZones = [
  "test",
  "example",
  "invalid",
  "localhost",
  "local",
  "onion",
  "alt",
  "arpa",
  "internal",
  "localdomain",
  "lan",
  "intranet",
  "private",
  "corp",
  "home",
  "mail"
]

/**
 * The name under which a merchant is known: lower case, without scheme, user, port, path and final dot, in A-labels. Of a pair
 * `host:port` that this deployment lists, exactly that pair.
 */
export const merchantDomain = (text: string, rules: OriginRules): Result.Result<string, DomainRefusal> => {
  const input = text.trim()
  if (input.length > maxInput) return Result.fail("TooLong")
  const authority = authorityOf(input)
  if (authority === undefined) return Result.fail("NotADomain")
  if (rules.allowHosts.includes(authority)) return listedPair(authority, rules)
  if (addressKind(authority) !== "invalid") return Result.fail("IpAddress")
  // Whatever the parser would mend or decode is not a name that anybody would recognise again.
  if (/[\p{C}\p{Z}\\%<>]/u.test(authority)) return Result.fail("NotADomain")
  const hostname = URL.parse(`https://${authority}`)?.hostname
  if (hostname === undefined) return Result.fail("NotADomain")
  return nameOf(hostname.endsWith(".") ? hostname.slice(0, -1) : hostname, rules)
}

/** User, host and port of an address, or of what stands where one would; undefined with a scheme that is not the web's. */
const authorityOf = (input: string): string | undefined => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(input)
  if (scheme !== null && !/^https?$/i.test(scheme[1] ?? "")) return undefined
  const rest = scheme === null ? input.replace(/^\/\//, "") : input.slice(scheme[0].length)
  const authority = (rest.split(/[/?#]/, 1)[0] ?? "").toLowerCase()
  return authority === "" ? undefined : authority
}

const listedPair = (pair: string, rules: OriginRules): Result.Result<string, DomainRefusal> => {
  const url = URL.parse(`http://${pair}`)
  if (url === null) return Result.fail("NotADomain")
  const port = url.port === "" ? 80 : Number(url.port)
  return refuseTarget(url.hostname, port, rules) === "OwnHost" ? Result.fail("OwnHost") : Result.succeed(pair)
}

const nameOf = (name: string, rules: OriginRules): Result.Result<string, DomainRefusal> => {
  if (addressKind(name.replace(/^\[(.*)\]$/, "$1")) !== "invalid") return Result.fail("IpAddress")
  if (name.length > maxName) return Result.fail("TooLong")
  const labels = name.split(".")
  const zone = labels.at(-1) ?? ""
  if (!labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)) || /^\d+$/.test(zone)) {
    return Result.fail("NotADomain")
  }
  if (labels.length === 1) return Result.fail(zone === "localhost" ? "ReservedName" : "SingleLabel")
  if (reservedZones.includes(zone)) return Result.fail("ReservedName")
  return isOurs(name, rules) ? Result.fail("OwnHost") : Result.succeed(name)
}

/** Behind whichever port: a visit that comes back to us would go round. */
const isOurs = (name: string, rules: OriginRules): boolean =>
  rules.ownHosts.some((own) => own === name || own.replace(/:\d+$/, "") === name)

/** Where a normalised domain begins: https, but http for a listed pair whose port is not one that by custom speaks TLS. */
export const homeOf = (domain: string): URL => {
  const port = /:(\d+)$/.exec(domain)?.[1]
  const isPlain = port !== undefined && port !== "443" && port !== "8443"
  return new URL(`${isPlain ? "http" : "https"}://${domain}/`)
}

/** The name that one registers, whose hosts belong together; undefined for a public suffix, an address or a single label. */
export const registrableName = (hostname: string): string | undefined =>
  getDomain(hostname, { allowPrivateDomains: true }) ?? undefined
