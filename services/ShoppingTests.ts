import { Context, Effect, Layer, Option, Schema } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import { ScanId } from "#domain/Scan.ts"
import { testOnWire } from "#domain/ScanFacts.ts"
import type { InsufficientCredits, ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import { type ShoppingTest, type TestOutcome, TestType } from "#domain/ShoppingTest.ts"
import type { BilledOnce, ScanBuyer } from "./Scans/Buyer.ts"
import * as Claims from "./Scans/Claims.ts"
import * as Domains from "./Scans/Domains.ts"
import { ScanPolicy } from "./Scans/Policy.ts"
import * as Repeating from "./Scans/Repeating.ts"
import * as ReportLinks from "./Scans/ReportLinks.ts"
import * as Sharing from "./Scans/Sharing.ts"
import { ShoppingEngine } from "./ShoppingEngine.ts"
import * as Records from "./ShoppingTests/Records.ts"
import { SiteVisits } from "./SiteVisits.ts"

/** Synthetic shopping, kept in a corpus that all tenants share. One test of a domain runs at a time. */
export class ShoppingTests extends Context.Service<
  ShoppingTests,
  {
    /**
     * Charges, then shops, or shares what the same test has found meanwhile. What cannot be done costs nothing. Under a claim it is
     * charged once, and whoever repeats it gets what the first got.
     */
    run(
      buyer: ScanBuyer,
      order: { readonly domain: string; readonly test_type: TestType },
      claim?: IdempotencyClaim
    ): Effect.Effect<
      BilledOnce<ShoppingTest>,
      InsufficientCredits | DomainNotAllowed | ScannerUnavailable | IdempotencyKeyReused
    >
    get(id: string): Effect.Effect<ShoppingTest, NotFound>
    /** A page of a domain's tests, newest first, and how many there are. */
    recent(
      domain: string,
      page: { readonly page: number; readonly limit: number }
    ): Effect.Effect<{ readonly data: ReadonlyArray<ShoppingTest>; readonly total: number }, DomainNotAllowed>
  }
>()("turnpike/services/ShoppingTests") {
  static readonly layer = Layer.effect(
    ShoppingTests,
    Effect.gen(function* () {
      const policy = yield* ScanPolicy
      const visits = yield* SiteVisits
      const engine = yield* ShoppingEngine
      const domainOf = yield* Domains.make
      const records = yield* Records.make(yield* ReportLinks.make)
      const claims = yield* Claims.make(policy.lease)
      const { order: share } = yield* Sharing.make<ShoppingTest, TestOutcome>(
        {
          kind: "test",
          credits: 5,
          limits: policy.tests,
          last: records.last,
          newest: records.newest,
          look: ({ domain, variant }) =>
            Effect.flatMap(Effect.all([typeOf(variant), records.countryOf(domain)]), ([type, country]) =>
              engine.test(visits.locate(domain), type, country)
            ),
          store: records.store,
          remember: () => Effect.void,
          ended: (test) => ({ id: test.id, fact: { type: "test.completed", data: { test: testOnWire(test) } } })
        },
        claims
      )

      const once = yield* Repeating.make({ kind: "test", limits: policy.tests, find: records.find })
      const run = Effect.fn("ShoppingTests.run")(function* (
        buyer: ScanBuyer,
        order: { readonly domain: string; readonly test_type: TestType },
        claim?: IdempotencyClaim
      ) {
        const domain = yield* domainOf(order.domain)
        const attempt = share(buyer, { domain, variant: order.test_type, words: Claims.noWords, claim })
        return yield* once(claim, domain, attempt)
      })
      const get = Effect.fn("ShoppingTests.get")(function* (id: string) {
        const found = isId(id) ? yield* records.find(id) : Option.none()
        return Option.isSome(found) ? found.value : yield* new NotFound({ resource: "shopping_test", id })
      })
      const recent = Effect.fn("ShoppingTests.recent")(function* (
        domain: string,
        { limit, page }: { readonly page: number; readonly limit: number }
      ) {
        return yield* records.recent(yield* domainOf(domain), { limit, offset: (page - 1) * limit })
      })
      return ShoppingTests.of({ run, get, recent })
    })
  )
}

const isId = Schema.is(ScanId)
const typeOf = (variant: string) => Effect.orDie(Schema.decodeUnknownEffect(TestType)(variant))
