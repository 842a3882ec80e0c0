import { Console, Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { Scope } from "#domain/Principal.ts"
import { Credentials } from "#services/Credentials.ts"
import { administered } from "./Administration.ts"
import * as Answer from "./Answer.ts"
import { existing, name, tenant } from "./Tenants.ts"

const scope = Flag.String("scope").pipe(
  Flag.withSchema(Scope),
  Flag.atLeast(1),
  Flag.withDescription("What the key may do, such as wallets:read; may be given several times")
)

const create = Command.make("create", { tenant, name, scope }, ({ name, scope, tenant }) =>
  Effect.gen(function* () {
    yield* Answer.shownOnce("key")
    yield* existing(tenant)
    const made = yield* Effect.flatMap(Credentials, (credentials) =>
      credentials.issue({ tenant_id: tenant, kind: "api_key", name, scopes: scope })
    )
    yield* Console.log(made.key)
  })
).pipe(Command.withDescription("Make an API key and show it, once"), administered)

/** What programs of a tenant show. */
export const key = Command.make("key").pipe(
  Command.withDescription("What a tenant's programs call with"),
  Command.withSubcommands([create])
)
