import { getDomain } from "tldts"
import { type Problems, urlOf, within } from "./Problems.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export const ucpTransports = ["rest", "mcp", "a2a", "embedded"] as const
export type UcpTransport = (typeof ucpTransports)[number]

/** A service over one transport. The embedded one has no endpoint of its own. */
export interface UcpBinding {
  readonly service: string
  readonly version: string | undefined
  readonly transport: UcpTransport
  readonly endpoint: URL | undefined
}

/** What a profile declares, whatever shape its release gives it. */
export interface UcpDeclared {
  readonly bindings: ReadonlyArray<UcpBinding>
  readonly capabilities: ReadonlyArray<string>
  readonly paymentHandlers: ReadonlyArray<string>
  /** Other versions, with where their profiles are. */
  readonly supportedVersions: ReadonlyArray<string>
}

/** A profile while it is judged. */
export interface Judging {
  readonly document: Fields
  readonly ucp: Fields
  readonly version: string | null
  readonly site: URL
  readonly problems: Problems
}

/** Names before 2026-08-25, and since: then with hyphens and digits where host names may have them. */
export const oldName = /^[a-z][a-z0-9]*(?:\.[a-z][a-z0-9_]*)+$/
export const newName = /^[a-z](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]*[a-z0-9_])?)+$/
/** Longer than any name in use, and short enough for the patterns. */
const maxName = 200

export const isName = (text: string, pattern: RegExp): boolean => text.length <= maxName && pattern.test(text)

export const isVersion = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)

export const versionOf = (of: Fields, path: string, problems: Problems): string | undefined => {
  const version = problems.text(of, path, "version")
  if (version === undefined || isVersion(version)) return version
  return problems.fatal(within(path, "version"), "must be a date such as 2026-08-25")
}

/** An address that a document names. */
export const urlIn = (of: Fields, path: string, name: string, problems: Problems): URL | undefined => {
  const text = problems.maybeText(of, path, name)
  if (text === undefined) return undefined
  return urlOf(text) ?? problems.fatal(within(path, name), "must be an absolute URL")
}

/** Where to call. Over TLS, unless the site itself was reached without. */
export const endpointIn = (of: Fields, path: string, { problems, site }: Judging): URL | undefined => {
  if (of["endpoint"] === undefined) return problems.fatal(within(path, "endpoint"), "is missing: nobody can call it")
  const url = urlIn(of, path, "endpoint", problems)
  if (url === undefined) return undefined
  const isPlain = url.protocol === "http:" && site.protocol === "http:" && url.host === site.host
  if (url.protocol !== "https:" && !isPlain) return problems.fatal(within(path, "endpoint"), "must use https")
  if (url.username !== "" || url.password !== "") {
    return problems.fatal(within(path, "endpoint"), "must not carry credentials")
  }
  return url
}

/**
 * A name belongs to whoever owns the domain that it begins with, read backwards, and what defines it has to be served from there:
 * otherwise anybody could redefine a capability of others.
 */
export const checkAuthority = (name: string, of: Fields, path: string, problems: Problems): void => {
  for (const member of ["spec", "schema"]) {
    const url = urlIn(of, path, member, problems)
    if (url === undefined) continue
    const owner = getDomain(url.hostname)?.split(".").reverse().join(".")
    if (url.protocol !== "https:") problems.note(within(path, member), "should use https")
    else if (owner === undefined || !(name === owner || name.startsWith(`${owner}.`))) {
      problems.note(within(path, member), `is served by ${url.hostname}, which does not own ${name}`)
    }
  }
}

/** What every entry of a map has: a version, and perhaps an id, a configuration and where it is defined. */
export const checkEntity = (of: Fields, path: string, problems: Problems): string | undefined => {
  problems.maybeText(of, path, "id")
  problems.maybeObject(of, path, "config")
  return versionOf(of, path, problems)
}

/** A parent, or several where the release lets it. */
export const checkExtends = (
  of: Fields,
  path: string,
  rules: { readonly names: RegExp; readonly several: boolean },
  problems: Problems
): void => {
  const value = of["extends"]
  if (value === undefined) return
  const parents = rules.several && Array.isArray(value) && value.length > 0 ? value : [value]
  if (!parents.every((parent) => typeof parent === "string" && isName(parent, rules.names))) {
    problems.fatal(within(path, "extends"), `must be a name${rules.several ? " or a list of names" : ""}`)
  }
}

/** Members of a key that must never be published. */
const secrets = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
const algorithms: Readonly<Record<string, string>> = { "P-256": "ES256", "P-384": "ES384", Ed25519: "EdDSA" }

/** The public keys of a profile. Unknown kinds are none of our business: clients select keys by their id. */
export const checkKeys = (document: Fields, name: "keys" | "signing_keys", isStrict: boolean, problems: Problems) => {
  for (const [at, value] of (problems.maybeList(document, "", name) ?? []).entries()) {
    const path = within(name, at)
    const key = asFields(value)
    if (key === undefined) problems.fatal(path, "must be an object")
    else checkKey(key, path, isStrict, problems)
  }
}

const checkKey = (key: Fields, path: string, isStrict: boolean, problems: Problems): void => {
  problems.text(key, path, "kid")
  const kind = problems.text(key, path, "kty")
  for (const member of ["crv", "x", "y", "n", "e", "alg", "use"]) problems.maybeText(key, path, member)
  const secret = secrets.find((member) => key[member] !== undefined)
  if (secret !== undefined) problems.fatal(path, `publishes the private part of a key (${secret})`)
  const use = key["use"]
  if (!isStrict) {
    if (typeof use === "string" && use !== "sig" && use !== "enc")
      problems.fatal(within(path, "use"), "must be sig or enc")
    return
  }
  const needed = kind === "EC" ? ["crv", "x", "y"] : kind === "OKP" ? ["crv", "x"] : []
  const missing = needed.filter((member) => key[member] === undefined)
  if (missing.length > 0) problems.note(path, `a key of type ${kind} needs ${missing.join(", ")}`)
  const algorithm = typeof key["crv"] === "string" ? algorithms[key["crv"]] : undefined
  if (algorithm !== undefined && key["alg"] !== undefined && key["alg"] !== algorithm) {
    problems.note(within(path, "alg"), `must be ${algorithm} for ${key["crv"]}`)
  }
}
