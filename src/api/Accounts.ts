import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Account, CreateAccount } from "#domain/Account.ts"
import { AccountId } from "#domain/Ids.ts"
import { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const account = {
  id: "acc_01h455vb4pex5vsknk084sn02r",
  tenant_id: "ten_01h455vb4pex5vsknk084sn02p",
  environment: "test",
  type: "business",
  name: "Acme Weather",
  email: "billing@acme.example",
  country: "DE",
  metadata: { crm: "7781" },
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:05.678Z"
} as const

const create = HttpApiEndpoint.post("create", "/accounts", {
  headers: idempotencyHeaders,
  payload: CreateAccount,
  success: Account.pipe(HttpApiSchema.status(201)),
  error: problems(IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "accounts", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create an account",
      description:
        "An account owns wallets and priced endpoints. Only `name` (1 to 255 characters) is needed; `type` is `business` when left " +
        "out, `country` is an assigned code of ISO 3166-1 alpha-2 in upper case, and `metadata` is a JSON object of at most 16 KiB. " +
        createdOnce,
      body: { name: account.name, type: "business", email: account.email, country: "DE", metadata: account.metadata },
      answer: account
    })
  )

const list = HttpApiEndpoint.get("list", "/accounts", { query: pageQuery, success: page(Account) })
  .annotate(Requires, { resource: "accounts", action: "read" })
  .annotateMerge(
    documented({
      summary: "List accounts",
      description: "The accounts of the caller's tenant, newest first. The last one is the tenant's own.",
      answer: { data: [account], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/accounts/:id", {
  params: { id: AccountId },
  success: Account,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "accounts", action: "read" })
  .annotateMerge(
    documented({
      summary: "Get an account",
      description: "The id is taken as `acc_...` or as a plain uuid. Another tenant's account is not found.",
      answer: account
    })
  )

export class AccountsApi extends HttpApiGroup.make("accounts")
  .add(create, list, get)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Accounts",
      description: "The companies and people of a tenant: owners of wallets and endpoints."
    })
  ) {}
