import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { TenantId, toTypeId } from "#domain/Ids.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { parseDecimal, unit } from "#domain/Money.ts"
import { Scope } from "#domain/Principal.ts"
import * as Bus from "#layers/Bus.ts"
import * as DatabaseClock from "#layers/DatabaseClock.ts"
import * as Node from "#layers/Node.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Accounts } from "#services/Accounts.ts"
import { Credentials } from "#services/Credentials.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Settlements } from "#services/Settlements.ts"
import { Tenants } from "#services/Tenants.ts"
import { settlement } from "./cli/Settlements.ts"
import { user } from "./cli/Users.ts"

class BooksBroken extends Schema.TaggedError<BooksBroken>()("BooksBroken", {}) {}

const tenant = Flag.String("tenant").pipe(
  Flag.withDescription("The tenant, as ten_… or uuid"),
  Flag.withSchema(TenantId)
)

const doctor = Command.make("doctor", {}, () =>
  Effect.gen(function* () {
    const { examine } = yield* Doctor
    const findings = yield* examine
    for (const { broken, millis, promise } of findings) {
      yield* Console.log(`${broken.length === 0 ? "ok    " : "BROKEN"} ${promise} (${millis} ms)`)
      for (const row of broken) yield* Console.log(`         ${shown(row)}`)
    }
    const failed = findings.filter((finding) => finding.broken.length > 0).length
    yield* Console.log(
      failed === 0 ? "The books are in order." : `${failed} of ${findings.length} promises are broken.`
    )
    if (failed > 0) return yield* new BooksBroken()
  })
).pipe(Command.withDescription("Prove the books of the database, in one snapshot; exits 1 when a promise is broken"))

const createTenant = Command.make(
  "create",
  { name: Argument.String("name").pipe(Argument.withSchema(Schema.NonEmptyString)) },
  ({ name }) =>
    Effect.gen(function* () {
      const made = yield* Effect.flatMap(Tenants, (tenants) => tenants.create({ name }))
      yield* Console.log(`tenant   ${toTypeId("ten", made.id)}\naccount  ${toTypeId("acc", made.account_id)}`)
    })
).pipe(Command.withDescription("Make a tenant with an account of its own"))

const listTenants = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const found = yield* Effect.flatMap(Tenants, (tenants) => tenants.list({ page: 1, limit: 200 }))
    for (const one of found) yield* Console.log(`${toTypeId("ten", one.id)}  ${one.name}`)
  })
).pipe(Command.withDescription("List the tenants, oldest first"))

const createAccount = Command.make(
  "create",
  { tenant, name: Argument.String("name").pipe(Argument.withSchema(Schema.NonEmptyString)) },
  ({ name, tenant }) =>
    Effect.gen(function* () {
      const made = yield* Effect.flatMap(Accounts, (accounts) => accounts.create(tenant, { name }))
      yield* Console.log(toTypeId("acc", made.id))
    })
).pipe(Command.withDescription("Make an account within a tenant"))

const createKey = Command.make(
  "create",
  {
    tenant,
    name: Argument.String("name").pipe(Argument.withSchema(Schema.NonEmptyString)),
    scope: Flag.String("scope").pipe(
      Flag.withSchema(Scope),
      Flag.atLeast(1),
      Flag.withDescription("What the key may do, such as wallets:read; may be given several times")
    )
  },
  ({ name, scope, tenant }) =>
    Effect.gen(function* () {
      const made = yield* Effect.flatMap(Credentials, (credentials) =>
        credentials.issue({ tenant_id: tenant, kind: "api_key", name, scopes: scope })
      )
      yield* Console.log(made.key)
    })
).pipe(Command.withDescription("Make an API key and show it, once"))

const grantCredits = Command.make("grant", { tenant, credits: Argument.String("credits") }, ({ credits, tenant }) =>
  Effect.gen(function* () {
    const amount = parseDecimal(credits)
    if (amount === undefined || amount === 0n || amount % unit !== 0n) {
      return yield* Console.error("credits must be a whole number above zero")
    }
    yield* Effect.flatMap(Ledger, (ledger) =>
      ledger.post({
        id: newUuid(),
        steps: [
          {
            kind: "transfer",
            debit: systemAccount("issuance", "CREDIT"),
            credit: tenant,
            currency: "CREDIT",
            amount,
            code: "grant"
          }
        ]
      })
    )
    yield* Console.log(`granted ${credits} scanner credits`)
  })
).pipe(Command.withDescription("Give a tenant scanner credits"))

/** Counts come as big integers, which JSON has no word for. */
const shown = (row: unknown) =>
  JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value))

const turnpike = Command.make("turnpike").pipe(
  Command.withDescription("Administration of a Turnpike database (DATABASE_URL, or the embedded one)"),
  Command.withSubcommands([
    doctor,
    Command.make("tenant").pipe(Command.withSubcommands([createTenant, listTenants])),
    Command.make("account").pipe(Command.withSubcommands([createAccount])),
    Command.make("key").pipe(Command.withSubcommands([createKey])),
    Command.make("credits").pipe(Command.withSubcommands([grantCredits])),
    settlement,
    user
  ])
)

Command.run(turnpike, { version: "0.1.0" }).pipe(
  Effect.provide(
    Settlements.layer.pipe(
      Layer.provideMerge(Platform.administration),
      Layer.provide(Layer.merge(Bus.layer, Node.layerVisitor)),
      Layer.provide(DatabaseClock.layer),
      Layer.provide(Postgres.layerVisitor),
      Layer.merge(NodeServices.layer)
    )
  ),
  NodeRuntime.runMain
)
