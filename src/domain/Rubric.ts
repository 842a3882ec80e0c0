import type { CheckGroup } from "./Scan.ts"

/** The questions of a scan, as data: who changes one gives the rubric another version. */
export const rubricVersion = "2026-11.2"

/** One question: how much of its sub-score it is worth, and the standard that it asks for (null: a convention). */
export interface Question {
  readonly group: CheckGroup
  readonly title: string
  readonly points: number
  readonly spec: string | null
}

const question = (group: CheckGroup, points: number, title: string, spec: string | null = null): Question => ({
  group,
  points,
  title,
  spec
})

export const rubric = {
  home_reachable: question(
    "accessibility",
    8,
    "Home page reachable over TLS",
    "https://www.rfc-editor.org/rfc/rfc9110"
  ),
  agents_not_challenged: question("accessibility", 12, "Agents are not challenged"),
  robots_allows_agents: question(
    "accessibility",
    10,
    "robots.txt lets shopping agents in",
    "https://www.rfc-editor.org/rfc/rfc9309"
  ),
  training_policy_stated: question(
    "accessibility",
    2,
    "Policy for training crawlers is stated",
    "https://www.rfc-editor.org/rfc/rfc9309"
  ),
  content_signals: question("accessibility", 1, "Content signals", "https://contentsignals.org/"),
  web_bot_auth: question("accessibility", 0, "Web Bot Auth", "https://www.rfc-editor.org/rfc/rfc9421"),
  same_for_browsers: question("accessibility", 0, "Agents and browsers get the same answer"),
  robots_matches_wall: question(
    "accessibility",
    0,
    "What robots.txt allows, the site's wall allows",
    "https://www.rfc-editor.org/rfc/rfc9309"
  ),
  works_without_javascript: question("accessibility", 14, "Product pages work without JavaScript"),
  operable_structure: question("accessibility", 8, "Pages can be operated by name", "https://www.w3.org/TR/WCAG22/"),
  latency: question("accessibility", 5, "Answers come quickly"),
  honest_not_found: question("accessibility", 3, "Missing pages say 404", "https://www.rfc-editor.org/rfc/rfc9110"),
  no_walls: question("accessibility", 7, "No account, cookie, age or country wall before the cart"),
  product_json_ld: question("data", 24, "Product in JSON-LD", "https://schema.org/Product"),
  offer_clarity: question("data", 18, "Price, currency and availability stated", "https://schema.org/Offer"),
  price_consistent: question("data", 8, "Structured price equals visible price"),
  shipping_returns: question(
    "data",
    8,
    "Shipping and returns machine-readable",
    "https://schema.org/MerchantReturnPolicy"
  ),
  variants_expressed: question("data", 6, "Variants expressed", "https://schema.org/ProductGroup"),
  sitemap_products: question("data", 10, "Sitemap with product pages", "https://www.sitemaps.org/protocol.html"),
  product_feed: question("data", 10, "Catalogue or product feed"),
  search_usable: question("data", 8, "Site search usable", "https://schema.org/SearchAction"),
  organization_identity: question("data", 4, "Who sells, and on what terms", "https://schema.org/Organization"),
  llms_txt: question("data", 2, "llms.txt or agents.md", "https://llmstxt.org/"),
  markdown_negotiation: question(
    "data",
    2,
    "Pages as Markdown on request",
    "https://www.rfc-editor.org/rfc/rfc9110#section-12"
  ),
  ucp_profile: question("protocol", 24, "UCP profile", "https://ucp.dev/"),
  ucp_functional: question("protocol", 16, "UCP answers", "https://ucp.dev/"),
  acp: question("protocol", 14, "Agentic Commerce Protocol", "https://www.agenticcommerce.dev/"),
  x402: question("protocol", 6, "x402 payments", "https://www.x402.org/"),
  ap2: question("protocol", 6, "AP2 mandates", "https://ap2-protocol.org/"),
  mcp_server: question("protocol", 12, "MCP server", "https://modelcontextprotocol.io/"),
  a2a_card: question("protocol", 4, "A2A agent card", "https://a2a-protocol.org/"),
  webmcp: question("protocol", 4, "WebMCP tools", "https://webmachinelearning.github.io/webmcp/"),
  nlweb: question("protocol", 3, "NLWeb", "https://nlweb.ai/"),
  oauth_metadata: question("protocol", 4, "OAuth metadata", "https://www.rfc-editor.org/rfc/rfc8414"),
  api_catalog: question("protocol", 4, "API catalogue", "https://www.rfc-editor.org/rfc/rfc9727"),
  card_programmes: question("protocol", 3, "Card network programmes"),
  cart_api: question("checkout", 20, "Platform known and its cart open"),
  guest_checkout: question("checkout", 25, "Guest checkout"),
  payment_methods: question("checkout", 25, "Payment methods that an agent can use"),
  no_captcha: question("checkout", 15, "No captcha on cart and checkout"),
  form_recognizable: question(
    "checkout",
    10,
    "Checkout form recognisable",
    "https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#autofill"
  ),
  total_before_payment: question("checkout", 5, "Total known before payment")
} as const

export type QuestionId = keyof typeof rubric

export const questionIds: ReadonlyArray<QuestionId> = Object.keys(rubric).filter((id): id is QuestionId => id in rubric)

/** How much of the readiness score each group is worth: for shops, and for sites whose customers are programs or readers. */
export const groupWeights: Readonly<Record<"shop" | "service", Readonly<Record<CheckGroup, number>>>> = {
  shop: { accessibility: 0.25, data: 0.3, protocol: 0.2, checkout: 0.25 },
  service: { accessibility: 0.25, data: 0.25, protocol: 0.3, checkout: 0.2 }
}

/** The highest readiness score of a site that keeps agents out. */
export const gateCaps = { robots_disallow_agents: 35, agents_challenged: 30 } as const

/** The least score of each band, best first. */
export const bands = [
  ["ready", 80],
  ["mostly_ready", 60],
  ["partly_ready", 40],
  ["not_ready", 0]
] as const

/** An answer to a question of the rubric, before points are given. */
export interface Answer {
  readonly id: QuestionId
  readonly status: "pass" | "warn" | "fail" | "unknown" | "not_applicable"
  readonly message: string
  readonly evidence: {
    readonly url: string
    readonly status: number | null
    readonly snippet: string | null
    readonly ms: number | null
  } | null
  /** What to do about it, for this site; null when nothing. */
  readonly fix: string | null
  /** This share of the points instead of what the status gives: a shape that no call confirmed, or four fields of five. */
  readonly share?: number
}
