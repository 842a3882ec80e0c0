import { Console, Effect, Layer } from "effect"
import { relative } from "node:path"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import * as CredentialsFile from "./CredentialsFile.ts"
import { Nats } from "./Nats.ts"

/** What a person wants to know once the server is up. */
const text = Effect.gen(function* () {
  const { environment, publicUrl } = yield* Deployment
  const { embedded } = yield* Database
  const { allowHosts, allowLoopback } = yield* PublicHttpPolicy
  const credentials = yield* CredentialsFile.path
  const shown = relative(process.cwd(), credentials)
  const rows = [
    ["Base address", publicUrl],
    ["API docs", `${publicUrl}/docs`],
    ["Dashboard", `${publicUrl}/dashboard`],
    ["Credentials", shown.startsWith("..") ? credentials : shown],
    ["Database", embedded ? "embedded Postgres, durable" : "DATABASE_URL"]
  ]
  const nats = yield* Nats
  if (nats !== undefined)
    rows.push(["Bus", `NATS at ${nats.names.join(", ")}${nats.current() === undefined ? ", away" : ""}`])
  if (allowLoopback) rows.push(["Origins", "public addresses, and loopback ones because this is a sandbox of your own"])
  if (allowHosts.length > 0) rows.push(["Also allowed", allowHosts.join(", ")])
  // The API that the demo puts a price on is on loopback.
  if (allowLoopback) rows.push(["Try it", "npm run demo"])
  const lines = rows.map(([name = "", value = ""]) => `  ${name.padEnd(14)}${value}`)
  return `\n  Turnpike is open (${environment}, ready in ${process.uptime().toFixed(1)} s)\n\n${lines.join("\n")}\n`
})

/** Greets whoever started the server, when everything this layer is given stands. */
export const layer = Layer.effectDiscard(Effect.flatMap(text, Console.log))
