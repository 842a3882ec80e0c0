import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { toTypeId } from "#domain/Ids.ts"
import { Accounts } from "#services/Accounts.ts"
import { administered } from "./Administration.ts"
import { existing, name, tenant } from "./Tenants.ts"

const create = Command.make("create", { tenant, name }, ({ name, tenant }) =>
  Effect.gen(function* () {
    yield* existing(tenant)
    const made = yield* Effect.flatMap(Accounts, (accounts) => accounts.create(tenant, { name }))
    yield* Console.log(toTypeId("acc", made.id))
  })
).pipe(Command.withDescription("Make an account within a tenant"), administered)

/** Who owns wallets within a tenant. */
export const account = Command.make("account").pipe(
  Command.withDescription("The owners within a tenant"),
  Command.withSubcommands([create])
)
