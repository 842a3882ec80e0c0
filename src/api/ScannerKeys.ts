import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { InsufficientScope, storeNow } from "#domain/Credential.ts"
import { KeyId } from "#domain/Ids.ts"
import { NotFound } from "#domain/Refusal.ts"
import { CreateScannerKey, IssuedScannerKey, ScannerKey } from "#domain/ScannerKey.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem } from "./Problems.ts"

const shown = {
  id: "key_01h455vb4pex5vsknk084sn02w",
  name: "Nightly scans",
  environment: "test",
  scopes: ["scan", "read"]
} as const
const traces = { prefix: "psk_test_", last_four: "mA3x", created_at: "2026-01-02T03:04:05.678Z" } as const

const create = HttpApiEndpoint.post("create", "/keys", {
  payload: CreateScannerKey,
  success: IssuedScannerKey.pipe(HttpApiSchema.status(201)),
  error: problem(InsufficientScope)
})
  .annotate(Requires, { resource: "api_keys", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create a scanner key",
      description:
        "A credential for the scanner's operations alone, within `scan`, `tests`, `read` and `batch`; what it uses is charged to the " +
        "credits of the caller's tenant. `key` is shown in this answer and never again: only its SHA-256 hash, prefix and last four " +
        "characters are kept. Asks for `api_keys:write`, and for what the key may do: `scanner:read` for `read`, and `scanner:write` for " +
        "the other scopes.",
      body: { name: shown.name, scopes: shown.scopes },
      answer: {
        ...shown,
        key: "psk_test_XXXXXXXXXXXXXXXXXXXXXXXXXXXXmA3x",
        ...traces,
        warning: storeNow
      }
    })
  )

const list = HttpApiEndpoint.get("list", "/keys", { query: pageQuery, success: page(ScannerKey) })
  .annotate(Requires, { resource: "api_keys", action: "read" })
  .annotateMerge(
    documented({
      summary: "List scanner keys",
      description:
        "The scanner keys of the caller's tenant, newest first, revoked ones with `revoked_at` for 30 days. The keys themselves are " +
        "not kept. Asks for `api_keys:read`.",
      answer: {
        data: [{ ...shown, ...traces, revoked_at: null }],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      }
    })
  )

const revoke = HttpApiEndpoint.delete("revoke", "/keys/:id", {
  params: { id: KeyId },
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "api_keys", action: "write" })
  .annotateMerge(
    documented({
      summary: "Revoke a scanner key",
      description:
        "The key stops working everywhere at once and for good: whoever shows it gets 401 `EXPIRED_API_KEY` for 30 days, and " +
        "`INVALID_API_KEY` when the key is forgotten. A key that is revoked already is not found. Asks for `api_keys:write`."
    })
  )

export class ScannerKeysApi extends HttpApiGroup.make("scanner_keys")
  .add(create, list, revoke)
  .middleware(Authorization)
  .prefix("/v1/scanner")
  .annotateMerge(
    OpenApi.annotations({ title: "Scanner keys", description: "Credentials for the scanner's operations alone." })
  ) {}
