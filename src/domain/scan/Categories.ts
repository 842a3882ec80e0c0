import type { PageFacts } from "../page/PageFacts.ts"
import { bareHost } from "./SiteAddress.ts"

/** Addresses of one site, each once and in order. */
export const ofSite = (addresses: ReadonlyArray<string>, base: URL): ReadonlyArray<URL> => {
  const urls = new Map<string, URL>()
  for (const address of addresses) {
    const url = URL.parse(address, base.href)
    if (url === null || bareHost(url.host) !== bareHost(base.host)) continue
    url.hash = ""
    urls.set(url.href, url)
  }
  return [...urls.values()].toSorted((a, b) => (a.href < b.href ? -1 : 1))
}

const categoryPath =
  /\/(?:collections?|categor(?:y|ies)|c|shop|store|catalog(?:ue)?|products|department|kategorie|women|men|all)(?:\/|$)/i

/** Shops of one script name the category in their query. */
const namedCategory =
  /[?&](?:cPath|cat_id|category_id|id_category|path)=\d+(?:_\d+)*(?:&|$)|[?&](?:route|rt)=product\/category&/i
const isCategory = (url: URL | null): boolean =>
  url !== null && (categoryPath.test(url.pathname) || namedCategory.test(url.search))

/** Pages that look by their address as if they list products. */
export const categoriesOf = ({ links }: PageFacts, base: URL): ReadonlyArray<URL> =>
  ofSite(
    links.map(({ href }) => href).filter((href) => isCategory(URL.parse(href))),
    base
  )
