import { Context, DateTime, Effect, Layer, Ref } from "effect"
import type { TenantId } from "#domain/Ids.ts"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { type MerchantScan, nothingSeen, ScanId } from "#domain/Scan.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { newId } from "#services/NewId.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { type ScanBuyer, type ScanOrder, Scans, ScannerUnavailable } from "#services/Scans.ts"
import * as Credits from "./ScannerCreditsHarness.ts"

/** What the scanner does with a domain. */
export type Behaviour = (domain: string) => Effect.Effect<Partial<MerchantScan>, DomainNotAllowed | ScannerUnavailable>

/** The scanner of tests from behind. */
export class ScannerControl extends Context.Service<
  ScannerControl,
  {
    readonly behaviour: Ref.Ref<Behaviour>
    readonly asked: Ref.Ref<ReadonlyArray<{ readonly buyer: ScanBuyer; readonly order: ScanOrder }>>
  }
>()("turnpike/test/services/ScanBatchesHarness/ScannerControl") {}

const completed: Behaviour = () => Effect.succeed({ status: "completed", readiness_score: 72 })

const control = Layer.effect(
  ScannerControl,
  Effect.all({
    behaviour: Ref.make(completed),
    asked: Ref.make<ReadonlyArray<{ readonly buyer: ScanBuyer; readonly order: ScanOrder }>>([])
  })
)

/** A scanner that does what it is told, without a network. */
const scanner = Layer.effect(
  Scans,
  Effect.gen(function* () {
    const { asked, behaviour } = yield* ScannerControl
    const scan = Effect.fnUntraced(function* (buyer: ScanBuyer, order: ScanOrder) {
      yield* Ref.update(asked, (before) => [...before, { buyer, order }])
      const found = yield* (yield* Ref.get(behaviour))(order.domain)
      const now = yield* DateTime.nowAsDate
      const record = { ...unseen, id: yield* newId(ScanId), domain: order.domain, scanned_at: now, ...found }
      return { record, charged: 0, remaining: undefined, replayed: false }
    })
    return yield* Effect.map(Layer.build(Layer.mock(Scans, { scan })), Context.get(Scans))
  })
)

const batches = ScanBatches.layer.pipe(Layer.provide(scanner), Layer.provideMerge(Credits.services))
export const platform = Layer.merge(batches, Doctor.layer).pipe(
  Layer.provideMerge(Layer.merge(Postgres.layerTest, control))
)

/** Another process on the same database with the same scanner. */
export const another = Effect.map(Layer.build(Layer.fresh(batches)), Context.get(ScanBatches))

export const scannerDoes = (behaviour: Behaviour) =>
  Effect.flatMap(ScannerControl, (scanner) => Ref.set(scanner.behaviour, behaviour))
export const scannerWorks = scannerDoes(completed)
/** Everything the scanner was asked since this was asked last. */
export const asked = Effect.flatMap(ScannerControl, (scanner) => Ref.getAndSet(scanner.asked, []))

export const busy = Effect.fail(new ScannerUnavailable({ reason: "Busy", retry_after: 2 }))
export const broken = Effect.fail(new ScannerUnavailable({ reason: "Failed", retry_after: 5 }))
export const notFound = (domain: string) => Effect.fail(new DomainNotAllowed({ domain, reason: "NameNotFound" }))

export const orderOf = (domain: string, changed: Partial<ScanOrder> = {}): ScanOrder => ({
  domain,
  merchant_name: null,
  merchant_category: null,
  country_code: null,
  region: null,
  skip_if_fresh: false,
  ...changed
})
export const shops = (count: number) => Array.from({ length: count }, (_, index) => orderOf(`shop${index}.com`))

export const created = (tenant_id: TenantId, orders: ReadonlyArray<ScanOrder>) =>
  Effect.flatMap(ScanBatches, ({ create }) => create(tenant_id, "req_batch", orders))

/** Scans until nothing is due any more. */
export const scanAll = Effect.flatMap(ScanBatches, ({ scanDue }) =>
  Effect.repeat(scanDue, { while: (done) => done > 0 })
)

export const batchOf = (tenant_id: TenantId, id: string) => Effect.flatMap(ScanBatches, ({ get }) => get(tenant_id, id))

/** Waits until the scanner was asked so often. */
export const untilAsked = Effect.fnUntraced(function* (times: number) {
  const scanner = yield* ScannerControl
  yield* Effect.repeat(Effect.andThen(Effect.yieldNow, Ref.get(scanner.asked)), {
    until: (calls) => calls.length >= times
  })
})

const unseen: MerchantScan = {
  id: ScanId.make("01a20000-0000-7000-8000-000000000000"),
  domain: "shop.com",
  merchant_name: null,
  merchant_category: null,
  country_code: null,
  region: null,
  url: "https://shop.com/",
  ...nothingSeen,
  rubric_version: "2026-11.1",
  requests: [],
  vantage: { user_agent: "Turnpike", network: "test" },
  scan_duration_ms: 1,
  status: "completed",
  report_url: "http://turnpike.test/report",
  scanned_at: null,
  created_at: new Date(0),
  updated_at: new Date(0)
}
