import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Examination } from "#domain/Examination.ts"
import { AmountTooLarge, IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { CreditGrant, GrantCredits } from "#domain/ScannerCredit.ts"
import { CreateTenant, Tenant } from "#domain/Tenant.ts"
import { IdempotencyKey } from "#domain/Text.ts"
import { Authorization, Operators, Requires, WaitsForOthers } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const tenant = {
  id: "ten_01h455vb4pex5vsknk084sn02p",
  name: "Acme",
  account_id: "acc_01h455vb4pex5vsknk084sn02r",
  created_at: "2026-01-02T03:04:05.678Z"
} as const

const users = { kinds: ["jwt"] } as const

const whoMayCall =
  "For owners of the first tenant, which is the operator's own, logged in; all others get 403 `FORBIDDEN`."

const keyed = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, idempotency_key: Schema.optionalKey(IdempotencyKey) })

const createTenant = HttpApiEndpoint.post("createTenant", "/tenants", {
  headers: idempotencyHeaders,
  payload: keyed(CreateTenant.fields),
  success: Tenant.pipe(HttpApiSchema.status(201)),
  error: problems(IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, users)
  .annotateMerge(
    documented({
      summary: "Create a tenant",
      description:
        `${whoMayCall} A tenant shares nothing with others; it comes with an account of its own and without credits. Its first owner and ` +
        `its first key are made with the administration command. ${createdOnce}`,
      body: { name: tenant.name },
      answer: tenant
    })
  )

const tenants = HttpApiEndpoint.get("tenants", "/tenants", { query: pageQuery, success: page(Tenant) })
  .annotate(Requires, users)
  .annotateMerge(
    documented({
      summary: "List all tenants",
      description: `${whoMayCall} Oldest first: the first one is the operator's.`,
      answer: { data: [tenant], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const grants = HttpApiEndpoint.post("grants", "/scanner/credits/grants", {
  headers: idempotencyHeaders,
  payload: keyed(GrantCredits.fields),
  success: CreditGrant.pipe(HttpApiSchema.status(201)),
  error: problems(NotFound, AmountTooLarge, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, users)
  .annotateMerge(
    documented({
      summary: "Give a tenant scanner credits",
      description:
        `${whoMayCall} Whole credits; to the operator's own tenant where none is named. 422 \`AMOUNT_TOO_LARGE\` where it would be more ` +
        "than the ledger holds. With an idempotency key, in the body as `idempotency_key` or as header, they are given once in 24 hours: a " +
        "repetition answers what the first request answered, with `Idempotency-Replayed: true`, and the same key with other parameters is " +
        "409 `IDEMPOTENCY_KEY_REUSED`.",
      body: { tenant_id: tenant.id, credits: 1000 },
      answer: { tenant_id: tenant.id, credits: 1000, balance: 1993, created_at: tenant.created_at }
    })
  )

const doctor = HttpApiEndpoint.post("doctor", "/doctor", {
  success: Examination,
  error: problem(ServiceUnavailable)
})
  .annotate(Requires, users)
  .annotate(WaitsForOthers, true)
  .annotateMerge(
    documented({
      summary: "Prove the books",
      description:
        `${whoMayCall} Checks every promise about the books from scratch, in one snapshot of the live database, and repairs nothing; the ` +
        "answer is 200 also where one is broken. That takes seconds, on large books a minute and more, and ends when its caller leaves. One " +
        "runs at a time in each process: meanwhile, and when it took more than five minutes, the answer is 503 `SERVICE_UNAVAILABLE` with " +
        "`Retry-After`. `npm run turnpike -- doctor` does the same and may take as long as it takes.",
      answer: {
        ok: false,
        checked: 2,
        broken: 1,
        examined_at: tenant.created_at,
        duration_ms: 12,
        promises: [
          { promise: "the balances of each currency sum to zero", ok: true, rows: [], duration_ms: 3 },
          {
            promise: "a refusal in the log moved nothing, and a line names a hold when it is about one",
            ok: false,
            rows: [
              {
                seq: "42",
                command_id: "01890a5d-ac96-774b-bcce-b302099a8057",
                kind: "refuse",
                amount: "1",
                hold_id: null
              }
            ],
            duration_ms: 9
          }
        ]
      }
    })
  )

export class AdministrationApi extends HttpApiGroup.make("administration")
  .add(createTenant, tenants, grants, doctor)
  .middleware(Operators)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Administration",
      description: "What the operator of the installation does, across all tenants."
    })
  ) {}
