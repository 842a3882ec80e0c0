import { Console, Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { CreditGrants } from "#services/CreditGrants.ts"
import { administered } from "./Administration.ts"
import { existing, tenant } from "./Tenants.ts"

/** At most `mostGranted`, as the API takes it. */
const Whole = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,11}$/, { expected: "a whole number above zero" }))

const credits = Argument.String("credits").pipe(
  Argument.withDescription("How many: a whole number above zero"),
  Argument.withSchema(Whole)
)

const grant = Command.make("grant", { tenant, credits }, ({ credits, tenant }) =>
  Effect.gen(function* () {
    yield* existing(tenant)
    yield* Effect.flatMap(CreditGrants, (grants) => grants.grant({ tenant_id: tenant, credits: Number(credits) }))
    yield* Console.log(`granted ${credits} scanner credits`)
  })
).pipe(Command.withDescription("Give a tenant scanner credits"), administered)

/** What the scanner's work costs. */
export const credit = Command.make("credits").pipe(
  Command.withDescription("What the scanner's work is paid with"),
  Command.withSubcommands([grant])
)
