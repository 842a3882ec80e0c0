/** Where a request to the gateway wants to go: the endpoint it names, and the raw path and query behind it. */
export interface GatewayTarget {
  readonly endpoint: string
  /** What follows the endpoint's id: empty, or `/` and more; not decoded. */
  readonly rest: string
  /** Empty, or with its `?`. */
  readonly query: string
}

export const gatewayPrefix = "/x402/"

/**
 * Takes a request target apart without decoding it, or undefined when two readers could see two different paths in it: encoded or
 * doubled separators, dot segments, double encoding, control bytes, percent signs that are not UTF-8, an absolute form.
 */
export const parseGatewayTarget = (target: string): GatewayTarget | undefined => {
  if (!target.startsWith(gatewayPrefix)) return undefined
  const mark = target.indexOf("?")
  const path = mark < 0 ? target : target.slice(0, mark)
  const query = mark < 0 ? "" : target.slice(mark)
  if (!isPlain(path) || !printable.test(query)) return undefined
  const end = path.indexOf("/", gatewayPrefix.length)
  return end < 0
    ? { endpoint: path.slice(gatewayPrefix.length), rest: "", query }
    : { endpoint: path.slice(gatewayPrefix.length, end), rest: path.slice(end), query }
}

/** Whether what is for sale there is an operation of our own, which has a path of its own. */
export const isOwnGood = ({ gatewayUrl, id }: { readonly gatewayUrl: string; readonly id: string }): boolean =>
  !gatewayUrl.endsWith(gatewayPrefix + id)

/** Whether a path means the same to every reader. */
export const isPlain = (path: string): boolean => {
  if (path.includes("//") || path.includes("/.")) {
    if (path.includes("//") || dotSegment.test(path)) return false
  }
  return (
    unreserved.test(path) ||
    (printable.test(path) && !ambiguous.test(path) && !dotSegment.test(path) && meansOnce(path))
  )
}

const unreserved = /^[\w\-~/.]*$/
const printable = /^[!"$-~]*$/
// Separators and control bytes in disguise.
const ambiguous = /\\|%(?:2f|5c|7f|[01][0-9a-f])/i
const escape = /%[0-9a-f]{2}/i
// `;` makes some servers drop the rest of a segment.
const dotSegment = /\/(?:\.|%2e){1,2}(?=\/|;|%3b|$)/i

/** Whether the escapes are UTF-8, and what they say has none in it: an escaped escape, however it is spelled, means two things. */
const meansOnce = (path: string): boolean => {
  try {
    return !escape.test(decodeURIComponent(path))
  } catch {
    return false
  }
}

/** Methods that a query names as forms do, whose own is POST: servers with a method override take one of them for the request's. */
export const methodsInQuery = (target: string): ReadonlyArray<string> => {
  const mark = target.indexOf("?")
  const named = mark < 0 ? [] : new URLSearchParams(target.slice(mark)).getAll("_method")
  return named.map((method) => method.trim().toUpperCase())
}

/** The path at the origin for what followed the endpoint's id, or undefined when the endpoint does not cover it. */
export const originPath = (pattern: string, rest: string): string | undefined => {
  if (!pattern.endsWith("/*")) return rest === "" ? pattern : undefined
  const path = pattern.slice(0, -2) + rest
  return path === "" ? "/" : path
}
