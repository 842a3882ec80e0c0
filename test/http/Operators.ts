import { Effect } from "effect"
import { Principal } from "#domain/Principal.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { callsWith } from "./Callers.ts"
import { login, person } from "./People.ts"

/** How somebody who is logged in calls. */
export const callsOf = Effect.fnUntraced(function* (principal: Principal, role: Parameters<typeof person>[1]) {
  const { email, id } = yield* person(principal, role)
  const { authorization } = (yield* login(email)).bearer
  return { email, id, call: callsWith(authorization.replace("Bearer ", "")) }
})

/** The tenant of whoever runs the server, and how its key and one of its owners call. */
export const operator = Effect.gen(function* () {
  const { account_id, tenant_id } = yield* (yield* Bootstrap).ensure
  const { key } = yield* (yield* Credentials).issue({ tenant_id, kind: "api_key", name: "key", scopes: ["*:*"] })
  const principal = new Principal({
    tenant_id,
    account_id,
    environment: "sandbox",
    actor_type: "api_key",
    actor_id: "key",
    scopes: ["*:*"]
  })
  return { key, principal, ...(yield* callsOf(principal, "owner")) }
})
