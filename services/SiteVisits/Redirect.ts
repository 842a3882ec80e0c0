import { registrableName } from "#domain/MerchantDomain.ts"

/** A request as far as redirects change it. */
export interface Hop {
  readonly method: string
  readonly url: URL
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | null
}

const redirecting = new Set([301, 302, 303, 307, 308])

/** Whether an answer sends us elsewhere. */
export const isRedirect = (status: number, location: string | undefined): location is string =>
  redirecting.has(status) && location !== undefined && location !== ""

/**
 * The request that follows; undefined when it may not, and the answer stands for itself: a body does not go to another site, and
 * only the web is followed. Headers of ours go to no other host, and never from https to http.
 */
export const redirected = (hop: Hop, status: number, location: string, longest: number): Hop | undefined => {
  // Header text is latin-1; addresses that are not ASCII are meant as UTF-8.
  const url = URL.parse(Buffer.from(location, "latin1").toString("utf8"), hop.url.href)
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > longest) return undefined
  url.username = ""
  url.password = ""
  url.hash = ""
  const becomesGet = status === 303 || (status < 303 && hop.method === "POST")
  const body = becomesGet ? null : hop.body
  if (body !== null && !isSameSite(hop.url, url)) return undefined
  const kept = isSameHost(hop.url, url) ? hop.headers : []
  return {
    method: becomesGet ? "GET" : hop.method,
    url,
    headers: body === null ? kept.filter(([name]) => !/^content-/i.test(name)) : kept,
    body
  }
}

const isDowngrade = (from: URL, to: URL): boolean => from.protocol === "https:" && to.protocol === "http:"

const isSameHost = (from: URL, to: URL): boolean =>
  from.hostname === to.hostname && from.port === to.port && !isDowngrade(from, to)

const isSameSite = (from: URL, to: URL): boolean => {
  if (isDowngrade(from, to)) return false
  if (from.host === to.host) return true
  const site = registrableName(from.hostname)
  return site !== undefined && site === registrableName(to.hostname) && from.port === to.port
}
