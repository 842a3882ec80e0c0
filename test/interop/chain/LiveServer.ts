import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"

const source = (file: string) => join(import.meta.dirname, "../../../src", file)

const relayerKey = generatePrivateKey()
/** Whose transactions bring the money. */
export const relayer = privateKeyToAccount(relayerKey).address

export interface Surroundings {
  readonly dataDir: string
  readonly rpcUrl: string
  /** `host:port` of origins that may be called although they are local. */
  readonly allowHosts: ReadonlyArray<string>
}

const environment = ({ allowHosts, dataDir, rpcUrl }: Surroundings, port: number) => {
  const { DATABASE_URL, HOST, TURNPIKE_FACILITATOR_URL, TURNPIKE_PUBLIC_URL, ...inherited } = process.env
  return {
    ...inherited,
    PORT: String(port),
    TURNPIKE_DATA_DIR: dataDir,
    TURNPIKE_ENVIRONMENT: "live",
    TURNPIKE_RPC_URL: rpcUrl,
    TURNPIKE_RELAYER_KEY: relayerKey,
    TURNPIKE_CONFIRMATIONS: "2",
    // A new chain starts with dear gas.
    TURNPIKE_MAX_FEE_GWEI: "20",
    TURNPIKE_ALLOW_HOSTS: allowHosts.join(",")
  }
}

/** Starts a live server on our own relayer; port 0 is any. Waits until it is ready. */
export const start = async (surroundings: Surroundings, port = 0) => {
  const log = join(surroundings.dataDir, "server.log")
  const said = () => readFileSync(log, "utf8")
  const output = openSync(log, "w")
  const child = spawn(process.execPath, [source("main.ts")], {
    stdio: ["ignore", output, output],
    env: environment(surroundings, port)
  })
  closeSync(output)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    if (hasEnded()) return
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }
  process.once("exit", () => child.kill("SIGKILL"))
  const until = Date.now() + 60_000
  while (!said().includes("Turnpike is open")) {
    if (hasEnded() || Date.now() > until) {
      await end("SIGKILL")
      throw new Error(`The live server did not start:\n${said().slice(-4000)}`)
    }
    await pause(50)
  }
  const credentials = JSON.parse(readFileSync(join(surroundings.dataDir, "credentials.json"), "utf8"))
  return {
    baseUrl: String(credentials.base_url),
    apiKey: String(credentials.api_key),
    accountId: String(credentials.account_id),
    said,
    /** As an operator does it. */
    stop: () => end("SIGTERM"),
    /** As a power cut does it. */
    kill: () => end("SIGKILL"),
    /** What `npm run turnpike -- doctor` says about its books. */
    doctor: () => {
      const { status, stderr, stdout } = spawnSync(process.execPath, [source("cli.ts"), "doctor"], {
        env: environment(surroundings, 0),
        encoding: "utf8"
      })
      return { healthy: status === 0, said: `${stdout}${stderr}`.trim() }
    }
  }
}
export type LiveServer = Awaited<ReturnType<typeof start>>
