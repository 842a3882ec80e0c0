import { Buffer } from "node:buffer"
import type { IncomingMessage, ServerResponse } from "node:http"

/** What our fixture shops sell. They are ours, and prove nothing of the products whose interfaces they are shaped after. */
export interface Ware {
  readonly id: number
  readonly handle: string
  readonly name: string
  readonly sku: string
  readonly price: string
  readonly description: string
}

const ware = (id: number, handle: string, name: string, price: string): Ware => ({
  id,
  handle,
  name,
  sku: `TP-${id}`,
  price,
  description: `${name}, made to last: plain shape, no plastic, packed in paper, and repaired by us for ten years. It is in our own stock and leaves the house on the day that it is ordered, with a return label in the box. Care is simple: keep it dry, wipe it clean, and it will look the same in years.`
})

/** The cheapest of at least one unit is the notebook; the gift card must not be chosen although it is cheaper. */
export const wares: ReadonlyArray<Ware> = [
  ware(101, "walnut-pen-tray", "Walnut Pen Tray", "48.00"),
  ware(102, "linen-field-notebook", "Linen Field Notebook", "12.50"),
  ware(103, "brass-desk-lamp", "Brass Desk Lamp", "120.00"),
  ware(104, "gift-card", "Gift Card", "10.00")
]
export const notebook = wares[1] as Ware

/** Anybody but people is welcome, too; the cart and the checkout are not to be crawled, as in most shops. */
export const robotsText = (base: string, more = "") =>
  `User-agent: *\nDisallow: /cart\nDisallow: /checkout\nAllow: /\nContent-Signal: search=yes, ai-input=yes, ai-train=no\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: CCBot\nDisallow: /\n\n${more}\nSitemap: ${base}/sitemap.xml\n`

const sitemap = (base: string, path: (ware: Ware) => string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${wares
    .map(
      (ware) => `<url><loc>${base}${path(ware)}</loc><lastmod>${new Date().toISOString().slice(0, 10)}</lastmod></url>`
    )
    .join("")}</urlset>`

const llms = (base: string) =>
  `# Paper & Brass\n\n> A fixture shop with four products.\n\n## Pages\n\n- [Products](${base}/collections/all): everything we sell\n- [Shipping](${base}/policies/shipping): where to and for how much\n`

/** A page as a careful shop writes it: language, landmarks, one heading, names on everything. */
export const page = (base: string, title: string, body: string, head = "") =>
  `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${title} | Paper &amp; Brass</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="description" content="${title} at Paper &amp; Brass">
<link rel="canonical" href="${base}/">${head}</head>
<body><a href="#main">Skip to content</a>
<header><a href="${base}/">Paper &amp; Brass</a>
<nav aria-label="Main"><a href="${base}/collections/all">All products</a> <a href="${base}/cart">Cart</a></nav>
<form role="search" action="${base}/search" method="get"><label for="q">Search</label><input id="q" type="search" name="q"><button type="submit">Search</button></form></header>
<main id="main"><h1>${title}</h1>${body}</main>
<footer><nav aria-label="Policies"><a href="${base}/policies/shipping">Shipping</a> <a href="${base}/policies/returns">Returns and refunds</a>
<a href="${base}/policies/privacy">Privacy policy</a> <a href="${base}/policies/terms">Terms of service</a> <a href="${base}/contact">Contact</a></nav></footer></body></html>`

export const jsonLd = (node: unknown) => `<script type="application/ld+json">${JSON.stringify(node)}</script>`

const organization = (base: string) =>
  jsonLd({
    "@context": "https://schema.org",
    "@graph": [
      {
        "@type": "OnlineStore",
        "@id": `${base}/#store`,
        name: "Paper & Brass",
        url: `${base}/`,
        logo: `${base}/logo.png`,
        contactPoint: { "@type": "ContactPoint", email: "help@shop.example", contactType: "customer service" }
      },
      {
        "@type": "WebSite",
        url: `${base}/`,
        name: "Paper & Brass",
        potentialAction: {
          "@type": "SearchAction",
          target: { "@type": "EntryPoint", urlTemplate: `${base}/search?q={search_term_string}` },
          "query-input": "required name=search_term_string"
        }
      }
    ]
  })

/** A product as Google's merchant listings ask for it. */
export const productNode = (
  base: string,
  ware: Ware,
  path: string,
  said: { readonly price?: string; readonly available?: boolean } = {}
) =>
  jsonLd({
    "@context": "https://schema.org",
    "@type": "Product",
    name: ware.name,
    description: ware.description,
    image: [`${base}/images/${ware.handle}.jpg`],
    sku: ware.sku,
    gtin13: `40000000${String(ware.id).padStart(5, "0")}`,
    brand: { "@type": "Brand", name: "Paper & Brass" },
    offers: {
      "@type": "Offer",
      url: `${base}${path}`,
      price: said.price ?? ware.price,
      priceCurrency: "USD",
      availability: `https://schema.org/${said.available === false ? "OutOfStock" : "InStock"}`,
      itemCondition: "https://schema.org/NewCondition",
      shippingDetails: {
        "@type": "OfferShippingDetails",
        shippingRate: { "@type": "MonetaryAmount", value: "4.90", currency: "USD" },
        shippingDestination: { "@type": "DefinedRegion", addressCountry: "US" }
      },
      hasMerchantReturnPolicy: {
        "@type": "MerchantReturnPolicy",
        applicableCountry: "US",
        returnPolicyCategory: "https://schema.org/MerchantReturnFiniteReturnWindow",
        merchantReturnDays: 30
      }
    }
  })

const homeBody = (base: string, path: (ware: Ware) => string) =>
  `<p>Things for desks, made of paper and brass.</p><ul>${wares
    .map((ware) => `<li><a href="${base}${path(ware)}">${ware.name}</a> $${ware.price}</li>`)
    .join("")}</ul>`

/** The pages that hardly differ between shops: robots.txt, sitemap, llms.txt, home, list, search and policies. */
export const sharedPage = (
  base: string,
  url: URL,
  path: (ware: Ware) => string,
  more: { readonly robots?: string; readonly head?: string } = {}
): { readonly type: string; readonly text: string } | undefined => {
  const head = `${organization(base)}${more.head ?? ""}`
  const policy = /^\/policies\/(shipping|returns|privacy|terms)$/.exec(url.pathname)?.[1]
  if (policy !== undefined) {
    return {
      type: "text/html; charset=utf-8",
      text: page(
        base,
        `Our ${policy} policy`,
        "<p>We ship to the United States in two days; returns are free for 30 days.</p>",
        head
      )
    }
  }
  switch (url.pathname) {
    case "/robots.txt":
      return { type: "text/plain", text: more.robots ?? robotsText(base) }
    case "/sitemap.xml":
      return { type: "application/xml", text: sitemap(base, path) }
    case "/llms.txt":
      return { type: "text/plain", text: llms(base) }
    case "/":
    case "/collections/all":
      return {
        type: "text/html; charset=utf-8",
        text: page(base, "Paper and brass for desks", homeBody(base, path), head)
      }
    case "/contact":
      return { type: "text/html; charset=utf-8", text: page(base, "Contact", "<p>help@shop.example</p>", head) }
    case "/search": {
      const words = (url.searchParams.get("q") ?? "").toLowerCase().split(/\s+/).filter(Boolean)
      const found = wares.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
      const list = found
        .map((ware) => `<li><a href="${base}${path(ware)}">${ware.name}</a> $${ware.price}</li>`)
        .join("")
      return {
        type: "text/html; charset=utf-8",
        text: page(base, "Search", `<p>${found.length} found</p><ul>${list}</ul>`, head)
      }
    }
    default:
      return undefined
  }
}

export const send = (
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string | Array<string>>> = { "content-type": "text/html; charset=utf-8" }
) => {
  response.writeHead(status, headers)
  response.end(text)
}
export const sendJson = (
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string | Array<string>>> = {}
) => send(response, status, JSON.stringify(value), { "content-type": "application/json", ...headers })

export const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString("utf8")
}

/** One cart for each visitor, known by a cookie or a token. */
export class Sessions<State> {
  readonly states = new Map<string, State>()
  readonly #fresh: () => State
  constructor(fresh: () => State) {
    this.#fresh = fresh
  }
  of(id: string | undefined): { readonly id: string; readonly state: State } {
    const known = id === undefined ? undefined : this.states.get(id)
    if (id !== undefined && known !== undefined) return { id, state: known }
    const made = { id: `s${this.states.size + 1}`, state: this.#fresh() }
    this.states.set(made.id, made.state)
    return made
  }
}

export const cookieOf = (request: IncomingMessage, name: string): string | undefined =>
  (request.headers.cookie ?? "")
    .split(/;\s*/)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)
