import { parseGatewayTarget } from "./GatewayPath.ts"

/** The cookie that keeps a user of ours logged in. */
export const refreshCookie = "refresh_token"

/** What begins like this, in lower case, may become ours. */
const reserved = ["__host-turnpike", "__secure-turnpike", "turnpike_"]

/** The address of an endpoint and the target of a request to it, which may spell its id in another way. */
export interface CookiePlace {
  readonly gatewayUrl: string
  readonly target: string
}

/** Whether a `name=value` is a credential of ours, or would be sent as one. Who reads it may trim the name or ignore its case. */
export const isOurCookie = (pair: string): boolean => {
  const name = nameOf(pair)
  return name === refreshCookie || reserved.some((prefix) => name.startsWith(prefix))
}

/** A `Cookie` field without the cookies that are ours; empty when no other is left. */
export const withoutOurCookies = (value: string): string => {
  const pairs = value.split(";")
  const kept = pairs.filter((pair) => !isOurCookie(pair))
  return kept.length === pairs.length ? value : kept.join(";").trim()
}

/**
 * What an origin sets, bound to the endpoint it came from: all sellers share our host, and none may have what another one set. A cookie
 * that must be the whole host's (`__Host-`) cannot be bound: undefined.
 */
export const boundCookie = (cookie: string, place: CookiePlace): string | undefined => {
  if (nameOf(cookie).startsWith("__host-")) return undefined
  const [pair = "", ...attributes] = cookie.split(";")
  return [
    pair,
    ...attributes.filter((attribute) => !replaced.has(nameOfAttribute(attribute))),
    ` Path=${pathOf(place)}`
  ].join(";")
}

/** In lower case. A browser sends the value of a cookie without a name alone, so that the value's beginning becomes the name. */
const nameOf = (cookie: string): string => {
  const [pair = ""] = cookie.split(";", 1)
  return (/^[\s=]*([^=]*)/.exec(pair)?.[1] ?? "").trim().toLowerCase()
}

/** `Domain`, `Path`, and what says nothing. */
const replaced = new Set(["", "domain", "path"])
const nameOfAttribute = (attribute: string): string => (attribute.split("=", 1)[0] ?? "").trim().toLowerCase()

/** A cookie comes back to the spelling of the address that it was set at, and to no other. */
const pathOf = ({ gatewayUrl, target }: CookiePlace): string => {
  const path = new URL(gatewayUrl).pathname
  const id = parseGatewayTarget(target)?.endpoint
  return id === undefined ? path : path.slice(0, path.lastIndexOf("/") + 1) + id
}
