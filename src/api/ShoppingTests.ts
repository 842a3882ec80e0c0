import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { economicsTableVersion } from "#domain/Economics.ts"
import { test } from "#domain/Examples/Scanned.ts"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { NotFound } from "#domain/Refusal.ts"
import { ScanId } from "#domain/Scan.ts"
import { ShoppingTest, TestType } from "#domain/ShoppingTest.ts"
import { IdempotencyKey } from "#domain/Text.ts"
import { Authorization, Requires, scanning, WaitsForOthers } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { exampleRequest } from "./Examples/Scan.ts"
import { chargedOnce, idempotencyHeaders } from "./Idempotency.ts"
import { page } from "./Pagination.ts"
import { problem } from "./Problems.ts"
import { billedRefusals, DomainText, scannerPages, shownPages } from "./Scans.ts"

const example = {
  ...test,
  requests: [exampleRequest],
  estimated_monthly_agent_visits: 1000,
  estimated_lost_conversions: 5,
  estimated_lost_revenue_usd: 750,
  economics: {
    merchant_category: "retail",
    region: "north_america",
    monthly_sessions: 100_000,
    agent_share: 0.01,
    conversion_rate: 0.025,
    average_order_value_usd: 150,
    uplift: 1,
    region_factor: 1,
    failure_rate: 0.2,
    table_version: economicsTableVersion
  }
}

/** What a test is asked for. */
const CreateShoppingTest = Schema.Struct({
  domain: DomainText,
  test_type: TestType.pipe(Schema.withDecodingDefaultKey(Effect.succeed("full_flow" as const))),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
}).annotate({ identifier: "CreateShoppingTest" })

const run = HttpApiEndpoint.post("run", "/tests", {
  headers: idempotencyHeaders,
  payload: CreateShoppingTest,
  success: ShoppingTest,
  error: billedRefusals
})
  .annotate(Requires, scanning("tests"))
  .annotate(WaitsForOthers, true)
  .annotateMerge(
    documented({
      summary: "Shop as an agent would",
      description:
        "Goes through discovery, selection, cart, checkout and payment over the best interface that the shop has, and reads back the " +
        "state of the shop after every step. `browse` is the first step, `search` the first two, `add_to_cart` three, `checkout` four and " +
        "`full_flow` all. Nothing is sent that may place an order, and the cart is emptied afterwards; should a shop take one all the same, " +
        "the blocker `order_taken` says so. Costs 5 credits, returned when the test could not " +
        "be made. Steps that could not be tried from here say `unknown` and why. The estimates are there when the category of the " +
        "merchant is known from a scan; `economics` shows what went into them. May take a minute. Without a key the call is sold for " +
        "0.25 USDC. " +
        chargedOnce,
      body: { domain: "shop.example.com", test_type: "full_flow" },
      answer: example
    })
  )

const recent = HttpApiEndpoint.get("recent", "/tests/:domain", {
  params: { domain: DomainText },
  query: scannerPages,
  success: page(ShoppingTest),
  error: problem(DomainNotAllowed)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({
      summary: "Recent tests of a domain",
      description: "The most recent tests of a domain, of all tenants, in descending order of `tested_at`.",
      query: shownPages,
      answer: { data: [example], pagination: { page: 1, limit: 20, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/test/:id", {
  params: { id: ScanId },
  success: ShoppingTest,
  error: problem(NotFound)
})
  .annotate(Requires, scanning("read"))
  .annotateMerge(
    documented({ summary: "Get a test", description: "A test of the corpus, whoever asked for it.", answer: example })
  )

export class ShoppingTestsApi extends HttpApiGroup.make("shopping_tests")
  .add(run, recent, get)
  .middleware(Authorization)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({
      title: "Synthetic checkout",
      description: "Where a shopping agent succeeds or fails at a merchant; a corpus that all tenants share."
    })
  ) {}
