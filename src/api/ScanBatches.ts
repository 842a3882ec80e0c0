import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { ScanId } from "#domain/Scan.ts"
import { maxBatchTargets, ScanBatch } from "#domain/ScanBatch.ts"
import { InsufficientCredits } from "#domain/ScannerRefusal.ts"
import { IdempotencyKey, name, text } from "#domain/Text.ts"
import { Authorization, Requires, scanning } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"
import { CreateScan } from "./Scans.ts"
import { spellings } from "./Spelling.ts"

const example = {
  id: "0192f0c1-7d3a-7c3e-9b1a-5f2c8d9e0a33",
  name: "Prospects",
  description: null,
  status: "processing",
  total: 2,
  completed: 1,
  failed: 0,
  cancelled: 0,
  credits_charged: 1,
  credits_returned: 0,
  targets: [
    {
      domain: "shop.example.com",
      status: "completed",
      scan_id: "0192f0c1-7d3a-7c3e-9b1a-5f2c8d9e0a11",
      readiness_score: 72,
      error: null
    },
    { domain: "store.example.org", status: "pending", scan_id: null, readiness_score: null, error: null }
  ],
  created_at: "2026-01-02T03:04:05.678Z",
  completed_at: null
} as const

const targets = Schema.optionalKey(
  Schema.Array(CreateScan).check(Schema.isMinLength(1), Schema.isMaxLength(maxBatchTargets))
)

/** 1 to 500 domains, each as a scan would be asked for. `skip_if_fresh` is of those that do not say; `domains` is another spelling. */
const CreateScanBatch = Schema.Struct({
  targets,
  domains: targets,
  name: Schema.optionalKey(Schema.NullOr(name(255))),
  description: Schema.optionalKey(Schema.NullOr(text(1000))),
  skip_if_fresh: Schema.optionalKey(Schema.Boolean),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})

const params = { id: ScanId }

const create = HttpApiEndpoint.post("create", "/scan/batch", {
  headers: idempotencyHeaders,
  payload: CreateScanBatch,
  success: ScanBatch.pipe(HttpApiSchema.status(202)),
  error: problems(InvalidRequest, InsufficientCredits, DomainNotAllowed, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, scanning("batch"))
  .annotateMerge(
    spellings(
      documented({
        summary: "Scan many merchants",
        description:
          "Takes 1 to 500 targets at half a credit each, rounded up in sum and charged before; the scans run in the background, about ten " +
          "at a time. If one of the domains is none, the whole batch is refused and nothing is charged. What could not be scanned costs " +
          "nothing: it is returned when the batch ends. `skip_if_fresh` is of all targets that do not say it themselves. `name` and " +
          "`description` are kept and shown. `domains` is accepted for `targets`. " +
          createdOnce,
        body: {
          name: "Prospects",
          targets: [{ domain: "shop.example.com", merchant_category: "retail" }, { domain: "store.example.org" }],
          skip_if_fresh: true
        },
        answer: example
      }),
      { needed: "targets", others: { domains: "targets" } }
    )
  )

const get = HttpApiEndpoint.get("get", "/scan/batch/:id", { params, success: ScanBatch, error: problem(NotFound) })
  .annotate(Requires, scanning("batch", "read"))
  .annotateMerge(
    documented({
      summary: "Get a batch",
      description: "A batch of the caller's tenant with every target, in the order in which they were given.",
      answer: example
    })
  )

const cancel = HttpApiEndpoint.post("cancel", "/scan/batch/:id/cancel", {
  params,
  success: ScanBatch,
  error: problem(NotFound)
})
  .annotate(Requires, scanning("batch"))
  .annotateMerge(
    documented({
      summary: "Cancel a batch",
      description:
        "What has not begun is not scanned, and its credits are returned; what is under way ends. Cancelling a batch that is over changes " +
        "nothing.",
      answer: { ...example, status: "cancelled", cancelled: 1 }
    })
  )

export class ScanBatchesApi extends HttpApiGroup.make("scan_batches")
  .add(create, get, cancel)
  .middleware(Authorization)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({
      title: "Batches of scans",
      description: "Many merchants under one order, at half the price."
    })
  ) {}
