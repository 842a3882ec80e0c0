import { Command } from "effect/cli"
import { account } from "./Accounts.ts"
import { credit } from "./Credits.ts"
import { doctor } from "./Doctor.ts"
import { key } from "./Keys.ts"
import { settlement } from "./Settlements.ts"
import { tenants } from "./Tenants.ts"
import { user } from "./Users.ts"

/** Everything that an operator does to a database. */
export const turnpike = Command.make("turnpike").pipe(
  Command.withDescription("Administration of a Turnpike database (DATABASE_URL, or the embedded one)"),
  Command.withSubcommands([doctor, tenants, account, key, credit, settlement, user])
)
