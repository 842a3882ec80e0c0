import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Exit, Layer, Redacted, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { formatWithOptions } from "node:util"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Credentials } from "#services/Credentials.ts"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { Ledger } from "#services/Ledger.ts"
import { Tenants } from "#services/Tenants.ts"
import * as Help from "../src/cli/Help.ts"
import { turnpike } from "../src/cli/Turnpike.ts"

export type Environment = Readonly<Record<string, string>>

/** A command in this process: whether it failed, why, and what it wrote where. `typed` is what stands on its standard input. */
const runWith = Effect.fnUntraced(function* (env: Environment, typed: string, words: ReadonlyArray<string>) {
  const written = { out: "", error: "" }
  const writer =
    (where: "out" | "error") =>
    (...parts: ReadonlyArray<unknown>) => {
      written[where] += `${formatWithOptions({ colors: false }, ...parts)}\n`
    }
  const exit = yield* Command.runWith(turnpike, { version: "test" })(words).pipe(
    Effect.updateService(Stdio.Stdio, (stdio) => ({ ...stdio, stdin: Stream.make(new TextEncoder().encode(typed)) })),
    Effect.provideService(Console.Console, { ...globalThis.console, log: writer("out"), error: writer("error") }),
    Effect.provide(
      Layer.mergeAll(NodeServices.layer, Help.layer, ConfigProvider.layer(ConfigProvider.fromUnknown(env)))
    ),
    Effect.exit
  )
  return { ...written, failed: Exit.isFailure(exit), why: Exit.isFailure(exit) ? Node.reasonOf(exit.cause) : "" }
})
export const run = (env: Environment, ...words: ReadonlyArray<string>) => runWith(env, "", words)

export const addressOf = ({ config }: Database["Service"]) =>
  config.url === undefined ? "" : Redacted.value(config.url)

const deployment = Layer.succeed(Deployment, {
  environment: "sandbox",
  publicUrl: "http://localhost:4020",
  scannerUrl: "http://localhost:4020"
})
export const Test = Bootstrap.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Credentials.layer, Tenants.layer)),
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, BusMemory.layer)),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, deployment))
)

/** The first tenant of the database that `DATABASE_URL` leads to, and what an operator does there. */
export const office = Effect.gen(function* () {
  const { tenant_id } = yield* (yield* Bootstrap).ensure
  const env = { DATABASE_URL: addressOf(yield* Database) }
  return {
    env,
    tenant_id,
    type: (...words: ReadonlyArray<string>) => run(env, ...words),
    tell: (typed: string, ...words: ReadonlyArray<string>) => runWith(env, typed, words)
  }
})
