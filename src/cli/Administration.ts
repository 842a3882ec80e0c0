import { Config, Console, Effect, Layer, Option, Schema } from "effect"
import { Command } from "effect/cli"
import { existsSync } from "node:fs"
import { join } from "node:path"
import * as Bus from "#layers/Bus.ts"
import * as CredentialsFile from "#layers/CredentialsFile.ts"
import * as DatabaseClock from "#layers/DatabaseClock.ts"
import * as Node from "#layers/Node.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { partsOf, unreadable } from "#layers/Postgres/Unusable.ts"
import * as Bootstrap from "#services/Bootstrap.ts"
import { UnresolvedOnChain } from "#services/ChainSettlements/UnresolvedOnChain.ts"
import { Settlements } from "#services/Settlements.ts"

/** There is no database to administer. `message` is a sentence for the operator. */
export class NoDatabase extends Schema.TaggedError<NoDatabase>()("NoDatabase", { message: Schema.String }) {}

/** Where the address of a database leads: who logs in there, and how, is not shown. */
const shown = ({ hostname, pathname, port, searchParams }: URL): string => {
  const host = searchParams.get("host") ?? (hostname || "localhost")
  return `${host}:${searchParams.get("port") ?? (port || "5432")}${pathname}`
}

/** The database that this process is pointed at. One of our own is opened where there is one, and never made: that is the server's. */
const place = Effect.gen(function* () {
  const address = yield* Config.option(Config.Redacted("DATABASE_URL"))
  if (Option.isSome(address)) {
    const parts = partsOf(address.value)
    return parts === undefined ? yield* unreadable() : shown(parts)
  }
  const directory = join(yield* CredentialsFile.dataDir, "postgres")
  // What initdb has not finished is not called that yet.
  if (existsSync(join(directory, "cluster"))) return `${directory} (embedded)`
  return yield* new NoDatabase({
    message:
      `This user sees no database in ${directory}. Set DATABASE_URL or TURNPIKE_DATA_DIR to those of the server, ` +
      "or start the server first: it makes the database."
  })
})

/** Said before the database is asked anything, and not where the answers of a command are. */
const announced = Layer.effectDiscard(Effect.flatMap(place, (found) => Console.error(`database  ${found}`)))

const layer = Layer.merge(Settlements.layer, UnresolvedOnChain.layer).pipe(
  Layer.provideMerge(Platform.administration),
  Layer.provide(Bus.layerVisitor),
  Layer.provide(DatabaseClock.layer),
  // Before anything that may write.
  Layer.provide(Layer.effectDiscard(Bootstrap.checkEnvironment)),
  Layer.provide(Node.layerVisitor),
  Layer.provideMerge(Postgres.layerVisitor),
  Layer.provide(announced)
)

/** Gives a command the database, when it is carried out: help, and a command that is written wrongly, need none. */
export const administered = <const Name extends string, Input, E, R, ContextInput>(
  command: Command.Command<Name, Input, ContextInput, E, R>
) => Command.provide(command, layer)
