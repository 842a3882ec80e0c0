import { readCaptchas } from "./Captcha.ts"
import { readClientOnly } from "./ClientOnly.ts"
import { readControls } from "./Controls.ts"
import { boundedNodes, type JsonLd, readJsonLd } from "./JsonLd.ts"
import { mainHeading } from "./MainHeading.ts"
import { readMicrodata, readRdfa } from "./Microdata.ts"
import { openGraphProduct } from "./OpenGraph.ts"
import type { PageFacts, PageLink, StatedProduct } from "./PageFacts.ts"
import { absolute, attributeOf, clipped, folded, hasWord, textOf } from "./PageText.ts"
import { type PageTree, readTree } from "./PageTree.ts"
import { readPayments } from "./Payments.ts"
import { readPrices } from "./Price.ts"
import { productsOf, type Subject } from "./StatedProducts.ts"
import { unlessStruck } from "./Struck.ts"
import { readSteps } from "./Steps.ts"
import { readWalls } from "./Walls.ts"
import { readWebMcp } from "./WebMcp.ts"

/** How much is told of a page. */
export const pageLimits = {
  text: 20_000,
  links: 2_000,
  headings: 200,
  metas: 300,
  headLinks: 300,
  scripts: 300,
  prices: 1_000_000
}

const baseOf = (tree: PageTree, url: URL): URL => {
  const said = tree.elements.find((element) => element.tag === "base" && element.attributes.has("href"))
  const href = said && absolute(attributeOf(said, "href"), url)
  return href === undefined ? url : new URL(href)
}

const metasOf = (tree: PageTree): ReadonlyMap<string, string> => {
  const metas = new Map<string, string>()
  for (const element of tree.elements) {
    if (metas.size >= pageLimits.metas) break
    const content = element.tag === "meta" ? attributeOf(element, "content", 5_000) : undefined
    const name = attributeOf(element, "property", 200) ?? attributeOf(element, "name", 200)
    if (content !== undefined && name !== undefined && !metas.has(name.toLowerCase()))
      metas.set(name.toLowerCase(), content)
  }
  return metas
}

/** Of too many the first and the last: a great menu stands before a page, and what the shop is bound to behind it. */
const firstAndLast = <A>(all: ReadonlyArray<A>, most: number): ReadonlyArray<A> =>
  all.length <= most ? all : [...all.slice(0, most - lastKept), ...all.slice(-lastKept)]
const lastKept = 500

const linksOf = (tree: PageTree, base: URL): ReadonlyArray<PageLink> => {
  const links: Array<PageLink> = []
  const anchors = tree.elements.filter(({ tag }) => tag === "a" || tag === "area")
  for (const element of firstAndLast(anchors, pageLimits.links)) {
    const href = absolute(attributeOf(element, "href"), base)
    if (href === undefined) continue
    const text =
      textOf(tree, element) || (attributeOf(element, "aria-label", 300) ?? attributeOf(element, "title", 300) ?? "")
    links.push({ href, text, rel: attributeOf(element, "rel", 100)?.toLowerCase() ?? null })
  }
  return links
}

const headingsOf = (tree: PageTree): PageFacts["headings"] =>
  tree.elements
    .filter((element) => /^h[1-6]$/.test(element.tag) && attributeOf(element, "aria-hidden", 10) !== "true")
    .slice(0, pageLimits.headings)
    .map((element) => ({ level: Number(element.tag[1]), text: textOf(tree, element) }))

const landmarkOf: Readonly<Record<string, string>> = {
  main: "main",
  nav: "navigation",
  header: "banner",
  footer: "contentinfo",
  aside: "complementary",
  search: "search"
}
const landmarkRoles: ReadonlySet<string> = new Set([...Object.values(landmarkOf), "form", "region"])

const landmarksOf = (tree: PageTree): ReadonlyArray<string> => [
  ...new Set(
    tree.elements.flatMap((element) => {
      const role = attributeOf(element, "role", 50)?.toLowerCase() ?? landmarkOf[element.tag]
      return role !== undefined && landmarkRoles.has(role) ? [role] : []
    })
  )
]

const headLinksOf = (tree: PageTree, base: URL): PageFacts["headLinks"] =>
  tree.elements
    .filter((element) => element.tag === "link")
    .slice(0, pageLimits.headLinks)
    .flatMap((element) => {
      const href = absolute(attributeOf(element, "href"), base)
      const rel = attributeOf(element, "rel", 100)?.toLowerCase()
      const type = attributeOf(element, "type", 100)?.toLowerCase() ?? null
      return href === undefined || rel === undefined ? [] : [{ rel, href, type }]
    })

const scriptsOf = (tree: PageTree, base: URL): ReadonlyArray<string> =>
  tree.elements
    .filter((element) => element.tag === "script")
    .flatMap((element) => absolute(attributeOf(element, "src"), base) ?? [])
    .slice(0, pageLimits.scripts)

const statedProducts = (
  tree: PageTree,
  jsonLd: JsonLd,
  metas: ReadonlyMap<string, string>,
  base: URL,
  subject: Subject
): ReadonlyArray<StatedProduct> => {
  const stated = { byId: jsonLd.byId, base }
  const microdata = readMicrodata(tree)
  const rdfa = readRdfa(tree)
  const openGraph = openGraphProduct(metas, base)
  return [
    ...productsOf(jsonLd.mains, jsonLd.nodes, "json-ld", stated, subject),
    ...productsOf(microdata.mains, microdata.items, "microdata", stated, subject),
    ...productsOf(rdfa.mains, rdfa.items, "rdfa", stated, subject),
    ...(openGraph === undefined ? [] : [openGraph])
  ]
}

/** What the page says that it is about. */
const subjectOf = (
  url: URL,
  { headLinks, headings, title }: Pick<PageFacts, "headLinks" | "headings" | "title">
): Subject => {
  const canonical = headLinks.find(({ rel }) => hasWord(rel, "canonical"))
  const firsts = headings.filter(({ level }) => level === 1).map(({ text }) => text)
  return {
    addresses: [url, ...(canonical === undefined ? [] : [new URL(canonical.href)])],
    names: [...firsts, ...(title === null ? [] : [title, ...title.split(/\s+[|·:–—-]\s+/)])]
  }
}

/** What a page says, from its HTML alone. Any text is a page: nothing is thrown, and time and memory stay in proportion. */
export const readPage = (html: string, url: URL): PageFacts => {
  const tree = readTree(html)
  const base = baseOf(tree, url)
  const visible = folded(tree.visible)
  const metas = metasOf(tree)
  const jsonLd = readJsonLd(tree)
  const headings = headingsOf(tree)
  const titled = tree.elements.find((element) => element.tag === "title")
  const title = (titled && textOf(tree, titled, 500)) || null
  const main = mainHeading(tree, title)
  const heading = main === undefined ? null : textOf(tree, main)
  const { forms, controls } = readControls(tree, base, url, main)
  const headLinks = headLinksOf(tree, base)
  const root = tree.elements.find((element) => element.tag === "html")
  const products = statedProducts(tree, jsonLd, metas, base, subjectOf(url, { headLinks, headings, title }))
  const prices = unlessStruck(readPrices(visible.slice(0, pageLimits.prices), heading ?? undefined), visible, tree)
  const headingAt = heading === null ? -1 : visible.indexOf(heading)
  const links = linksOf(tree, base)
  const fills = forms.some((form) => form.controls.some((control) => control.type !== "hidden"))
  return {
    url: url.href,
    title,
    lang: (root && attributeOf(root, "lang", 50)) ?? null,
    visibleText: clipped(visible, pageLimits.text),
    visibleLength: visible.length,
    isCut: tree.isCut,
    prices,
    heading,
    headingAt: headingAt < 0 ? null : headingAt,
    headings,
    landmarks: landmarksOf(tree),
    links,
    forms,
    controls,
    metas,
    headLinks,
    scripts: scriptsOf(tree, base),
    jsonLd: boundedNodes(jsonLd.nodes),
    brokenBlocks: jsonLd.broken,
    products,
    clientOnly: readClientOnly(tree, visible, fills || headings.some((heading) => heading.text !== "")),
    captchas: readCaptchas(tree, { url: url.href, forms, controls, links }),
    walls: readWalls(tree, visible, prices.length > 0 || products.length > 0),
    payments: readPayments(tree, forms, controls),
    steps: readSteps(tree),
    webMcp: readWebMcp(tree)
  }
}
