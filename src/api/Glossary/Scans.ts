import type { Terms } from "./Terms.ts"

type Fields = Terms[string]

const CreateScan: Fields = {
  domain:
    "The merchant's domain, or an address at it: one spelling is made of it, lower case, without scheme, path, port and final dot, in A-labels",
  merchant_name: "What the merchant is called. Left out or null: what was said before stands",
  merchant_category:
    "What kind of merchant it is; it decides which weights the score has, and opens the estimates of tests. Left out or null: what was " +
    "said before stands, and where nothing was, this scan goes by what the site looks like",
  country_code:
    "Where the merchant is: ISO 3166-1 alpha-2, in any case; tests give an address there. Left out or null: what was said before stands",
  region: "Where the merchant sells, for the estimates of tests. Left out or null: what was said before stands",
  skip_if_fresh:
    "True: a completed scan of less than 24 hours is the answer where there is one, costs nothing, and of what is said of the merchant " +
    "here only that is kept which nobody has said before"
}

const groupScores = {
  protocol_score: "How well the site speaks protocols of agents, from 0 to 100; null where too little was seen",
  data_score:
    "How well products, prices and policies can be read as data, from 0 to 100; null where too little was seen",
  accessibility_score:
    "How well an agent gets in and can work the pages, from 0 to 100; null where too little was seen",
  checkout_score: "How well an agent can buy, from 0 to 100; null where too little was seen"
}
const readiness_score =
  "Weighted mean of the four scores below it, from 0 to 100, capped by `gates`; null until the scan is completed, and where too little was " +
  "seen for one"
const rubric_version = "Version of the rubric it was judged by, `version` of `GET /v1/scanner/rubric`"
const spec = "Address of the standard; null where there is none"

const MerchantScan: Fields = {
  id: "UUID of the scan",
  domain: "The domain in the one spelling that it has here: lower case, without scheme, path and port, in A-labels",
  merchant_name: "What was said of the merchant last, by anybody who had it scanned; null where nobody did",
  merchant_category: "What kind of merchant it was said to be last; null where nobody did",
  country_code: "Where it was said to be last, ISO 3166-1 alpha-2; null where nobody did",
  region: "Where it was said to sell last; null where nobody did",
  url: "The home page where redirects ended, or where it was looked for; empty until the scan has run",
  business_model: "What the site looks like to us; null where nothing tells",
  readiness_score,
  score_range:
    "Between what bounds the score is, because of what could not be seen; null where nothing was seen that counts",
  "score_range.low": "The score if everything unknown failed",
  "score_range.high": "The score if everything unknown passed",
  band: "`ready` from 80, `mostly_ready` from 60, `partly_ready` from 40, else `not_ready`; null without a `readiness_score`",
  ...groupScores,
  confidence:
    "How much of what applies was seen: `low` where 40 % or more is unknown, `medium` from 15 % or where a group has no score; null where " +
    "nothing was seen that counts",
  gates: "What caps the score, because the site keeps agents out; empty where nothing does",
  rubric_version,
  checks: "Every question of the rubric, answered; empty until the scan is completed",
  protocol_results: "What was found of each protocol of agents; empty until the scan is completed",
  structured_data: "What pages say of a product as data; null where no page could be read",
  accessibility: "How the site meets agents; null until the scan is completed",
  platform: "What the shop runs on, such as `shopify` or `woocommerce`; null where nothing tells",
  recommendations: "What to do, by how much of the score it gives back",
  requests: "Every request that was sent, in order; 24 at most",
  vantage: "From where and as whom we looked: a wall that we met may stand for us alone",
  scan_duration_ms: "How long looking at the site took, in milliseconds; 0 until the scan has run",
  error_message: "Why the site could not be looked at; null unless `failed`",
  status:
    "`pending`: waiting to begin; `scanning`: under way; `failed`: the site could not be looked at; `stale`: completed 24 hours ago or earlier",
  report_url: "The scan as a page for people; opens without a key for whoever has this address",
  scanned_at: "When the scan ended; null until then",
  created_at: "When it was asked for first",
  updated_at: "When the scan ended; until then when it was asked for"
}

const Recommendation: Fields = {
  check: "`id` of the check to be improved",
  priority: "`high`: opens a gate or gains 4 points or more; `medium`: 1.5 or more",
  gain: "By how many points `readiness_score` would rise if nothing else changed, to one decimal",
  fix: "What to do, in words, for this site's platform where it is known",
  spec
}

const ScanAccessibility: Fields = {
  robots_allows_agents:
    "Whether robots.txt lets at least one shopping agent read the home page; null where it could not be read",
  blocked_agents:
    "Shopping agents that robots.txt keeps from the home page or from pages of products, by their product token",
  challenge: "Whose wall we met, such as `cloudflare`; null where we met none",
  differs_by_user_agent:
    "Whether an agent is answered otherwise than what looks like a browser; null where the two could not be compared",
  works_without_javascript:
    "Whether the page of a product, or the home page where nothing is sold, has its content before scripts run; null where it was not seen",
  requires_account:
    "True: a page up to the checkout asks for an account; false: none does, the checkout included; null: the checkout was not seen, or nothing shows that it sells",
  median_ttfb_ms: "Median time in milliseconds until pages began to answer; null where none did",
  http_version:
    "HTTP version of the home page's answer, such as `HTTP/1.1`; null where there was none. We ask by HTTP/1.1"
}

const StructuredData: Fields = {
  product_url: "The page of a product that this was read from; null where none was found",
  formats:
    "In which formats that page states products; `platform_api`: the catalogue of the shop's platform answers, too",
  product: "The product as the page states it, in the site's own words; null where it states none as data",
  "product.name": "What the product is called; null where it is not stated",
  "product.price": "Price of an offer: a decimal with a dot, or as the page writes it; null where it is not stated",
  "product.currency": "Currency of the price as the page states it; null where it does not",
  "product.availability":
    "Last part of its schema.org address, such as `InStock`, or the page's own word; null where it is not stated",
  "product.sku": "The merchant's own number of it; null where it is not stated",
  "product.gtin": "Its global trade item number; null where it is not stated",
  "product.brand": "Brand or maker; null where it is not stated",
  "product.image": "Address of a picture; null where it is not stated",
  types: "Types of schema.org in the JSON-LD of all pages that were read, at most 50"
}

const ProtocolResult: Fields = {
  protocol:
    "`visa_vic` and `mastercard_agentpay` are never found: nobody can see from outside whether a merchant takes part",
  status:
    "`confirmed`: answered a real call of ours; `eligible`: declared, and no call confirmed it; `platform_enabled`: comes with the shop's " +
    "platform; `not_detected`: looked for, and not there; `not_applicable`: of no use here, or cannot be seen from outside; `unknown`: " +
    "could not be looked for",
  confidence: "How sure `status` is",
  version: "The release that is declared, or by which it was judged where none is; null where it is not known",
  detection_method: "What it was found by, such as `/.well-known/ucp`; null where it was not found",
  endpoint_url: "Where it is spoken or declared, at most 2000 characters; null where there is no such address",
  capabilities: "What is offered by it, in its own names: capabilities, tools, skills or schemes; at most 50",
  is_functional:
    "True: a call was answered as it should be; false: what is declared does not work; null: no call tells",
  response_time_ms: "Milliseconds until the call was answered; null where none was made",
  problems: "What is wrong with what is declared, or why nothing was found; at most 20 lines"
}

const ScanCheck: Fields = {
  id: "`id` of the question in the rubric",
  group: "Which of the four sub-scores it counts in",
  title: "What was asked, for people",
  status:
    "`pass` gives all points, `warn` half or another share, `fail` none; `unknown`: could not be seen, `not_applicable`: has no meaning for " +
    "this site, and both count neither for nor against it",
  points: "Points that it got; null where it does not count",
  max_points: "Points that a `pass` gives; 0: it is told, and never counts",
  message: "What was found, in a sentence",
  evidence: "What was seen; null where no request answers the question",
  fix: "What to do about it, in words; null where nothing is to be done",
  spec
}

const Evidence: Fields = {
  url: "The address that was looked at, where redirects ended",
  status: "HTTP status of the answer; null where there was none",
  snippet: "A piece of the answer, or why there was none; at most 300 characters, null where nothing shows",
  ms: "Milliseconds until the answer began, or until it was given up; null where it was not asked for"
}

const ScanGate: Fields = {
  id: "`robots_disallow_agents`: robots.txt keeps every shopping agent from the home page; `agents_challenged`: the home page refuses agents",
  cap: "The highest `readiness_score` behind it",
  message: "What was found, in a sentence"
}

const RequestMade: Fields = {
  method: "HTTP method",
  url: "The address that was asked; each redirect is a request of its own",
  user_agent: "`User-Agent` as it was sent: ours, or that of a plain browser for the one comparison",
  accept: "`Accept` as it was sent",
  status: "HTTP status of the answer; null where there was none",
  failure:
    "Why there is no status: `timeout`, `deadline` (our time for the site was over), `unreachable`, `name_not_found`, `tls`, " +
    "`bad_response`, `bad_request` (cannot be put into HTTP) or `forbidden_address` (not public); null where there is one",
  ms: "Milliseconds until the answer began, or until it was given up",
  bytes: "How long the body was as sent, as far as it was read; of a browser's request what the answer said, or 0"
}

const Vantage: Fields = {
  user_agent: "`User-Agent` by which we name ourselves; empty until the scan has run",
  network: "How we came, and from which host: `direct, from …`; empty until the scan has run"
}

const ScanChange: Fields = {
  id: "UUID of the scan",
  status:
    "`completed`: less than 24 hours ago; `stale`: 24 hours ago or earlier; `failed`: the site could not be looked at. The others are of " +
    "scans under way, which are not here",
  scanned_at: "When the scan ended",
  readiness_score: "Score of the scan, from 0 to 100; null where it failed or too little was seen",
  ...groupScores,
  rubric_version,
  changes: "What is otherwise than in the scan before it; null of the oldest",
  "changes.score_delta":
    "By how many points `readiness_score` rose, below zero where it fell; null where one of the two has none",
  "changes.checks": "The checks that are answered otherwise",
  "changes.checks.id": "`id` of the check",
  "changes.checks.from": "Answer in the scan before; null where that one did not ask it, as one that failed",
  "changes.checks.to": "Answer in this scan; null where it did not ask it, as one that failed"
}

const { skip_if_fresh, ...merchant } = CreateScan

/** Of scans: what is said of a merchant, and what was found at its site. */
export const scans: Terms = {
  CreateScan: { ...merchant, skip_if_fresh: `${skip_if_fresh}. Left out: as the batch says beside its targets` },
  "scans.scan": { ...merchant, skip_if_fresh: `${skip_if_fresh}. Left out: false` },
  MerchantScan,
  Recommendation,
  ScanAccessibility,
  StructuredData,
  ProtocolResult,
  ScanCheck,
  Evidence,
  ScanGate,
  RequestMade,
  Vantage,
  ScanChange
}
