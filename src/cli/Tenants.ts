import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { TenantId, toTypeId } from "#domain/Ids.ts"
import * as Text from "#domain/Text.ts"
import { Tenants } from "#services/Tenants.ts"
import { administered } from "./Administration.ts"
import { Unusable } from "./Unusable.ts"

/** Which tenant a command is about. */
export const tenant = Flag.String("tenant").pipe(
  Flag.withDescription("The tenant, as ten_… or uuid"),
  Flag.withSchema(TenantId)
)

/** How what a command makes is called: as the API would take it. */
export const name = Argument.String("name").pipe(Argument.withSchema(Text.name(255)))

/** Refuses a tenant that the database does not have. */
export const existing = (id: TenantId) =>
  Effect.flatMap(Tenants, (tenants) => tenants.get(id)).pipe(
    Effect.mapError(() => new Unusable({ message: `there is no tenant ${toTypeId("ten", id)}` }))
  )

const create = Command.make("create", { name }, ({ name }) =>
  Effect.gen(function* () {
    const tenants = yield* Tenants
    // The first one is the server's, which gives it an owner, keys and credits.
    if ((yield* tenants.list({ page: 1, limit: 1 })).length === 0) {
      return yield* new Unusable({
        message: "the database has no tenant yet: start the server first, it makes the first"
      })
    }
    const made = yield* tenants.create({ name })
    yield* Console.log(`tenant   ${toTypeId("ten", made.id)}\naccount  ${toTypeId("acc", made.account_id)}`)
  })
).pipe(Command.withDescription("Make a tenant with an account of its own"), administered)

const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const found = yield* Effect.flatMap(Tenants, (tenants) => tenants.list({ page: 1, limit: 200 }))
    for (const one of found) yield* Console.log(`${toTypeId("ten", one.id)}  ${one.name}`)
  })
).pipe(Command.withDescription("List the tenants, oldest first and at most 200"), administered)

/** Those who share nothing. */
export const tenants = Command.make("tenant").pipe(
  Command.withDescription("Tenants, each with an account of its own"),
  Command.withSubcommands([create, list])
)
