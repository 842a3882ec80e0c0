import { Cause, Effect, Exit, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { freePort } from "../../../scripts/cluster/Programs.ts"
import { startFlags, startSettings } from "../../../scripts/cluster/Start.ts"
import * as ProcessUse from "./ProcessUse.ts"

/** A Turnpike that runs as a process of its own. */
export interface Turnpike {
  readonly pid: number
  readonly port: number
  readonly dataDir: string
  /** Milliseconds from the start of the process until it said it is ready. */
  readonly startMillis: number
  readonly credentials: { readonly api_key: string; readonly account_id: string }
}

const entry = process.env["BENCH_SERVER"] ?? fileURLToPath(new URL("../../../src/main.ts", import.meta.url))
const profiles = process.env["BENCH_PROFILE"]

/** A data directory that is gone when the scope closes, whatever became of the server on it. */
export const temporaryData: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "turnpike-bench-gateway-"))
    // Postgres may run as another user than we do.
    chmodSync(directory, 0o755)
    return directory
  }),
  (directory) =>
    Effect.andThen(
      Effect.ignore(EmbeddedPostgres.discard(join(directory, "postgres"))),
      Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    )
)

/**
 * Starts a server as `npm start` does, on a free port, until the scope closes; waits until it is ready. `databaseUrl` names the
 * database of another one.
 */
export const start = (dataDir: string, databaseUrl?: string): Effect.Effect<Turnpike, never, Scope.Scope> =>
  Effect.gen(function* () {
    const port = yield* Effect.promise(freePort)
    const log = join(dataDir, "server.log")
    const started = performance.now()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => launch(dataDir, port, log, databaseUrl)),
      (child, exit) =>
        Effect.promise(async () => {
          const failed = hasEnded(child) || (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause))
          await stop(child)
          if (failed) process.stderr.write(`The last the server said:\n${readFileSync(log, "utf8").slice(-4000)}\n`)
        })
    )
    yield* Effect.promise(() => ready(child, port))
    return {
      pid: child.pid ?? 0,
      port,
      dataDir,
      startMillis: performance.now() - started,
      credentials: JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8"))
    }
  })

/** Posts to the API of a server with its first key and answers the record; anything but success ends the run. */
const create = (server: Turnpike, path: string, body: unknown): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.credentials.api_key}`, "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text)
  })

/** Offers `originUrl` for 0.01 USDC and answers the path at which it is sold. */
export const sell = (server: Turnpike, originUrl: string): Effect.Effect<string> =>
  Effect.gen(function* () {
    const receiver = yield* wallet(server)
    const endpoint = yield* create(server, "/v1/x402/endpoints", {
      name: "Quotes",
      path: "/quotes",
      method: "GET",
      accountId: server.credentials.account_id,
      walletId: receiver,
      basePrice: 0.01,
      currency,
      network,
      originUrl
    })
    return new URL(endpoint["gatewayUrl"] ?? "").pathname
  })

/** A wallet with as much as the faucet gives at once. */
export const fundedWallet = (server: Turnpike): Effect.Effect<string> =>
  Effect.gen(function* () {
    const id = yield* wallet(server)
    yield* create(server, `/v1/wallets/${id}/fund`, { amount: "10000.00", currency })
    return id
  })

/** What the server and its Postgres hold in memory, for a person. */
export const memory = ({ pid }: Turnpike): string =>
  `${ProcessUse.residentMegabytes(pid).toFixed(0)} MB resident, its Postgres ${ProcessUse.sharedMegabytes(ProcessUse.descendants(pid)).toFixed(0)} MB`

const currency = "USDC"
const network = "base-sepolia"

const wallet = (server: Turnpike): Effect.Effect<string> =>
  Effect.map(create(server, "/v1/wallets", { owner_type: "account", currency, network }), ({ id = "" }) => id)

const launch = (dataDir: string, port: number, log: string, databaseUrl: string | undefined): ChildProcess => {
  const output = openSync(log, "a")
  try {
    const { PORT, HOST, DATABASE_URL, TURNPIKE_PUBLIC_URL, ...environment } = process.env
    const profiling = profiles ? ["--cpu-prof", "--cpu-prof-dir", profiles] : []
    return spawn(process.execPath, [...startFlags, ...profiling, entry], {
      stdio: ["ignore", output, output],
      env: {
        ...environment,
        ...startSettings,
        ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
        PORT: String(port),
        TURNPIKE_DATA_DIR: dataDir,
        TURNPIKE_RATE_LIMIT: "off",
        NODE_COMPILE_CACHE: join(dataDir, "compile-cache")
      }
    })
  } finally {
    closeSync(output)
  }
}

const ready = async (child: ChildProcess, port: number) => {
  for (;;) {
    if (hasEnded(child)) throw new Error("The server ended before it was ready")
    const response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined)
    await response?.arrayBuffer()
    if (response?.status === 200) return
    await setTimeout(10)
  }
}

/** Asks it to end, as an operator would, and waits longer than it may take. */
const stop = async (child: ChildProcess) => {
  if (hasEnded(child)) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  const isPolite = await Promise.race([ended.then(() => true), setTimeout(15_000, false, { ref: false })])
  if (isPolite) return
  process.stderr.write("The server did not stop within 15 s of SIGTERM and is killed\n")
  child.kill("SIGKILL")
  await ended
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null
