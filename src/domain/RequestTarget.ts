/** Whom a request is for, and its target as path and query. */
export interface Addressed {
  readonly host: string
  readonly target: string
}

const absolute = /^(https?):\/\/((?:[\w.~-]+|\[[\da-f:.]+\])(?::\d+)?)([/?].*)?$/i

/**
 * A target in absolute-form (RFC 9112, 3.2.2) as everybody behind reads it, byte for byte; undefined for every other one, and when its
 * authority is neither the `Host` of the request nor one of `names`, which are as `URL.host` spells them.
 */
export const ofAbsoluteForm = (
  target: string,
  host: string | undefined,
  names: ReadonlySet<string>
): Addressed | undefined => {
  const [, scheme = "", authority = "", rest = ""] = absolute.exec(target) ?? []
  const named = authority.toLowerCase()
  if (named === "") return undefined
  const usual = scheme.toLowerCase() === "https" ? ":443" : ":80"
  const name = named.endsWith(usual) ? named.slice(0, -usual.length) : named
  if (named !== host?.toLowerCase() && !names.has(name)) return undefined
  return { host: authority, target: rest.startsWith("/") ? rest : `/${rest}` }
}
