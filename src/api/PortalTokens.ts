import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { InsufficientScope } from "#domain/Credential.ts"
import { AccountId, PortalTokenId } from "#domain/Ids.ts"
import { CreatePortalToken, IssuedPortalToken, PortalToken } from "#domain/PortalToken.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"

const shown = {
  id: "ptk_01h455vb4pex5vsknk084sn02v",
  customer_reference: "acc_01h455vb4pex5vsknk084sn02r",
  scopes: ["usage:read", "transfers:read"],
  expires_at: "2026-01-02T04:04:05.678Z",
  created_at: "2026-01-02T03:04:05.678Z"
} as const

const create = HttpApiEndpoint.post("create", "/portal-tokens", {
  payload: CreatePortalToken,
  success: IssuedPortalToken.pipe(HttpApiSchema.status(201)),
  error: problems(NotFound, InsufficientScope)
})
  .annotate(Requires, { resource: "api_keys", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create a portal token",
      description:
        "A credential that a customer's browser may hold: it reads what its scopes say (`transfers:read`, `agents:read`; no " +
        "operation asks for `usage:read` or `invoices:read`) of one customer, and can do nothing else. `customer_reference` is the id of that customer's " +
        "account, as `acc_...` or uuid; an account that the caller's tenant does not have is not found. `expires_in` is 60 seconds to " +
        "24 hours, an hour when left out. `token` is shown in this answer and never again. Asks for `api_keys:write`, and for the " +
        "right to see what the token shows: `transfers:read`, `agents:read`, and for usage and invoices `x402:read`.",
      body: { customer_reference: shown.customer_reference, scopes: shown.scopes, expires_in: 3_600 },
      answer: {
        ...shown,
        token: "portal_test_XXXXXXXXXXXXXXXXXXXXXXXXXXXXmA3x",
        warning: "Store this token now: it is not shown again."
      }
    })
  )

const includeRevoked = {
  schema: { type: "boolean", default: false },
  description: "Whether tokens that were revoked are listed too"
} as const
const customer = { description: "The account whose tokens are listed, as `acc_...` or uuid" } as const

const list = HttpApiEndpoint.get("list", "/portal-tokens", {
  query: {
    customer_reference: Schema.optionalKey(AccountId),
    include_revoked: Schema.Literals(["true", "false"]).pipe(Schema.withDecodingDefaultKey(Effect.succeed("false"))),
    ...pageQuery
  },
  success: page(PortalToken)
})
  .annotate(Requires, { resource: "api_keys", action: "read" })
  .annotateMerge(
    documented({
      summary: "List portal tokens",
      description:
        "The tokens of the caller's tenant, newest first, those whose time is over included; they are forgotten 30 days later.",
      query: { include_revoked: includeRevoked, customer_reference: customer },
      answer: {
        data: [{ ...shown, revoked_at: null }],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      }
    })
  )

const revoke = HttpApiEndpoint.delete("revoke", "/portal-tokens/:id", {
  params: { id: PortalTokenId },
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "api_keys", action: "write" })
  .annotateMerge(
    documented({
      summary: "Revoke a portal token",
      description:
        "The token stops working everywhere at once and for good: whoever shows it gets 401 `INVALID_PORTAL_TOKEN`. A token that is " +
        "revoked already is not found."
    })
  )

export class PortalTokensApi extends HttpApiGroup.make("portal_tokens")
  .add(create, list, revoke)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Portal tokens",
      description: "Short-lived views that a tenant gives its customers of themselves."
    })
  ) {}
