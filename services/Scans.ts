import { Context, Effect, Layer, Option } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import type { ScanChange, ScanStatistics } from "#domain/ScanHistory.ts"
import { NotFound } from "#domain/Refusal.ts"
import {
  type CountryCode,
  type MerchantCategory,
  type MerchantScan,
  type Region,
  type ScanFindings,
  ScanId
} from "#domain/Scan.ts"
import { scanOnWire } from "#domain/ScanFacts.ts"
import { type InsufficientCredits, ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { IdempotencyKeys, Kept } from "./IdempotencyKeys.ts"
import { ScanEngine } from "./ScanEngine.ts"
import { ScannerCredits } from "./ScannerCredits.ts"
import type { Billed, BilledOnce, ScanBuyer } from "./Scans/Buyer.ts"
import * as Claims from "./Scans/Claims.ts"
import * as Corpus from "./Scans/Corpus.ts"
import type { ScanFilter } from "./Scans/Corpus.ts"
import * as Domains from "./Scans/Domains.ts"
import * as Figures from "./Scans/Figures.ts"
import * as History from "./Scans/History.ts"
import { ScanPolicy } from "./Scans/Policy.ts"
import * as Records from "./Scans/Records.ts"
import * as Repeating from "./Scans/Repeating.ts"
import * as ReportLinks from "./Scans/ReportLinks.ts"
import * as Sharing from "./Scans/Sharing.ts"
import { SiteVisits } from "./SiteVisits.ts"
import { upkeep } from "./Upkeep.ts"

export interface ScanOrder {
  readonly domain: string
  readonly merchant_name: string | null
  readonly merchant_category: MerchantCategory | null
  readonly country_code: CountryCode | null
  readonly region: Region | null
  readonly skip_if_fresh: boolean
}

export { ScannerUnavailable }
export type { Billed, ScanBuyer, ScanFilter }

interface Page {
  readonly page: number
  readonly limit: number
}

/** The corpus of scans, which all tenants share. A scan of one domain runs once at a time, and whoever asks meanwhile shares it. */
export class Scans extends Context.Service<
  Scans,
  {
    /**
     * Charges, then looks, or shares what somebody else has looked at meanwhile. What cannot be done costs nothing. It goes on to its
     * end when the caller hangs up, and is paid for then as well; what a caller pays for by the call ends with the caller, unpaid.
     * Under a claim it is charged once, and whoever repeats it gets what the first got.
     */
    scan(
      buyer: ScanBuyer,
      order: ScanOrder,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      BilledOnce<MerchantScan>,
      InsufficientCredits | DomainNotAllowed | ScannerUnavailable | IdempotencyKeyReused
    >
    get(id: ScanId): Effect.Effect<MerchantScan, NotFound>
    /** The newest that ended, also when the site could not be reached. */
    freshest(domain: string): Effect.Effect<MerchantScan, NotFound | DomainNotAllowed>
    /** A page of a domain's scans, newest first, each beside the one before it, and how many there are. */
    history(
      domain: string,
      page: Page
    ): Effect.Effect<{ readonly data: ReadonlyArray<ScanChange>; readonly total: number }, NotFound | DomainNotAllowed>
    /** A page of all scans, newest first, and how many there are. */
    list(
      filter: ScanFilter,
      page: Page
    ): Effect.Effect<{ readonly data: ReadonlyArray<MerchantScan>; readonly total: number }>
    readonly statistics: Effect.Effect<ScanStatistics>
    /** Forgets what a process that is gone has not ended and nobody asked for again; how many. */
    readonly tidy: Effect.Effect<number>
  }
>()("turnpike/services/Scans") {
  static readonly layer = Layer.effect(
    Scans,
    Effect.gen(function* () {
      const policy = yield* ScanPolicy
      const visits = yield* SiteVisits
      const engine = yield* ScanEngine
      const credits = yield* ScannerCredits
      const links = yield* ReportLinks.make
      const domainOf = yield* Domains.make
      const records = yield* Records.make(links, policy.freshFor)
      const corpus = yield* Corpus.make(records, policy.block)
      const { statistics } = yield* Figures.make(records, corpus)
      const historyOf = yield* History.make
      const claims = yield* Claims.make(policy.lease)

      const store = Effect.fnUntraced(function* (claim: Claims.Claim, findings: ScanFindings, words: Claims.Words) {
        const { place, record } = yield* records.store(claim, findings, words)
        yield* corpus.seal(place)
        return record
      })
      const { order: share } = yield* Sharing.make<MerchantScan, ScanFindings>(
        {
          kind: "scan",
          credits: 1,
          limits: policy.scans,
          last: records.last,
          newest: records.newest,
          look: ({ domain }, words) =>
            Effect.flatMap(records.saidOf(domain), (said) =>
              engine.scan(visits.locate(domain), Claims.newerWords(words, said))
            ),
          store,
          remember: records.remember,
          ended: (scan) => ({ id: scan.id, fact: { type: "scan.completed", data: { scan: scanOnWire(scan) } } })
        },
        claims
      )

      const keys = yield* IdempotencyKeys
      const once = yield* Repeating.make({
        kind: "scan",
        limits: policy.scans,
        find: (id) => records.find(ScanId.make(id))
      })

      const remaining = (buyer: ScanBuyer) =>
        buyer._tag === "Tenant"
          ? Effect.map(credits.balance(buyer.tenant_id), ({ balance }) => balance)
          : Effect.succeed(undefined)
      /** What costs nothing is no less the answer under its key. It may tell what nobody knew, but contradicts nobody for nothing. */
      const cached = Effect.fnUntraced(function* (
        buyer: ScanBuyer,
        record: MerchantScan,
        words: Claims.Words,
        claim?: IdempotencyClaim
      ) {
        const { replayed } = yield* keys.once(claim, Kept, Effect.succeed(Effect.succeed({ record: record.id })))
        if (replayed) return yield* new Repeating.KeyTaken()
        yield* records.supplement(record.domain, words)
        return { record, charged: 0, remaining: yield* remaining(buyer) }
      })
      const scan = Effect.fn("Scans.scan")(function* (buyer: ScanBuyer, order: ScanOrder, claim?: IdempotencyClaim) {
        const { domain: given, skip_if_fresh, ...words } = order
        const domain = yield* domainOf(given)
        const fresh = skip_if_fresh ? records.fresh(domain) : Effect.succeedNone
        const attempt = Effect.flatMap(fresh, (found) =>
          Option.isSome(found)
            ? cached(buyer, found.value, words, claim)
            : share(buyer, { domain, variant: "", words, claim })
        )
        return yield* once(claim, domain, attempt)
      })

      const get = Effect.fn("Scans.get")(function* (id: ScanId) {
        const found = yield* records.find(id)
        return Option.isSome(found) ? found.value : yield* new NotFound({ resource: "scan", id })
      })
      const newest = Effect.fnUntraced(function* (domain: string) {
        const found = yield* records.newest(domain)
        return Option.isSome(found) ? found.value.record : yield* new NotFound({ resource: "scan", id: domain })
      })
      const freshest = Effect.fn("Scans.freshest")(function* (domain: string) {
        return yield* newest(yield* domainOf(domain))
      })
      const history = Effect.fn("Scans.history")(function* (given: string, page: Page) {
        const domain = yield* domainOf(given)
        const found = yield* historyOf(domain, page, yield* records.stale)
        return found.total > 0 ? found : yield* new NotFound({ resource: "scan", id: domain })
      })

      return Scans.of({
        scan,
        get,
        freshest,
        history,
        list: corpus.list,
        statistics,
        tidy: claims.forgetLost
      })
    })
  )

  /** Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { tidy } = yield* Scans
      yield* upkeep("What the scanner left could not be tidied up", tidy, "30 seconds")
    })
  )
}
