import { Console, Effect, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { unit } from "#domain/Money.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { administered } from "./Administration.ts"
import { existing, tenant } from "./Tenants.ts"

/** Fewer than the ledger can hold, in micro-units. */
const Whole = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,11}$/, { expected: "a whole number above zero" }))

const credits = Argument.String("credits").pipe(
  Argument.withDescription("How many: a whole number above zero"),
  Argument.withSchema(Whole)
)

const grant = Command.make("grant", { tenant, credits }, ({ credits, tenant }) =>
  Effect.gen(function* () {
    yield* existing(tenant)
    yield* Effect.flatMap(Ledger, (ledger) =>
      ledger.post({
        id: newUuid(),
        steps: [
          {
            kind: "transfer",
            debit: systemAccount("issuance", "CREDIT"),
            credit: tenant,
            currency: "CREDIT",
            amount: BigInt(credits) * unit,
            code: "grant"
          }
        ]
      })
    )
    yield* Console.log(`granted ${credits} scanner credits`)
  })
).pipe(Command.withDescription("Give a tenant scanner credits"), administered)

/** What the scanner's work costs. */
export const credit = Command.make("credits").pipe(
  Command.withDescription("What the scanner's work is paid with"),
  Command.withSubcommands([grant])
)
