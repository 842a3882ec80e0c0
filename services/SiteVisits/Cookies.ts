import { addressKind } from "#domain/Address.ts"
import { registrableName } from "#domain/MerchantDomain.ts"

interface Cookie {
  readonly name: string
  readonly value: string
  /** The name it belongs to, and whether hosts below it get it too. */
  readonly host: string
  readonly hostOnly: boolean
  /** A port other than the web's keeps its cookies to itself. */
  readonly port: string
  readonly path: string
  readonly secure: boolean
  readonly expiresAt: number
}

/** Longest name and value together, as browsers have it. */
const longest = 4096

/** The cookies of one visit, by the rules of RFC 6265: never for a whole public suffix, never for a host that did not set them. */
export class Cookies {
  readonly #most: number
  /** In the order in which they were first set; the oldest goes when there are too many. */
  readonly #cookies = new Map<string, Cookie>()

  constructor(most: number) {
    this.#most = most
  }

  store(url: URL, lines: ReadonlyArray<string>, now: number) {
    for (const line of lines.slice(0, this.#most)) {
      const cookie = read(url, line, now)
      if (cookie === undefined) continue
      const key = `${cookie.host}\n${cookie.port}\n${cookie.path}\n${cookie.name}`
      if (cookie.expiresAt <= now) {
        this.#cookies.delete(key)
        continue
      }
      this.#cookies.set(key, cookie)
      const [oldest] = this.#cookies.keys()
      if (this.#cookies.size > this.#most && oldest !== undefined) this.#cookies.delete(oldest)
    }
  }

  /** As a `Cookie` header carries them, those of longer paths first; empty when there are none. */
  header(url: URL, now: number): string {
    return [...this.#cookies.values()]
      .filter((cookie) => cookie.expiresAt > now && isFor(cookie, url))
      .sort((a, b) => b.path.length - a.path.length)
      .map(({ name, value }) => (name === "" ? value : `${name}=${value}`))
      .join("; ")
  }
}

const isSecure = (url: URL): boolean => url.protocol === "https:" || addressKind(url.hostname) === "loopback"

const isFor = (cookie: Cookie, url: URL): boolean =>
  cookie.port === url.port &&
  (url.hostname === cookie.host || (!cookie.hostOnly && url.hostname.endsWith(`.${cookie.host}`))) &&
  (!cookie.secure || isSecure(url)) &&
  isBelow(url.pathname, cookie.path)

const isBelow = (path: string, above: string): boolean =>
  path === above || (path.startsWith(above) && (above.endsWith("/") || path[above.length] === "/"))

const read = (url: URL, line: string, now: number): Cookie | undefined => {
  const [pair = "", ...rest] = line.split(";")
  const equals = pair.indexOf("=")
  const name = equals < 0 ? "" : pair.slice(0, equals).trim()
  const value = pair.slice(equals + 1).trim()
  if (
    name.length + value.length > longest ||
    (name === "" && value === "") ||
    /[^\x20-\x7e\x80-\xff]/.test(pair.trim())
  ) {
    return undefined
  }
  const attributes = new Map(
    rest.map((attribute) => {
      const at = attribute.indexOf("=")
      const key = (at < 0 ? attribute : attribute.slice(0, at)).trim().toLowerCase()
      return [key, at < 0 ? "" : attribute.slice(at + 1).trim()] as const
    })
  )
  const domain = domainOf(url, attributes.get("domain") ?? "")
  const secure = attributes.has("secure")
  if (domain === undefined || (secure && !isSecure(url))) return undefined
  const path = attributes.get("path") ?? ""
  const isAllowed = mayHaveName(name, { secure, hostOnly: domain.hostOnly, path })
  return isAllowed
    ? {
        name,
        value,
        ...domain,
        port: url.port,
        path: path.startsWith("/") ? path : defaultPath(url.pathname),
        secure,
        expiresAt: expiryOf(attributes, now)
      }
    : undefined
}

/** Whose it is; undefined when the host may not set it for there. */
const domainOf = (url: URL, attribute: string): Pick<Cookie, "host" | "hostOnly"> | undefined => {
  const domain = attribute.replace(/^\./, "").toLowerCase()
  const { hostname } = url
  const own = registrableName(hostname)
  // An address has no hosts below it, and what is below a public suffix is not its own.
  if (domain === "" || (domain === hostname && own === undefined)) return { host: hostname, hostOnly: true }
  if (own === undefined || (hostname !== domain && !hostname.endsWith(`.${domain}`))) return undefined
  return domain === own || domain.endsWith(`.${own}`) ? { host: domain, hostOnly: false } : undefined
}

const mayHaveName = (
  name: string,
  { hostOnly, path, secure }: { secure: boolean; hostOnly: boolean; path: string }
) => {
  if (/^__host-/i.test(name)) return secure && hostOnly && path === "/"
  return !/^__secure-/i.test(name) || secure
}

const defaultPath = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf("/")))

const expiryOf = (attributes: ReadonlyMap<string, string>, now: number): number => {
  const age = attributes.get("max-age")
  if (age !== undefined && /^-?\d+$/.test(age)) return now + Number(age) * 1000
  const expires = Date.parse(attributes.get("expires") ?? "")
  return Number.isNaN(expires) ? Number.POSITIVE_INFINITY : expires
}
