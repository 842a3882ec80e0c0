import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ApiKey, CreateApiKey, InsufficientScope, IssuedApiKey, storeNow } from "#domain/Credential.ts"
import { KeyId } from "#domain/Ids.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"

const shown = {
  id: "key_01h455vb4pex5vsknk084sn02q",
  name: "Checkout service",
  environment: "test",
  scopes: ["wallets:read", "x402:*"]
} as const
const traces = { prefix: "pk_test_", last_four: "mA3x", created_at: "2026-01-02T03:04:05.678Z" } as const

const create = HttpApiEndpoint.post("create", "/api-keys", {
  payload: CreateApiKey,
  success: IssuedApiKey.pipe(HttpApiSchema.status(201)),
  error: problems(InsufficientScope, InvalidRequest)
})
  .annotate(Requires, { resource: "api_keys", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create an API key",
      description:
        "`key` is shown in this answer and never again: only its SHA-256 hash, prefix and last four characters are kept. Scopes are " +
        "`resource:read`, `resource:write`, `resource:*` or `*:*`; a scope that the calling key does not have itself is refused with " +
        "403 `INSUFFICIENT_SCOPE`. `environment` may be left out; it can only be this server's.",
      body: { name: shown.name, scopes: shown.scopes },
      answer: {
        ...shown,
        key: "pk_test_XXXXXXXXXXXXXXXXXXXXXXXXXXXXmA3x",
        ...traces,
        warning: storeNow
      }
    })
  )

const list = HttpApiEndpoint.get("list", "/api-keys", { query: pageQuery, success: page(ApiKey) })
  .annotate(Requires, { resource: "api_keys", action: "read" })
  .annotateMerge(
    documented({
      summary: "List API keys",
      description:
        "The keys of the caller's tenant, newest first, revoked ones with `revoked_at` for 30 days. The keys themselves are not kept.",
      answer: {
        data: [{ ...shown, ...traces, revoked_at: null }],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      }
    })
  )

const revoke = HttpApiEndpoint.delete("revoke", "/api-keys/:id", {
  params: { id: KeyId },
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "api_keys", action: "write" })
  .annotateMerge(
    documented({
      summary: "Revoke an API key",
      description:
        "The key stops working everywhere at once and for good: whoever shows it gets 401 `EXPIRED_API_KEY` for 30 days, and " +
        "`INVALID_API_KEY` when the key is forgotten. A key that is revoked already is not found. A key may revoke itself."
    })
  )

export class ApiKeysApi extends HttpApiGroup.make("api_keys")
  .add(create, list, revoke)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "API keys",
      description: "Credentials of a tenant's own programs, narrowed by scopes."
    })
  ) {}
