import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { CallerContext } from "#domain/CallerContext.ts"
import { Authorization, everybody, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"

const get = HttpApiEndpoint.get("get", "/context", { success: CallerContext })
  .annotate(Requires, { kinds: everybody })
  .annotateMerge(
    documented({
      summary: "See who you are",
      description:
        "What the shown credential resolves to: its tenant, environment, kind and scopes. `account_id` is what operations mean when " +
        "they name no account: the tenant's own, an agent's, or that of a portal's customer. `agent_id` and `wallet_id`, the first " +
        "wallet it pays from, are an agent's; `api_key_id` is an API key's. They are null for everybody else. No scope is needed.",
      answer: {
        tenant_id: "ten_01h455vb4pex5vsknk084sn02p",
        environment: "test",
        actor_type: "api_key",
        actor_id: "key_01h455vb4pex5vsknk084sn02q",
        account_id: "acc_01h455vb4pex5vsknk084sn02r",
        scopes: ["*:*"],
        api_key_id: "key_01h455vb4pex5vsknk084sn02q",
        agent_id: null,
        wallet_id: null
      }
    })
  )

export class ContextApi extends HttpApiGroup.make("context")
  .add(get)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(OpenApi.annotations({ title: "Context", description: "Who is calling." })) {}
