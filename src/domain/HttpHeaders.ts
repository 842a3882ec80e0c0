import { boundCookie, type CookiePlace, isOurCookie, withoutOurCookies } from "./Cookies.ts"
import { elements } from "./HeaderList.ts"
import { withoutOurCredentials } from "./OwnCredentials.ts"

/** Header fields as they came over the wire: name, value, name, value. Names keep their case, order and repetitions. */
export type RawHeaders = ReadonlyArray<string>

const hopByHop = [
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]

const payment = [
  "payment-authorization",
  "payment-receipt",
  "payment-required",
  "payment-response",
  "payment-signature",
  "sign-in-with-x",
  "x-payment"
]

/** Some frameworks take the method that these name for the request's own. */
const methodOverrides = ["x-http-method-override", "x-http-method", "x-method-override"] as const

/**
 * And some the address that these name: neither is what was paid for. Servers of Python take what `SCRIPT_NAME` says off the path, and
 * Rack has a file mapped to another address of the server before it.
 */
const addressOverrides = [
  ...["path-info", "script-name", "x-script-name", "x-original-uri", "x-original-url", "x-rewrite-url"],
  ...["x-accel-mapping", "x-sendfile-type"]
]

/** Who called, as proxies say it whom an origin may believe: it is we who call. */
const callerAddresses = [
  ...["cf-connecting-ip", "cf-connecting-ipv6", "cf-pseudo-ipv4", "client-ip", "cloudfront-viewer-address"],
  ...["do-connecting-ip", "fastly-client-ip", "fly-client-ip", "true-client-ip", "x-appengine-user-ip"],
  ...["x-azure-clientip", "x-azure-socketip", "x-client-ip", "x-cluster-client-ip", "x-envoy-external-address"],
  ...["x-host", "x-http-host-override", "x-nf-client-connection-ip", "x-original-forwarded-for", "x-original-host"],
  ...["x-originating-ip", "x-real-ip", "x-remote-addr", "x-remote-ip", "x-vercel-forwarded-for"]
]

/**
 * Framing and `Host` are decided for each connection anew; the rest would let a caller speak for us. CGI makes `HTTP_PROXY` of `Proxy`,
 * by which whatever runs there would make its own calls.
 */
const notForOrigin = new Set([
  ...hopByHop,
  ...payment,
  ...methodOverrides,
  ...addressOverrides,
  ...callerAddresses,
  "content-length",
  "expect",
  "forwarded",
  "host",
  "proxy"
])

/** Those that are named here would change how a browser, or with the last two a cache, treats our whole host, not this one answer. */
const notForCaller = new Set([
  ...hopByHop,
  ...payment,
  "accept-ch",
  "alt-svc",
  "attribution-reporting-register-source",
  "attribution-reporting-register-trigger",
  "clear-site-data",
  "nel",
  "origin-agent-cluster",
  "public-key-pins",
  "report-to",
  "reporting-endpoints",
  "sec-session-challenge",
  "sec-session-registration",
  "secure-session-challenge",
  "secure-session-registration",
  "service-worker-allowed",
  "set-cookie2",
  "set-login",
  "shared-storage-write",
  "strict-transport-security",
  "use-as-dictionary",
  "edge-control",
  "surrogate-control"
])

/**
 * Proxies take these for orders of the server behind them: to send a file or another address in place of the answer, to keep it, to
 * slow it down, to call that server ill. Ours stands in front of all sellers.
 */
const frontOrders = ["x-accel-", "x-archive-", "x-envoy-", "x-lighttpd-", "x-litespeed-", "x-reproxy-", "x-sendfile"]

/** What tells caches between us and the caller to keep an answer, whatever `Cache-Control` says; RFC 9213 has one for each cache. */
const isCacheOrder = (field: string): boolean => {
  const name = field.toLowerCase()
  return name === "expires" || name === "pragma" || name.endsWith("-cache-control")
}

/** The fields without those that would let a cache give the answer to somebody else. */
export const withoutCacheOrders = (raw: RawHeaders): RawHeaders =>
  raw.some((field, index) => index % 2 === 0 && isCacheOrder(field))
    ? raw.filter((_, index) => !isCacheOrder(raw[index - (index % 2)] ?? ""))
    : raw

/** Whether who sent a request says that it asks for somebody else: a proxy, or a browser for a page of elsewhere. */
export const asksForOthers = (headers: Readonly<Record<string, unknown>>): boolean =>
  Object.keys(headers).some(
    (name) =>
      name === "forwarded" ||
      name === "origin" ||
      name === "via" ||
      name.startsWith("x-forwarded-") ||
      callerAddresses.includes(name)
  )

/** A method that a request asks for in place of its own and `serves` refuses, in capitals; undefined when it asks for none. */
export const refusedOverride = (
  headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>,
  serves: (method: string) => boolean
): string | undefined => {
  for (const name of methodOverrides) {
    const method = headers[name]
    if (method === undefined) continue
    const wanted = String(method).trim().toUpperCase()
    if (!serves(wanted)) return wanted
  }
  return undefined
}

/**
 * What of a caller's request headers an origin may see, followed by `added` and by our name on the way. Fields named in `added` replace
 * the caller's.
 */
export const headersForOrigin = (raw: RawHeaders, added: RawHeaders): Array<string> => {
  const named = namedByConnection(raw)
  const out: Array<string> = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? ""
    let value = raw[i + 1] ?? ""
    // An origin behind CGI or WSGI cannot tell `X_Payment_Payer` from `X-Payment-Payer`, nor one in PHP `X.Payment.Payer`.
    const name = dashed(field)
    if (notForOrigin.has(name) || isOurs(name) || named?.has(name) || hasDashed(added, name)) continue
    if (named?.has(field.toLowerCase())) continue
    if (name === "authorization") {
      const theirs = withoutOurCredentials(value)
      if (theirs === "" && value !== "") continue
      value = theirs
    }
    if (name === "cookie") {
      const theirs = withoutOurCookies(value)
      if (theirs === "" && value !== "") continue
      value = theirs
    }
    out.push(field, value)
  }
  for (const item of added) out.push(item)
  // RFC 9110, 7.6.3: a gateway adds itself to those that the request came through.
  out.push("Via", "1.1 turnpike")
  return out
}

/** What of an origin's answer a caller may see. `content-length` stays; cookies are bound to `place`, when there is one. */
export const headersForCaller = (raw: RawHeaders, place?: CookiePlace): Array<string> => {
  const named = namedByConnection(raw)
  const out: Array<string> = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? ""
    const name = field.toLowerCase()
    const read = dashed(field)
    if (notForCaller.has(read) || isOurs(read) || isFrontOrder(read) || (named?.has(name) && name !== "content-length"))
      continue
    let value = raw[i + 1] ?? ""
    if (name === "set-cookie") {
      // A cookie under a name of ours would be a credential that the origin chose.
      const cookie = isOurCookie(value) ? undefined : place === undefined ? value : boundCookie(value, place)
      if (cookie === undefined) continue
      value = cookie
    }
    if (name === "www-authenticate") {
      value = withoutPaymentChallenges(value)
      if (value === "") continue
    }
    out.push(field, value)
  }
  return out
}

/** Whether a body is coded for one hop in another way than by chunks. */
export const isTransformed = (raw: RawHeaders): boolean => {
  const codings = headerValues(raw, "transfer-encoding")
  return codings !== undefined && codings.trim().toLowerCase() !== "chunked"
}

/** The fields without those of this name; `name` in lower case. */
export const withoutField = (raw: RawHeaders, name: string): Array<string> =>
  raw.filter((_, index) => raw[index - (index % 2)]?.toLowerCase() !== name)

/** `added` in place of the fields of the same names. */
export const withHeaders = (raw: RawHeaders, added: RawHeaders): Array<string> => {
  const out: Array<string> = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? ""
    if (!has(added, field.toLowerCase())) out.push(field, raw[i + 1] ?? "")
  }
  for (const item of added) out.push(item)
  return out
}

/** The first value of a field; `name` in lower case. */
export const headerValue = (raw: RawHeaders, name: string): string | undefined => {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? ""
    if (field.length === name.length && field.toLowerCase() === name) return raw[i + 1]
  }
  return undefined
}

/** All values of a field as one list, which repeated lines of it are; `name` in lower case. */
export const headerValues = (raw: RawHeaders, name: string): string | undefined => {
  let values: string | undefined
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? ""
    if (field.length !== name.length || field.toLowerCase() !== name) continue
    values = values === undefined ? raw[i + 1] : `${values}, ${raw[i + 1]}`
  }
  return values
}

/** Whether an answer is read while it is written, so that its beginning must not wait for its end. */
export const isEventStream = (raw: RawHeaders): boolean =>
  /^\s*(?:text\/event-stream|application\/(?:x-ndjson|jsonl|json-seq))\b/i.test(headerValue(raw, "content-type") ?? "")

/** The name as those read it who make a variable of it: CGI, FastCGI and PHP know letters, digits and one other character. */
export const dashed = (field: string): string => field.toLowerCase().replace(/[^a-z0-9-]/g, "-")

const hasDashed = (headers: RawHeaders, name: string): boolean => {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const field = headers[i] ?? ""
    if (field.length === name.length && dashed(field) === name) return true
  }
  return false
}

const has = (headers: RawHeaders, name: string): boolean => headerValue(headers, name) !== undefined

const isOurs = (name: string): boolean =>
  name.startsWith("x-") &&
  (name.startsWith("x-payment-") || name.startsWith("x-forwarded-") || name.startsWith("x-service-"))

const isFrontOrder = (name: string): boolean =>
  name.startsWith("x-") && name !== "x-accel-buffering" && frontOrders.some((prefix) => name.startsWith(prefix))

/** Fields that `Connection` declares to be for one hop only; undefined when it names none. */
const namedByConnection = (raw: RawHeaders): Set<string> | undefined => {
  let named: Set<string> | undefined
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const field = raw[i] ?? ""
    if (field.length !== 10 || field.toLowerCase() !== "connection") continue
    const value = raw[i + 1] ?? ""
    if (value === "keep-alive" || value === "close") continue
    named ??= new Set()
    for (const token of value.split(",")) named.add(token.trim().toLowerCase())
  }
  return named
}

/** An element of a list of challenges that begins one: a scheme, and not a parameter of the one before. */
const challenge = /^([\w!#$%&'*+.^`|~-]+)(?:\s+(?![\s=])|$)/

/** A client that was asked by somebody else's challenge would pay for the same call again. */
const withoutPaymentChallenges = (value: string): string => {
  if (!/payment/i.test(value)) return value
  const kept: Array<string> = []
  let isPayment = false
  for (const [element, open] of value.matchAll(elements)) {
    const scheme = challenge.exec(element.trim())?.[1]
    if (scheme !== undefined) isPayment = scheme.toLowerCase() === "payment"
    // What stands within an open quote each reader takes apart in another way.
    if (!isPayment && open === undefined) kept.push(element.trim())
  }
  return kept.join(", ")
}
