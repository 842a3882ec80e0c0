import { Console, Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { mostGranted } from "#domain/ScannerCredit.ts"
import { CreditGrants } from "#services/CreditGrants.ts"
import { administered } from "./Administration.ts"
import { existing, tenant } from "./Tenants.ts"
import { Unusable } from "./Unusable.ts"

const form = `a whole number from 1 to ${mostGranted}`

/** As the API takes it. */
const Whole = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,11}$/, { expected: form }))

const credits = Argument.String("credits").pipe(
  Argument.withDescription(`How many: ${form}`),
  Argument.withSchema(Whole)
)

const grant = Command.make("grant", { tenant, credits }, ({ credits, tenant }) =>
  Effect.gen(function* () {
    yield* existing(tenant)
    yield* Effect.flatMap(CreditGrants, (grants) => grants.grant({ tenant_id: tenant, credits: Number(credits) })).pipe(
      Effect.catchTag("AMOUNT_TOO_LARGE", ({ maximum }) =>
        Effect.fail(new Unusable({ message: `the ledger holds no more than ${maximum} more scanner credits` }))
      )
    )
    yield* Console.log(`granted ${credits} scanner credits`)
  })
).pipe(Command.withDescription("Give a tenant scanner credits"), administered)

/** What the scanner's work costs. */
export const credit = Command.make("credits").pipe(
  Command.withDescription("What the scanner's work is paid with"),
  Command.withSubcommands([grant])
)
