import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CallerContext } from "#domain/CallerContext.ts"
import { Authorization } from "./Authorization.ts"
import { documented } from "./Documented.ts"

const get = HttpApiEndpoint.get("get", "/context", { success: CallerContext }).annotateMerge(
  documented({
    summary: "See who you are",
    description:
      "What the shown credential resolves to: its tenant, environment, kind and scopes. `account_id` is the tenant's own account, " +
      "which operations mean when they name none. `api_key_id` is null for other kinds of credentials. No scope is needed.",
    answer: {
      tenant_id: "ten_01h455vb4pex5vsknk084sn02p",
      environment: "test",
      actor_type: "api_key",
      actor_id: "key_01h455vb4pex5vsknk084sn02q",
      account_id: "acc_01h455vb4pex5vsknk084sn02r",
      scopes: ["*:*"],
      api_key_id: "key_01h455vb4pex5vsknk084sn02q"
    }
  })
)

export class ContextApi extends HttpApiGroup.make("context")
  .add(get)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(OpenApi.annotations({ title: "Context", description: "Who is calling." })) {}
