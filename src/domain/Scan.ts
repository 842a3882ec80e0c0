import { Schema } from "effect"
import { Moment } from "./Instant.ts"

/** Identifier of a scan or a test: a plain uuid everywhere, as the interface shows it. */
const uuid = Schema.String.check(
  Schema.isPattern(/^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$/u, {
    expected: "a uuid"
  })
)
export const ScanId = uuid.pipe(Schema.brand("ScanId"))
export type ScanId = typeof ScanId.Type

export const MerchantCategory = Schema.Literals([
  "retail",
  "saas",
  "marketplace",
  "restaurant",
  "b2b",
  "travel",
  "fintech",
  "healthcare",
  "media",
  "other"
])
export type MerchantCategory = typeof MerchantCategory.Type

export const Region = Schema.Literals(["latam", "north_america", "europe", "apac", "africa", "mena"])
export type Region = typeof Region.Type

/** ISO 3166-1 alpha-2, in upper case. */
export const CountryCode = Schema.String.check(
  Schema.isPattern(/^[A-Z]{2}$/u, { expected: "two upper-case letters such as US (ISO 3166-1 alpha-2)" })
)
export type CountryCode = typeof CountryCode.Type

/** `stale` is a completed scan that is 24 hours old or older; it is never stored. */
export const ScanStatus = Schema.Literals(["pending", "scanning", "completed", "failed", "stale"])
export type ScanStatus = typeof ScanStatus.Type

/** What a check belongs to, and which sub-score it counts in. */
export const CheckGroup = Schema.Literals(["accessibility", "data", "protocol", "checkout"])
export type CheckGroup = typeof CheckGroup.Type

/** `unknown` could not be observed, and counts neither for nor against the site; `not_applicable` likewise. */
export const CheckStatus = Schema.Literals(["pass", "warn", "fail", "unknown", "not_applicable"])
export type CheckStatus = typeof CheckStatus.Type

/** What was seen: one answer of the site. `snippet` is at most 300 characters of it, a header or a piece of the body. */
export const Evidence = Schema.Struct({
  url: Schema.String,
  status: Schema.NullOr(Schema.Int),
  snippet: Schema.NullOr(Schema.String),
  ms: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "Evidence" })
export type Evidence = typeof Evidence.Type

/** One question of the rubric, answered. `points` is null when it does not count. */
export const Check = Schema.Struct({
  id: Schema.String,
  group: CheckGroup,
  title: Schema.String,
  status: CheckStatus,
  points: Schema.NullOr(Schema.Finite),
  max_points: Schema.Finite,
  message: Schema.String,
  evidence: Schema.NullOr(Evidence),
  fix: Schema.NullOr(Schema.String),
  spec: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ScanCheck" })
export type Check = typeof Check.Type

export const Protocol = Schema.Literals([
  "ucp",
  "acp",
  "x402",
  "ap2",
  "mcp",
  "a2a",
  "nlweb",
  "webmcp",
  "visa_vic",
  "mastercard_agentpay"
])
export type Protocol = typeof Protocol.Type

/**
 * `confirmed` answered a real call; `eligible` is declared but no call of ours confirmed it; `platform_enabled` comes with the shop's
 * platform.
 */
export const ProtocolStatus = Schema.Literals([
  "confirmed",
  "eligible",
  "platform_enabled",
  "not_detected",
  "not_applicable",
  "unknown"
])
export type ProtocolStatus = typeof ProtocolStatus.Type

export const Confidence = Schema.Literals(["high", "medium", "low"])
export type Confidence = typeof Confidence.Type

export const ProtocolResult = Schema.Struct({
  protocol: Protocol,
  status: ProtocolStatus,
  confidence: Confidence,
  /** Which release of the protocol it was judged against. */
  version: Schema.NullOr(Schema.String),
  detection_method: Schema.NullOr(Schema.String),
  endpoint_url: Schema.NullOr(Schema.String),
  capabilities: Schema.Array(Schema.String),
  /** Null when no call could be made. */
  is_functional: Schema.NullOr(Schema.Boolean),
  response_time_ms: Schema.NullOr(Schema.Int),
  /** What is wrong with what was declared, at most 20 lines. */
  problems: Schema.Array(Schema.String)
}).annotate({ identifier: "ProtocolResult" })
export type ProtocolResult = typeof ProtocolResult.Type

/** One request of ours, exactly as it was sent, and what came back. */
export const RequestMade = Schema.Struct({
  method: Schema.String,
  url: Schema.String,
  user_agent: Schema.String,
  accept: Schema.String,
  status: Schema.NullOr(Schema.Int),
  /** Why there is no status: `timeout`, `unreachable`, `forbidden_address` and so on. */
  failure: Schema.NullOr(Schema.String),
  ms: Schema.Int,
  bytes: Schema.Int
}).annotate({ identifier: "RequestMade" })
export type RequestMade = typeof RequestMade.Type

/** What a page says of its product, in the site's own words. */
export const StructuredData = Schema.Struct({
  product_url: Schema.NullOr(Schema.String),
  formats: Schema.Array(Schema.Literals(["json-ld", "microdata", "rdfa", "opengraph", "platform_api"])),
  product: Schema.NullOr(
    Schema.Struct({
      name: Schema.NullOr(Schema.String),
      price: Schema.NullOr(Schema.String),
      currency: Schema.NullOr(Schema.String),
      availability: Schema.NullOr(Schema.String),
      sku: Schema.NullOr(Schema.String),
      gtin: Schema.NullOr(Schema.String),
      brand: Schema.NullOr(Schema.String),
      image: Schema.NullOr(Schema.String)
    })
  ),
  /** Every schema.org type seen, at most 50. */
  types: Schema.Array(Schema.String)
}).annotate({ identifier: "StructuredData" })
export type StructuredData = typeof StructuredData.Type

/** How the site meets agents. `challenge` names the vendor of a wall that we met. */
export const Accessibility = Schema.Struct({
  robots_allows_agents: Schema.NullOr(Schema.Boolean),
  blocked_agents: Schema.Array(Schema.String),
  challenge: Schema.NullOr(Schema.String),
  differs_by_user_agent: Schema.NullOr(Schema.Boolean),
  works_without_javascript: Schema.NullOr(Schema.Boolean),
  requires_account: Schema.NullOr(Schema.Boolean),
  median_ttfb_ms: Schema.NullOr(Schema.Int),
  http_version: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ScanAccessibility" })
export type Accessibility = typeof Accessibility.Type

/** What to do first: the failed and half-passed checks, by how much of the score they would give back. */
export const Recommendation = Schema.Struct({
  check: Schema.String,
  priority: Schema.Literals(["high", "medium", "low"]),
  /** Points of the readiness score, rounded to one decimal. */
  gain: Schema.Finite,
  fix: Schema.String,
  spec: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Recommendation" })
export type Recommendation = typeof Recommendation.Type

/** Why the score is lower than its parts: the site keeps agents out altogether. */
export const Gate = Schema.Struct({
  id: Schema.Literals(["robots_disallow_agents", "agents_challenged"]),
  cap: Schema.Int,
  message: Schema.String
}).annotate({ identifier: "ScanGate" })
export type Gate = typeof Gate.Type

export const Band = Schema.Literals(["ready", "mostly_ready", "partly_ready", "not_ready"])
export type Band = typeof Band.Type

/** From where and as whom we looked: a wall that we met may stand for us alone. */
export const Vantage = Schema.Struct({
  user_agent: Schema.String,
  network: Schema.String
}).annotate({ identifier: "Vantage" })
export type Vantage = typeof Vantage.Type

const score = Schema.NullOr(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })))

/** What looking at a site gives: everything of a scan's record that comes from the site. */
const findingsFields = {
  url: Schema.String,
  business_model: Schema.NullOr(Schema.Literals(["retail", "saas", "marketplace", "api_provider", "content"])),
  readiness_score: score,
  /** What the score would be if everything unknown failed, and if it passed. */
  score_range: Schema.NullOr(Schema.Struct({ low: Schema.Int, high: Schema.Int })),
  band: Schema.NullOr(Band),
  protocol_score: score,
  data_score: score,
  accessibility_score: score,
  checkout_score: score,
  confidence: Schema.NullOr(Confidence),
  gates: Schema.Array(Gate),
  rubric_version: Schema.String,
  checks: Schema.Array(Check),
  protocol_results: Schema.Array(ProtocolResult),
  structured_data: Schema.NullOr(StructuredData),
  accessibility: Schema.NullOr(Accessibility),
  platform: Schema.NullOr(Schema.String),
  recommendations: Schema.Array(Recommendation),
  requests: Schema.Array(RequestMade),
  vantage: Vantage,
  scan_duration_ms: Schema.Int,
  error_message: Schema.NullOr(Schema.String)
}
/** `failed`: the site could not be reached at all; there is no score then, and `error_message` says why. */
export const ScanFindings = Schema.Struct({ status: Schema.Literals(["completed", "failed"]), ...findingsFields })
export type ScanFindings = typeof ScanFindings.Type

/** What is known of a site that nothing was seen of. */
export const nothingSeen = {
  business_model: null,
  readiness_score: null,
  score_range: null,
  band: null,
  protocol_score: null,
  data_score: null,
  accessibility_score: null,
  checkout_score: null,
  confidence: null,
  gates: [],
  checks: [],
  protocol_results: [],
  structured_data: null,
  accessibility: null,
  platform: null,
  recommendations: [],
  error_message: null
} as const

/** What a caller may say of a merchant; the newest word stands. */
const merchantFields = {
  merchant_name: Schema.NullOr(Schema.String),
  merchant_category: Schema.NullOr(MerchantCategory),
  country_code: Schema.NullOr(CountryCode),
  region: Schema.NullOr(Region)
}

const timestamp = Moment

/**
 * A scan in the corpus that all tenants share; who asked for it is never part of it. Before it has run, everything that comes from
 * the site is null or empty.
 */
export const MerchantScan = Schema.Struct({
  id: ScanId,
  domain: Schema.String,
  ...merchantFields,
  ...findingsFields,
  status: ScanStatus,
  /** Where anybody who has the address can read it as a page. */
  report_url: Schema.String,
  scanned_at: Schema.NullOr(timestamp),
  created_at: timestamp,
  updated_at: timestamp
}).annotate({ identifier: "MerchantScan" })
export type MerchantScan = typeof MerchantScan.Type
