import { Context, Effect, Layer } from "effect"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { rubricVersion } from "#domain/Rubric.ts"
import { type MerchantCategory, nothingSeen, type ScanFindings } from "#domain/Scan.ts"
import { accessAnswers, closedGates, homeRefusal } from "#domain/scan/Access.ts"
import { applicable } from "#domain/scan/Applicable.ts"
import { behaviourAnswers } from "#domain/scan/Behaviour.ts"
import { checkoutAnswers } from "#domain/scan/Checkout.ts"
import { findingAnswers } from "#domain/scan/Finding.ts"
import { operationAnswers } from "#domain/scan/Operation.ts"
import { productAnswers } from "#domain/scan/ProductData.ts"
import { asFarAsRead } from "#domain/scan/ReadWhole.ts"
import { businessModelOf } from "#domain/scan/ShopSigns.ts"
import { accessibility, structuredData } from "#domain/scan/Summary.ts"
import { unread } from "#domain/scan/Sight.ts"
import type { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { kindOf, score } from "#domain/ScanScore.ts"
import { PageReading } from "./PageReading.ts"
import { unlessBusy } from "./PageReading/UnlessBusy.ts"
import { monotonicMillis } from "./RealTime.ts"
import { meet, type Met } from "./ScanEngine/Meeting.ts"
import { ScanLimits } from "./ScanEngine/Limits.ts"
import { type Surveyed, survey } from "./ScanEngine/Survey.ts"
import { type NoAnswer, refusalOf, type Site, SiteVisits } from "./SiteVisits.ts"

/** What the caller knows of the merchant. */
export interface ScanHints {
  readonly merchant_category: MerchantCategory | null
}

/** Looks at a site once, within the budget of a scan, and says what it found. Keeps nothing. */
export class ScanEngine extends Context.Service<
  ScanEngine,
  {
    scan(site: Site, hints: ScanHints): Effect.Effect<ScanFindings, DomainNotAllowed | ScannerUnavailable>
  }
>()("turnpike/services/ScanEngine") {
  static readonly layer = Layer.effect(
    ScanEngine,
    Effect.gen(function* () {
      const visits = yield* SiteVisits
      const pages = yield* PageReading
      const policy = yield* ScanLimits

      const look = Effect.fnUntraced(function* (site: Site, hints: ScanHints) {
        const visit = yield* visits.open(site, policy)
        const began = yield* monotonicMillis
        const met = yield* meet(visit)
        const frame = Effect.map(monotonicMillis, (now) => ({
          rubric_version: rubricVersion,
          requests: visit.requests(),
          vantage: visit.vantage,
          scan_duration_ms: Math.round(now - began)
        }))
        const category = hints.merchant_category
        if (met.failure?.reason === "robots") {
          return yield* new DomainNotAllowed({ domain: site.domain, reason: "RobotsDisallowed" })
        }
        // A wall before everything is a finding; any other silence says nothing about the shop.
        if (met.failure !== undefined && met.failure.reason !== "challenged") {
          const refusal = refusalOf(site.domain, met.failure)
          if (refusal !== undefined) return yield* refusal
          return { ...failed(met, reasonOf(met.failure)), ...(yield* frame) }
        }
        if (met.home.failure === unread) return { ...failed(met, tooMuch), ...(yield* frame) }
        const surveyed = yield* survey(visit, met, { category, requests: policy.requests })
        const trouble = troubleOf(surveyed)
        if (trouble !== undefined) return { ...failed(met, trouble), ...(yield* frame) }
        // A piece of a page that is kept as evidence would keep the whole page, so all is copied out.
        return structuredClone({ ...completed(surveyed, met, category), ...(yield* frame) })
      }, Effect.scoped)
      const scan = Effect.fn("ScanEngine.scan")((site: Site, hints: ScanHints) =>
        unlessBusy(pages, (heeding) => Effect.provideService(look(site, hints), PageReading, heeding))
      )

      return ScanEngine.of({ scan })
    })
  )
}

/** Whether it was the certificate, of all that may be wrong with TLS: sites speak older versions, or HTTP/2 and nothing else. */
const isOfCertificate = (code: string) => !/^(?:ERR_SSL|EPROTO)/.test(code)

const reasonOf = ({ detail, reason }: NoAnswer) => {
  const said = detail === "" ? "" : `: ${detail}`
  switch (reason) {
    case "tls": {
      const what = isOfCertificate(detail) ? "The site's certificate is not valid" : "TLS with the site fails"
      return `${what}, and http does not answer${said}.`
    }
    case "timeout":
    case "deadline":
      return `The site did not answer in time${said}.`
    case "too_many_redirects":
      return `The home page redirects without end${said}.`
    default:
      return `The site could not be reached (${reason}${said}).`
  }
}

const tooMuch = "The home page takes more to read than we give one page, so that the site could not be looked at."

/** A site in trouble of the moment: what it answers says nothing about how it is otherwise. */
const troubleOf = ({ facts }: Surveyed): string | undefined => {
  const { status } = facts.home
  if (status === null || homeRefusal(facts) !== undefined) return undefined
  if (status === 429) return "The site asks for fewer requests (429), so that it could not be looked at."
  return status >= 500 ? `The home page answers ${status}.` : undefined
}

type Findings = Omit<ScanFindings, "rubric_version" | "requests" | "vantage" | "scan_duration_ms">

const failed = ({ home }: Met, error_message: string): Findings => ({
  ...nothingSeen,
  status: "failed",
  url: home.url,
  error_message
})

const completed = ({ facts, protocols }: Surveyed, { answer }: Met, category: MerchantCategory | null): Findings => {
  const business_model = businessModelOf(facts, category)
  const ofPages = [
    ...operationAnswers(facts),
    ...productAnswers(facts),
    ...findingAnswers(facts),
    ...checkoutAnswers(facts)
  ]
  const answers = [
    ...accessAnswers(facts),
    ...behaviourAnswers(facts),
    ...asFarAsRead(ofPages, facts),
    ...applicable(protocols.answers, protocols.results, facts, business_model)
  ]
  return {
    status: "completed",
    url: facts.home.url,
    business_model,
    ...score({ answers, gates: closedGates(facts), kind: kindOf(category, business_model) }),
    protocol_results: protocols.results,
    structured_data: structuredData(facts),
    accessibility: accessibility(facts, answer?.httpVersion ?? null),
    platform: facts.platform?.name ?? null,
    error_message: null
  }
}
