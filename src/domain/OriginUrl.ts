import { Result, Schema } from "effect"
import { hostKind } from "./Address.ts"

/** Why an address outside is refused, in order of precedence. */
export const OriginRefusal = Schema.Literals([
  "TooLong",
  "NotAUrl",
  "SchemeNotAllowed",
  "UserInfo",
  "Fragment",
  "OwnHost",
  "PortNotAllowed",
  "AddressNotPublic"
])
export type OriginRefusal = typeof OriginRefusal.Type

/** The fields of requests that take an address of the caller's. */
export const AddressField = Schema.Literals(["originUrl", "webhookUrl", "url"])
export type AddressField = typeof AddressField.Type

const listed = "unless the deployment lists its host and port"

/** What an address must be, by what is wrong with it. */
const saidOfOrigin: { readonly [reason in OriginRefusal]: string } = {
  TooLong: "has more than 2,048 characters",
  NotAUrl: "is no absolute address such as https://example.com/path",
  SchemeNotAllowed: "must begin with https:// or http://",
  UserInfo: "must have no user name and no password",
  Fragment: "must have no part behind a #",
  OwnHost: "leads back to this Turnpike",
  PortNotAllowed: `must be on port 443 or 80, ${listed}`,
  AddressNotPublic: `must lead to a public address, ${listed}`
}
/** The same of an address that events are sent to. */
const saidOfReceiver = {
  SchemeNotAllowed: `must begin with https://, ${listed}`,
  PortNotAllowed: `must be on port 443, ${listed}`
}

/** Refused while registering: the address may never be an origin, a webhook or a callback. */
export class OriginNotAllowed extends Schema.TaggedError<OriginNotAllowed>()(
  "ORIGIN_NOT_ALLOWED",
  { field: AddressField, reason: OriginRefusal },
  { httpApiStatus: 422, title: "This address is not allowed" }
) {
  override get message(): string {
    const said = this.field === "originUrl" ? saidOfOrigin : { ...saidOfOrigin, ...saidOfReceiver }
    return `${this.field}: ${said[this.reason]}`
  }
}

/** Refused while calling: what was registered no longer leads to an address we may call. */
export class OriginForbiddenAddress extends Schema.TaggedError<OriginForbiddenAddress>()(
  "ORIGIN_FORBIDDEN_ADDRESS",
  { reason: OriginRefusal },
  { httpApiStatus: 502, title: "The origin is at an address that may not be called" }
) {}

/** What this deployment adds to the rule, and takes from it. Hosts are spelled as a parsed URL spells them. */
export interface OriginRules {
  /** Exact `host:port` pairs that may be called although they are private or use another port. */
  readonly allowHosts: ReadonlyArray<string>
  readonly allowLoopback: boolean
  /** Where we ourselves are reached: `host` or `host:port`. One on loopback stands for its port on every loopback address. */
  readonly ownHosts: ReadonlyArray<string>
}

/** A checked absolute URL in its parts. `origin` is scheme, host and port; `path` and `query` are as WHATWG parsing left them. */
export interface OriginUrl {
  readonly href: string
  readonly origin: string
  readonly hostname: string
  readonly port: number
  readonly path: string
  readonly query: string
}

/** Longest accepted URL, in characters. */
export const maxOriginUrlLength = 2048

/** Reads a URL and applies every rule that needs no lookup. Refusals come in the order of `OriginRefusal`. */
export const parseOriginUrl = (text: string, rules: OriginRules): Result.Result<OriginUrl, OriginRefusal> => {
  if (text.length > maxOriginUrlLength) return Result.fail("TooLong")
  // The parser would take tabs and line ends out, wherever they are: what is called would not be what was written.
  if (/\p{Cc}/u.test(text)) return Result.fail("NotAUrl")
  const url = URL.parse(text)
  if (url === null || url.hostname === "") return Result.fail(url === null ? "NotAUrl" : "SchemeNotAllowed")
  if (url.protocol !== "https:" && url.protocol !== "http:") return Result.fail("SchemeNotAllowed")
  if (url.username !== "" || url.password !== "") return Result.fail("UserInfo")
  // A lone `#` leaves `url.hash` empty.
  if (text.includes("#")) return Result.fail("Fragment")
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  const refusal = refuseTarget(url.hostname, port, rules)
  if (refusal !== undefined) return Result.fail(refusal)
  const { href, origin, hostname, pathname: path, search: query } = url
  return Result.succeed({ href, origin, hostname, port, path, query })
}

/** Judges a parsed host and port without a lookup. A name that passes must still resolve to public addresses only. */
export const refuseTarget = (hostname: string, port: number, rules: OriginRules): OriginRefusal | undefined => {
  if (isOwnHost(hostname, port, rules)) return "OwnHost"
  if (isListed(hostname, port, rules)) return undefined
  const kind = hostKind(hostname)
  if (kind === "loopback" && rules.allowLoopback) return undefined
  if (port !== 80 && port !== 443) return "PortNotAllowed"
  return kind === "public" || kind === "name" ? undefined : "AddressNotPublic"
}

/** Whether the deployment lists exactly this host and port as callable, whatever its address. */
export const isListed = (hostname: string, port: number, rules: OriginRules): boolean =>
  rules.allowHosts.includes(`${hostname}:${port}`)

const isOwnHost = (hostname: string, port: number, rules: OriginRules): boolean => {
  const name = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname
  return rules.ownHosts.some((own) => {
    if (own === name || own === `${name}:${port}`) return true
    const colon = own.lastIndexOf(":")
    return (
      own.slice(colon + 1) === String(port) &&
      hostKind(own.slice(0, colon)) === "loopback" &&
      hostKind(name) === "loopback"
    )
  })
}
