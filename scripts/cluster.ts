// Several servers on one database behind one address, for trying it: `npm run cluster -- 3`. Ctrl-C stops all of them.
import { Config, Effect, Exit, Scope } from "effect"
import { once } from "node:events"
import { setTimeout as pause } from "node:timers/promises"
import { join, resolve } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Node from "#layers/Node.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as Setting from "#layers/Setting.ts"
import { openFront } from "./cluster/Front.ts"
import { freePort, natsServer, type Program, start, startNats } from "./cluster/Programs.ts"
import { startFlags, startSettings } from "./cluster/Start.ts"

const count = Number(process.argv[2] ?? 3)
if (!Number.isInteger(count) || count < 1 || count > 16) {
  console.error("How many servers? A number from 1 to 16.")
  process.exit(1)
}
const dataDir = resolve(process.env["TURNPIKE_DATA_DIR"] ?? ".turnpike")
const asked = Effect.runSyncExit(
  Config.all({
    // Those of the servers come behind it.
    port: Setting.whole("PORT", 0, 65_535 - count).pipe(Config.withDefault(4020)),
    connections: Postgres.maxConnections
  })
)
if (Exit.isFailure(asked)) {
  console.error(`\nThe cluster cannot run: ${Node.reasonOf(asked.cause)}`)
  process.exit(1)
}
const { connections, port } = asked.value

const scope = Scope.makeUnsafe()
const programs: Array<Program> = []
// The last one is a terminal that is closed.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
const stopped = Promise.race(signals.map((signal) => once(process, signal)))
let isStopping = false
void stopped.then(() => {
  isStopping = true
})
// npm passes on the Ctrl-C that the terminal has sent already: a second one must not leave the database behind.
for (const signal of signals) process.on(signal, () => {})

/** The database that `DATABASE_URL` names, or else one of our own that all servers share. */
const database = async () => {
  const given = process.env["DATABASE_URL"]
  if (given) return { url: given, shown: "DATABASE_URL" }
  // Beside its pool a server has connections of the ledger and of listeners.
  const settings = { max_connections: String(60 + count * (connections + 10)) }
  const own = EmbeddedPostgres.make({ dataDir: join(dataDir, "postgres"), settings })
  const { database, socketDir, username } = await Effect.runPromise(Scope.provide(own, scope))
  const url = `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
  return { url, shown: "embedded Postgres, durable" }
}

const nats = async () => {
  const given = process.env["NATS_URL"]
  if (given) return { url: given, shown: "NATS_URL" }
  if (natsServer === undefined) return { url: "", shown: "the database; install nats-server for NATS" }
  const free = await freePort()
  programs.push(startNats(natsServer, free, join(dataDir, "nats")))
  return { url: `nats://127.0.0.1:${free}`, shown: `NATS at 127.0.0.1:${free}` }
}

const serve = async () => {
  const { shown: shownDatabase, url: databaseUrl } = await database()
  const { shown: shownBus, url: natsUrl } = await nats()
  const frontPort = port === 0 ? await freePort() : port
  const base = `http://127.0.0.1:${frontPort}`
  const ports = await Promise.all(
    Array.from({ length: count }, (_, index) => (port === 0 ? freePort() : port + 1 + index))
  )
  const startServer = (own: number, index: number) => {
    const program = start(
      process.execPath,
      [...startFlags, join(import.meta.dirname, "../src/main.ts")],
      {
        ...startSettings,
        DATABASE_URL: databaseUrl,
        NATS_URL: natsUrl,
        HOST: "127.0.0.1",
        PORT: String(own),
        TURNPIKE_DATA_DIR: dataDir,
        TURNPIKE_PUBLIC_URL: process.env["TURNPIKE_PUBLIC_URL"] ?? base,
        TURNPIKE_TRUSTED_PROXIES: "127.0.0.1",
        TURNPIKE_DRAIN_DELAY: "1 second",
        TURNPIKE_LOG_LEVEL: process.env["TURNPIKE_LOG_LEVEL"] ?? "Warn"
      },
      `server ${index + 1}`
    )
    programs.push(program)
    void program.exited.then((code) => {
      if (!isStopping)
        console.error(`\n  Server ${index + 1} on port ${own} has ended (${program.child.signalCode ?? code})\n`)
    })
    return program
  }
  const answers = async (own: number, program: Program) => {
    for (;;) {
      const ready = await fetch(`http://127.0.0.1:${own}/health/ready`).then(
        (answer) => answer.ok,
        () => false
      )
      if (ready || isStopping) return
      if (program.child.exitCode !== null) throw new Error("A server could not start.")
      await pause(50)
    }
  }
  // The first one migrates the database and makes the credentials.
  const [first = 0, ...others] = ports
  await answers(first, startServer(first, 0))
  await Promise.all(others.map((own, index) => answers(own, startServer(own, index + 1))))
  const front = await openFront(frontPort, ports)
  const rows = [
    ["Base address", base],
    [
      "Servers",
      programs
        .slice(-count)
        .map(({ child }, index) => `http://127.0.0.1:${ports[index]} (process ${child.pid})`)
        .join("\n                ")
    ],
    ["Credentials", join(dataDir, "credentials.json")],
    ["Database", shownDatabase],
    ["Bus", shownBus],
    ["Private hosts", process.env["TURNPIKE_ALLOW_HOSTS"] || "none; TURNPIKE_ALLOW_HOSTS names origins on this machine"]
  ]
  console.log(
    `\n  Turnpike is open (${count} servers)\n\n${rows.map(([name = "", value = ""]) => `  ${name.padEnd(14)}${value}`).join("\n")}\n`
  )
  return front
}

let status = 0
let front: Awaited<ReturnType<typeof serve>> | undefined
try {
  front = await Promise.race([serve(), stopped.then(() => undefined)])
  const servers = programs.slice(-count).map(({ exited }) => exited)
  await Promise.race([stopped, Promise.all(servers)])
  if (!isStopping) throw new Error("All servers have ended.")
} catch (error) {
  status = 1
  console.error(`\nThe cluster cannot run: ${error instanceof Error ? error.message : String(error)}`)
}
isStopping = true
// Whoever is served last is served to the end: servers, then their front, then what they stand on.
await Promise.all(programs.filter(({ child }) => !child.spawnargs.includes("-js")).map(({ stop }) => stop()))
await front?.close()
await Promise.all(programs.map(({ stop }) => stop()))
await Effect.runPromise(Scope.close(scope, Exit.void))
process.exit(status)
