import { Context, Effect, Layer } from "effect"
import type { Principal } from "#domain/Principal.ts"
import { newUuid } from "#services/NewId.ts"
import { Scans } from "#services/Scans.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { ShoppingTests } from "#services/ShoppingTests.ts"
import { grant } from "../services/ScannerCreditsHarness.ts"
import { orderOf } from "../services/ScansHarness.ts"
import type { Fixture } from "../shops/Fixture.ts"
import * as HtmlShop from "../shops/HtmlShop.ts"

/** A shop of ours on loopback, which the server may visit. */
export class Shop extends Context.Service<Shop, Fixture>()("turnpike/test/http/Corpus/Shop") {
  static readonly layer = Layer.effect(Shop, HtmlShop.open())
}

type Names = Readonly<Record<string, string>>

/** The shop's scan and test, which all tenants share; made once for each server. */
const shared = Effect.gen(function* () {
  const { domain } = yield* Shop
  const scans = yield* Scans
  const tests = yield* ShoppingTests
  const somebody = { _tag: "PaidCall", source: "req" } as const
  const scan = yield* Effect.catchTag(scans.freshest(domain), "NOT_FOUND", () =>
    Effect.map(scans.scan(somebody, orderOf(domain, { merchant_category: "retail" })), ({ record }) => record)
  )
  const { data: known } = yield* tests.recent(domain, { page: 1, limit: 1 })
  const test = known[0] ?? (yield* tests.run(somebody, { domain, test_type: "browse" })).record
  return { domain, scan: scan.id, test: test.id }
})

/** What a tenant has of the scanner alone, and what everybody knows: what stands for it in requests, by operation or group. */
export const scannerOf = Effect.fnUntraced(function* ({ tenant_id }: Principal) {
  const { domain, scan, test } = yield* shared
  yield* grant(tenant_id, 1_000)
  const batches = yield* ScanBatches
  /** Stands in the lines of its credits, which nobody else sees. */
  const source = `req_${newUuid()}`
  const batch = Effect.map(batches.create(tenant_id, source, [orderOf(domain)]), ({ record }) => record.id)
  const ids: Names = { scan_batches: yield* batch, "scan_batches.cancel": yield* batch }
  const known: Names = {
    scans: scan,
    shopping_tests: test,
    "scanner_reports.scan": scan,
    "scanner_reports.test": test
  }
  return { domain, ids, known, source }
})
