import { Duration, Effect, Layer } from "effect"
import type { CheckStatus, MerchantCategory, ScanFindings } from "#domain/Scan.ts"
import { ScanEngine } from "#services/ScanEngine.ts"
import { ScanLimits } from "#services/ScanEngine/Limits.ts"
import { SiteVisits, type VisitLimits } from "#services/SiteVisits.ts"
import { SiteVisitsPolicy } from "#services/SiteVisits/Policy.ts"
import { Deployment } from "#services/Deployment.ts"
import type { PageReading } from "#services/PageReading.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import * as PageReadingHere from "./PageReadingHere.ts"

const deployment = {
  environment: "sandbox",
  publicUrl: "https://turnpike.test",
  scannerUrl: "https://scanner.turnpike.test"
} as const

/** As many requests as a scan has, but time enough on any machine: what a scan sees must not depend on how busy that is. */
const ample = {
  ...ScanLimits.defaultValue(),
  duration: Duration.minutes(2),
  perRequest: Duration.minutes(1),
  pace: Duration.millis(1)
}

/** The engine over real visits; only these hosts may be visited although they are private. */
export const engine = (
  allowHosts: ReadonlyArray<string>,
  limits: Partial<VisitLimits> = {},
  pages: Layer.Layer<PageReading> = PageReadingHere.layer,
  policy: Partial<SiteVisitsPolicy> = {}
) =>
  ScanEngine.layer.pipe(
    Layer.provideMerge(SiteVisits.layer),
    Layer.provide([
      pages,
      Layer.succeed(Deployment, deployment),
      Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowHosts }),
      Layer.succeed(SiteVisitsPolicy, {
        ...SiteVisitsPolicy.defaultValue(),
        connectTimeout: Duration.minutes(1),
        ...policy
      }),
      Layer.succeed(ScanLimits, { ...ample, ...limits })
    ])
  )

export interface ScanOptions {
  readonly category?: MerchantCategory
  readonly limits?: Partial<VisitLimits>
  /** Hosts that the site leads to. */
  readonly alsoListed?: ReadonlyArray<string>
  readonly pages?: Layer.Layer<PageReading>
  readonly policy?: Partial<SiteVisitsPolicy>
}

/** A scan of a listed fixture, in real time. */
export const scanOf = (domain: string, { alsoListed = [], category, limits = {}, pages, policy }: ScanOptions = {}) =>
  Effect.provide(
    Effect.gen(function* () {
      const visits = yield* SiteVisits
      const { scan } = yield* ScanEngine
      return yield* scan(visits.locate(domain), { merchant_category: category ?? null })
    }),
    engine([domain, ...alsoListed], limits, pages, policy)
  )

/** The checks outside the protocols by their status, so that a whole scan is one value. */
export const statuses = ({ checks }: ScanFindings): Partial<Record<CheckStatus, string>> => {
  const found: Partial<Record<CheckStatus, string>> = {}
  for (const { group, id, status } of checks) {
    if (group === "protocol") continue
    found[status] = found[status] === undefined ? id : `${found[status]} ${id}`
  }
  return found
}

/** Findings without what two scans of the same site may differ in: how long things took. */
export const timeless = (findings: ScanFindings) => ({
  ...findings,
  scan_duration_ms: 0,
  requests: findings.requests.map(({ method, status, url }) => `${method} ${url} ${status}`).toSorted(),
  checks: findings.checks.map((check) => ({
    ...check,
    message: check.id === "latency" ? "" : check.message,
    evidence: check.evidence && { ...check.evidence, ms: 0 }
  })),
  accessibility: findings.accessibility && { ...findings.accessibility, median_ttfb_ms: 0 },
  protocol_results: findings.protocol_results.map((result) => ({ ...result, response_time_ms: 0 }))
})
