import { Context, Deferred, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { TenantId } from "#domain/Ids.ts"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import type { Check, MerchantCategory, MerchantScan, ScanFindings } from "#domain/Scan.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Deployment } from "#services/Deployment.ts"
import { Doctor } from "#services/Doctor.ts"
import { EventLog } from "#services/EventLog.ts"
import { IdempotencyKeys } from "#services/IdempotencyKeys.ts"
import { Ledger } from "#services/Ledger.ts"
import { ScanEngine } from "#services/ScanEngine.ts"
import { ScannerCredits } from "#services/ScannerCredits.ts"
import { ScanPolicy } from "#services/Scans/Policy.ts"
import { type ScanBuyer, type ScanOrder, Scans } from "#services/Scans.ts"
import { Secrets } from "#services/Secrets.ts"
import { SiteVisits } from "#services/SiteVisits.ts"
import { tenantWith } from "./ScannerCreditsHarness.ts"

const check = (id: string, status: Check["status"]): Check => ({
  id,
  group: "data",
  title: id,
  status,
  points: null,
  max_points: 10,
  message: id,
  evidence: null,
  fix: null,
  spec: null
})

/** What a look at a site finds unless a test says otherwise. */
export const findings = (
  changed: Partial<ScanFindings> = {},
  answers: Record<string, Check["status"]> = {}
): ScanFindings => ({
  status: "completed",
  url: "https://shop.example.com/",
  business_model: "retail",
  readiness_score: 70,
  score_range: { low: 60, high: 80 },
  band: "mostly_ready",
  protocol_score: 40,
  data_score: 80,
  accessibility_score: 90,
  checkout_score: 70,
  confidence: "high",
  gates: [],
  rubric_version: "2026-11.1",
  checks: Object.entries(answers).map(([id, status]) => check(id, status)),
  protocol_results: [],
  structured_data: null,
  accessibility: null,
  platform: null,
  recommendations: [],
  requests: [],
  vantage: { user_agent: "Test/1", network: "test" },
  scan_duration_ms: 5,
  error_message: null,
  ...changed
})

/** How sites answer, and what was looked at. A test changes it. */
export class Stage extends Context.Service<
  Stage,
  {
    looked: Array<string>
    hints: Array<MerchantCategory | null>
    scan: (domain: string) => Effect.Effect<ScanFindings, DomainNotAllowed>
  }
>()("turnpike/test/services/ScansHarness/Stage") {
  static readonly layer = Layer.sync(Stage, () => ({
    looked: [],
    hints: [],
    scan: () => Effect.succeed(findings())
  }))
}

/** Where sites are; nobody goes there. */
export const visits = Layer.succeed(SiteVisits, {
  locate: (domain) => ({ domain, home: new URL(`https://${domain}/`) }),
  open: () => Effect.die("nobody goes there")
})
const scanEngine = Layer.effect(
  ScanEngine,
  Effect.map(Stage, (stage) => ({
    scan: ({ domain }, { merchant_category }) =>
      Effect.suspend(() => {
        stage.looked.push(domain)
        stage.hints.push(merchant_category)
        return stage.scan(domain)
      })
  }))
)
const deployment = Layer.succeed(Deployment, {
  environment: "sandbox",
  publicUrl: "http://turnpike.test",
  scannerUrl: "http://scanner.test"
})
export const policy = (changed: Partial<ScanPolicy>) =>
  Layer.succeed(ScanPolicy, { ...ScanPolicy.defaultValue(), ...changed })

const scanner = (changed: Partial<ScanPolicy>) => Scans.layer.pipe(Layer.provide([visits, scanEngine, policy(changed)]))
const below = Layer.mergeAll(
  ScannerCredits.layer,
  IdempotencyKeys.layer,
  EventLog.layer,
  Secrets.layer,
  Doctor.layer
).pipe(Layer.provideMerge(Ledger.layer))
/** What the scanner stands on, over a database of its own. */
const books = below.pipe(Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, deployment)))
/** Scans, and an engine that does as a test says. */
export const platform = (changed: Partial<ScanPolicy> = {}) =>
  scanner(changed).pipe(Layer.provideMerge(Stage.layer), Layer.provideMerge(books))

/** Another process on the same database with a stage of its own, until the scope closes; and how it stops. */
export const another = Effect.fnUntraced(function* (changed: Partial<ScanPolicy> = {}) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  const layer = Layer.fresh(scanner(changed)).pipe(Layer.provideMerge(Layer.fresh(Stage.layer)))
  const context = yield* Layer.buildWithScope(layer, scope)
  return {
    scans: Context.get(context, Scans),
    stage: Context.get(context, Stage),
    stop: Scope.close(scope, Exit.void)
  }
})

let counter = 0
/** A domain that no other test has. */
export const aDomain = () => `shop-${++counter}.com`

export const orderOf = (domain: string, changed: Partial<ScanOrder> = {}): ScanOrder => ({
  domain,
  merchant_name: null,
  merchant_category: null,
  country_code: null,
  region: null,
  skip_if_fresh: false,
  ...changed
})
export const by = (tenant_id: TenantId): ScanBuyer => ({ _tag: "Tenant", tenant_id, source: "req" })
export const somebody: ScanBuyer = { _tag: "PaidCall", source: "req" }
/** Somebody with a hundred credits. */
export const rich = Effect.map(tenantWith(100), by)

export const scan = (domain: string, changed: Partial<ScanOrder> = {}, buyer: ScanBuyer = somebody) =>
  Effect.flatMap(Scans, (scans) => scans.scan(buyer, orderOf(domain, changed)))

/** Sites answer when `open` is called, and not before. */
export const gate = Effect.gen(function* () {
  const [open, entered] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const through = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(open))
  return { through, entered: Deferred.await(entered), open: Deferred.succeed(open, undefined) }
})

/** The facts told to somebody, oldest first. */
export const told = Effect.fnUntraced(function* (buyer: ScanBuyer) {
  const sql = yield* SqlClient.SqlClient
  const tenant = buyer._tag === "PaidCall" ? null : buyer.tenant_id
  return yield* sql`SELECT type, data FROM events WHERE tenant_id = ${tenant}::uuid ORDER BY seq`
})
export const left = (buyer: ScanBuyer) =>
  buyer._tag === "PaidCall"
    ? Effect.succeed(undefined)
    : Effect.flatMap(ScannerCredits, (credits) =>
        Effect.map(credits.balance(buyer.tenant_id), ({ balance }) => balance)
      )

export const idOf = ({ record }: { readonly record: Pick<MerchantScan, "id"> }) => record.id
