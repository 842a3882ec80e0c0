/** A host without `www.`, which most sites answer with and without. */
export const bareHost = (host: string): string => host.replace(/^www\./, "")

/**
 * An address of the same site, at the origin where that was reached; undefined for one of another. Sites list themselves over http and
 * with or without `www.` whatever they answer at.
 */
export const addressAt = (origin: string, address: string): URL | undefined => {
  const url = URL.parse(address, origin)
  if (url === null || !/^https?:$/.test(url.protocol) || bareHost(url.host) !== bareHost(new URL(origin).host))
    return undefined
  return new URL(`${new URL(origin).origin}${url.pathname}${url.search}`)
}
