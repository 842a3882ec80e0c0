import type { MerchantCategory, Region } from "./Scan.ts"
import type { Economics, StepResult } from "./ShoppingTest.ts"

/** Who changes a figure below gives the table another version. */
export const economicsTableVersion = "2026-11.1"

/** What an average shop of a category is taken to do, and on whose word. `published` figures have a source, `assumed` ones are ours. */
export interface Baseline {
  readonly monthly_sessions: number
  readonly conversion_rate: number
  readonly average_order_value_usd: number
  readonly standing: "published" | "assumed"
  readonly basis: string
}

const baseline = (
  sessions: number,
  conversionRate: number,
  orderValue: number,
  standing: Baseline["standing"],
  basis: string
): Baseline => ({
  monthly_sessions: sessions,
  conversion_rate: conversionRate,
  average_order_value_usd: orderValue,
  standing,
  basis
})

/** The baselines. Sessions are assumed everywhere; `standing` is that of the other two figures. */
export const baselines: Readonly<Record<MerchantCategory, Baseline>> = {
  retail: baseline(
    100_000,
    0.025,
    150,
    "published",
    "Conversion of all industries is 1.9-3.2 % (IRP 1.89 %, others 2.5-3.2 %). The order value lies between fashion 196, multi-brand 94, consumer goods 211, home 253 and beauty 71 USD (Dynamic Yield by way of Oberlo, September 2024)."
  ),
  marketplace: baseline(
    300_000,
    0.03,
    94,
    "published",
    "Order value of multi-brand shops (Dynamic Yield, September 2024); the conversion is assumed."
  ),
  restaurant: baseline(
    40_000,
    0.046,
    40,
    "published",
    "Conversion of food and beverage shops, 4.6 % (Dynamic Yield, September 2024); their order value of 114 USD is that of groceries, so 40 is assumed."
  ),
  b2b: baseline(
    30_000,
    0.023,
    450,
    "published",
    "Conversion of B2B shops is 2.2-2.6 % (elogic); the order value is assumed."
  ),
  healthcare: baseline(
    60_000,
    0.033,
    71,
    "published",
    "Conversion and order value of health and beauty, 3.3 % and 71 USD (Dynamic Yield, September 2024)."
  ),
  travel: baseline(120_000, 0.015, 400, "assumed", "No published figures of this kind; low confidence."),
  saas: baseline(50_000, 0.02, 80, "assumed", "No published figures of this kind; low confidence."),
  fintech: baseline(50_000, 0.015, 80, "assumed", "No published figures of this kind; low confidence."),
  media: baseline(50_000, 0.015, 60, "assumed", "No published figures of this kind; low confidence."),
  other: baseline(50_000, 0.015, 60, "assumed", "No published figures of this kind; low confidence.")
}

/** The share of sessions that come from agents. */
export const agentShare = {
  value: 0.01,
  basis:
    "All AI assistants together are about 1 % of sessions; ChatGPT alone was 0.2 % over 973 shops, and claims for the mid-market are 0.5-3 %."
} as const

/** How much better agents' visits convert than others. */
export const agentUplift = {
  value: 1,
  basis:
    "Adobe saw AI referrals convert 42 % better in the first quarter of 2026, but sells the remedy; a paper on 973 shops found the opposite. So neither."
} as const

/** Order values of a region against those of the Americas. */
export const regionFactors: Readonly<Record<Region, number>> = {
  latam: 1,
  north_america: 1,
  europe: 0.87,
  africa: 0.87,
  mena: 0.87,
  apac: 0.73
}
export const regionFactorBasis =
  "Order values of one benchmark (Dynamic Yield): Americas 180, EMEA 157, APAC 132 USD. Without a region the factor is 1."

/** How many visits a shop of a region has against the average. There is no data yet, so 1. */
const visitsFactor = 1

/**
 * The share of agents that would not come through: steps that failed, or came after one that did, of those that could be tried. What
 * could not be tried here says nothing and costs nothing.
 */
export const failureRateOf = (steps: ReadonlyArray<Pick<StepResult, "status">>): number => {
  if (!steps.some(({ status }) => status === "failed")) return 0
  const completed = steps.filter(({ status }) => status === "passed" || status === "degraded").length
  return 1 - roundTo(100 * (completed / steps.length), 1) / 100
}

/** `value` with so many decimals, halves up; what binary fractions lose by a hair is not lost. */
export const roundTo = (value: number, decimals: number): number => {
  const scale = 10 ** decimals
  const scaled = value * scale
  return Math.round(scaled + Math.abs(scaled) * Number.EPSILON) / scale
}

/** The estimates of a test's record, and everything that went into them. */
export interface Projection {
  readonly estimated_monthly_agent_visits: number
  readonly estimated_lost_conversions: number
  readonly estimated_lost_revenue_usd: number
  readonly economics: Economics
}

/** What agents that do not come through cost a shop like this in a month. The revenue is of the unrounded conversions. */
export const project = (category: MerchantCategory, region: Region | null, failureRate: number): Projection => {
  const { average_order_value_usd, conversion_rate, monthly_sessions } = baselines[category]
  const regionFactor = region === null ? 1 : regionFactors[region]
  const visits = Math.round(monthly_sessions * agentShare.value * visitsFactor)
  const conversions = visits * conversion_rate * agentUplift.value * failureRate
  return {
    estimated_monthly_agent_visits: visits,
    estimated_lost_conversions: Math.round(roundTo(conversions, 9)),
    estimated_lost_revenue_usd: roundTo(conversions * average_order_value_usd * regionFactor, 2),
    economics: {
      merchant_category: category,
      region,
      monthly_sessions,
      agent_share: agentShare.value,
      conversion_rate,
      average_order_value_usd,
      uplift: agentUplift.value,
      region_factor: regionFactor,
      failure_rate: roundTo(failureRate, 3),
      table_version: economicsTableVersion
    }
  }
}
