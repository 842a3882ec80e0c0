import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { isCountry } from "#domain/Country.ts"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import { MerchantCategory, MerchantScan, Region, ScanId, ScanStatus } from "#domain/Scan.ts"
import { ScanChange, ScanStatistics } from "#domain/ScanHistory.ts"
import { InsufficientCredits, ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { IdempotencyKey, text } from "#domain/Text.ts"
import { Authorization, Requires, scanning, WaitsForOthers } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { exampleScan } from "./Examples/Scan.ts"
import { chargedOnce, idempotencyHeaders } from "./Idempotency.ts"
import { between, listParameters, page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

/** A merchant's domain, as loosely as people write it: the service makes one spelling of it. */
export const DomainText = text(2048).check(Schema.isMinLength(1))

const noCountry = "must be a country's code of ISO 3166-1 alpha-2, such as US"
const CountryText = Schema.String.check(
  Schema.isPattern(/^[A-Za-z]{2}$/u, { message: noCountry }).abort(),
  Schema.makeFilter((code) => (isCountry(code) ? undefined : noCountry))
)

/** What a scan is asked for. `country_code` may be in any case. */
export const CreateScan = Schema.Struct({
  domain: DomainText,
  merchant_name: Schema.optionalKey(Schema.NullOr(text(255))),
  merchant_category: Schema.optionalKey(Schema.NullOr(MerchantCategory)),
  country_code: Schema.optionalKey(Schema.NullOr(CountryText)),
  region: Schema.optionalKey(Schema.NullOr(Region)),
  skip_if_fresh: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "CreateScan" })
export type CreateScan = typeof CreateScan.Type

const limits = { minimum: 1, maximum: 100, default: 20 } as const
/** Query of the scanner's lists: at most 100 a page, 20 when not said. */
export const scannerPages = { page: pageQuery.page, limit: between(limits) }
/** The same as the reference shows it. */
export const shownPages = {
  limit: { schema: { type: "integer", ...limits }, description: listParameters.limit.description }
} as const
const scores = { minimum: 0, maximum: 100 } as const
const scoreBound = Schema.optionalKey(Schema.Int.check(Schema.isBetween(scores)))
const shownScore = (description: string) => ({ schema: { type: "integer", ...scores }, description })
const byDomain = { domain: DomainText }

/** How an operation is refused that is charged for, and looks at a site before it answers. */
export const billedRefusals = problems(
  InsufficientCredits,
  DomainNotAllowed,
  ScannerUnavailable,
  IdempotencyKeyReused,
  IdempotencyKeysDiffer
)

const scan = HttpApiEndpoint.post("scan", "/scan", {
  headers: idempotencyHeaders,
  payload: Schema.Struct({ ...CreateScan.fields, idempotency_key: Schema.optionalKey(IdempotencyKey) }),
  success: MerchantScan,
  error: billedRefusals
})
  .annotate(Requires, scanning("scan"))
  .annotate(WaitsForOthers, true)
  .annotateMerge(
    documented({
      summary: "Scan a merchant",
      description:
        "Looks at the merchant's site as a shopping agent would and says how ready it is, with the evidence for every check; 2 to 5 " +
        "seconds for most sites, 8 at most. Costs 1 credit, charged before and returned when the scan could not be made; " +
        "`X-Credits-Remaining` says what is left. With `skip_if_fresh` a completed scan of less than 24 hours is returned for nothing. " +
        "One scan of a domain runs at a time: whoever asks meanwhile gets the same. `domain` may be written as a URL; IP addresses, " +
        "single labels, reserved names and whatever resolves to an address that is not public, and sites whose robots.txt keeps `TurnpikeScanner` out by name, are refused with 422 " +
        "`DOMAIN_NOT_ALLOWED`. A site that cannot be reached gives a scan with status `failed`. Without a key the call is sold for 0.05 " +
        "USDC: 402 with an offer that any x402 client pays. " +
        chargedOnce,
      body: { domain: "shop.example.com", merchant_category: "retail", country_code: "US", region: "north_america" },
      answer: exampleScan
    })
  )

const get = HttpApiEndpoint.get("get", "/scan/:id", {
  params: { id: ScanId },
  success: MerchantScan,
  error: problem(NotFound)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "Get a scan",
      description:
        "A scan of the corpus, whoever asked for it. A completed one is `stale` when it is 24 hours old. Costs nothing; without a key " +
        "it is sold for 0.005 USDC, like every read of the scanner.",
      answer: exampleScan
    })
  )

const freshest = HttpApiEndpoint.get("freshest", "/scans/by-domain/:domain", {
  params: byDomain,
  success: MerchantScan,
  error: problems(NotFound, DomainNotAllowed)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "The freshest scan of a domain",
      description: "The newest scan that ended, of all tenants; 404 when there is none.",
      answer: exampleScan
    })
  )

const history = HttpApiEndpoint.get("history", "/scans/by-domain/:domain/history", {
  params: byDomain,
  query: scannerPages,
  success: page(ScanChange),
  error: problems(NotFound, DomainNotAllowed)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "How a domain changed",
      description:
        "The scans of a domain, newest first, each beside the one before it: by how much the score moved, and which checks are answered " +
        "otherwise. A check that one of the two rubrics does not have is null there.",
      query: shownPages,
      answer: {
        data: [
          {
            id: exampleScan.id,
            status: "completed",
            scanned_at: exampleScan.scanned_at,
            readiness_score: exampleScan.readiness_score,
            protocol_score: exampleScan.protocol_score,
            data_score: exampleScan.data_score,
            accessibility_score: exampleScan.accessibility_score,
            checkout_score: exampleScan.checkout_score,
            rubric_version: exampleScan.rubric_version,
            changes: { score_delta: 9, checks: [{ id: "product_json_ld", from: "fail", to: "pass" }] }
          }
        ],
        pagination: { page: 1, limit: 20, total: 1, totalPages: 1 }
      }
    })
  )

const list = HttpApiEndpoint.get("list", "/scans", {
  query: {
    category: Schema.optionalKey(MerchantCategory),
    region: Schema.optionalKey(Region),
    status: Schema.optionalKey(ScanStatus),
    min_score: scoreBound,
    max_score: scoreBound,
    ...scannerPages
  },
  success: page(MerchantScan)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "List scans",
      description:
        "The scans of all tenants, newest first; every filter given must match, and both bounds of the score are inclusive. `completed` " +
        "are those of less than 24 hours, `stale` the older ones.",
      query: {
        ...shownPages,
        min_score: shownScore("The least `readiness_score`"),
        max_score: shownScore("The highest `readiness_score`")
      },
      answer: { data: [exampleScan], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } }
    })
  )

/** Two scans of one name, one without, and none of the others. */
const counted = (names: ReadonlyArray<string>, one: string) => ({
  ...Object.fromEntries(names.map((name) => [name, { scans: 0, average_score: null }])),
  [one]: { scans: 2, average_score: 67.5 },
  unknown: { scans: 1, average_score: null }
})

const statistics = HttpApiEndpoint.get("statistics", "/scans/stats", { success: ScanStatistics })
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "The corpus in numbers",
      description:
        "Counts and average scores of all scans, and how many domains speak each protocol by their newest scan.",
      answer: {
        total: 3,
        domains: 2,
        by_status: { pending: 0, scanning: 0, completed: 1, failed: 1, stale: 1 },
        by_category: counted(MerchantCategory.literals, "retail"),
        by_region: counted(Region.literals, "north_america"),
        by_band: { ready: 0, mostly_ready: 2, partly_ready: 0, not_ready: 0 },
        average_score: 67.5,
        protocol_adoption: {
          ucp: 1,
          acp: 0,
          x402: 0,
          ap2: 0,
          mcp: 1,
          a2a: 0,
          nlweb: 0,
          webmcp: 0,
          visa_vic: 0,
          mastercard_agentpay: 0
        }
      }
    })
  )

export class ScansApi extends HttpApiGroup.make("scans")
  .add(scan, get, freshest, history, list, statistics)
  .middleware(Authorization)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({
      title: "Scans",
      description: "How ready merchants are for autonomous shopping agents; a corpus that all tenants share."
    })
  ) {}
