/** The product token under which robots.txt files and access lists can name us. */
export const agentName = "TurnpikeScanner"

/** Who we say we are; what a reader of a log can look up. */
export const agentLine = (publicUrl: string): string => `${agentName}/1.0 (+${publicUrl}/docs/scanner)`

/** A plain browser, for one comparison: whether a site answers differently to people's programs. */
export const browserLine =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"

/** No JSON by name: PrestaShop takes whoever names it for a script of its own, and answers a page with nothing. */
export const usualAccept = "text/html,application/xhtml+xml,*/*;q=0.8"
export const browserAccept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

/** What a visit sets itself, or the connection does. */
const ownHeaders = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent"
])

/** The first header that a request may not name. */
export const misnamedHeader = (headers: ReadonlyArray<readonly [name: string, value: string]>): string | undefined =>
  headers.find(([name]) => ownHeaders.has(name.toLowerCase()))?.[0]
