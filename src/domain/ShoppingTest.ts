import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { MerchantCategory, Region, RequestMade, Vantage } from "./Scan.ts"

/** How far a test goes: each runs the steps of those before it and one more. */
export const TestType = Schema.Literals(["browse", "search", "add_to_cart", "checkout", "full_flow"])
export type TestType = typeof TestType.Type

export const Step = Schema.Literals(["discovery", "selection", "cart", "checkout", "payment"])
export type Step = typeof Step.Type

/** The steps that a test of this type plans. */
export const stepsOf = (type: TestType): ReadonlyArray<Step> =>
  Step.literals.slice(0, TestType.literals.indexOf(type) + 1)

/** Over which interface of the shop a step went. */
export const ShopRail = Schema.Literals(["ucp", "platform_api", "html_form", "browser"])
export type ShopRail = typeof ShopRail.Type

/** The identifiers of what stops or hinders an agent. The first five are the interface's own. */
export const BlockerId = Schema.Literals([
  "no_structured_data",
  "captcha_required",
  "account_required",
  "javascript_wall",
  "unsupported_payment_method",
  "robots_disallowed",
  "bot_challenge",
  "site_unreachable",
  "rate_limited",
  "geo_restricted",
  "no_products_found",
  "sitemap_missing",
  "redirects_across_hosts",
  "out_of_stock",
  "price_mismatch",
  "search_unusable",
  "variant_ambiguous",
  "add_to_cart_failed",
  "variant_required",
  "price_changed_in_cart",
  "minimum_order",
  "checkout_form_unrecognized",
  "address_rejected",
  "no_shipping_option",
  "labels_missing",
  "total_unknown_before_payment",
  "no_payment_method",
  "three_ds_likely",
  "only_deferred_payment",
  "order_taken",
  "order_uncertain"
])
export type BlockerId = typeof BlockerId.Type

/** `blocking`: an agent cannot go on. `warning`: it went on with less certainty. */
export const Blocker = Schema.Struct({
  id: BlockerId,
  severity: Schema.Literals(["blocking", "warning"]),
  step: Step,
  detail: Schema.String,
  /** At most 300 characters of what was seen. */
  evidence: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Blocker" })
export type Blocker = typeof Blocker.Type

/** `degraded` is passed with a warning; `unknown` could not be tried here, for the reason in `detail`; `skipped` came after a stop. */
export const StepResult = Schema.Struct({
  step: Step,
  status: Schema.Literals(["passed", "degraded", "failed", "skipped", "unknown"]),
  rail: Schema.NullOr(ShopRail),
  duration_ms: Schema.Int,
  detail: Schema.String,
  evidence: Schema.NullOr(Schema.String)
}).annotate({ identifier: "StepResult" })
export type StepResult = typeof StepResult.Type

/** What the agent chose to buy. `price` is a decimal string. */
export const ChosenProduct = Schema.Struct({
  name: Schema.String,
  url: Schema.NullOr(Schema.String),
  sku: Schema.NullOr(Schema.String),
  price: Schema.NullOr(Schema.String),
  currency: Schema.NullOr(Schema.String),
  variant: Schema.NullOr(Schema.String)
}).annotate({ identifier: "ChosenProduct" })
export type ChosenProduct = typeof ChosenProduct.Type

/** Everything of a test's record that comes from the site. */
const outcomeFields = {
  status: Schema.Literals(["passed", "partial", "failed"]),
  /** 100 x completed / planned steps, one decimal. */
  success_rate: Schema.Finite,
  steps: Schema.Array(StepResult),
  blockers: Schema.Array(Blocker),
  failure_point: Schema.NullOr(Schema.Struct({ step: Step, blocker: Schema.String, detail: Schema.String })),
  product: Schema.NullOr(ChosenProduct),
  platform: Schema.NullOr(Schema.String),
  recommendations: Schema.Array(Schema.String),
  requests: Schema.Array(RequestMade),
  vantage: Vantage,
  rubric_version: Schema.String,
  test_duration_ms: Schema.Int
}
export const TestOutcome = Schema.Struct(outcomeFields)
export type TestOutcome = typeof TestOutcome.Type

/** What went into the projection of lost revenue, so that anybody can do it again; see docs/scanner.md. */
export const Economics = Schema.Struct({
  merchant_category: MerchantCategory,
  region: Schema.NullOr(Region),
  monthly_sessions: Schema.Finite,
  agent_share: Schema.Finite,
  conversion_rate: Schema.Finite,
  average_order_value_usd: Schema.Finite,
  uplift: Schema.Finite,
  region_factor: Schema.Finite,
  failure_rate: Schema.Finite,
  table_version: Schema.String
}).annotate({ identifier: "Economics" })
export type Economics = typeof Economics.Type

/** The record of a test. The estimates are there when the merchant's category is known. */
export const ShoppingTest = Schema.Struct({
  id: Schema.String,
  domain: Schema.String,
  test_type: TestType,
  ...outcomeFields,
  estimated_monthly_agent_visits: Schema.optionalKey(Schema.Int),
  estimated_lost_conversions: Schema.optionalKey(Schema.Int),
  estimated_lost_revenue_usd: Schema.optionalKey(Schema.Finite),
  economics: Schema.optionalKey(Economics),
  report_url: Schema.String,
  tested_at: Moment
}).annotate({ identifier: "AgentShoppingTestResult" })
export type ShoppingTest = typeof ShoppingTest.Type
