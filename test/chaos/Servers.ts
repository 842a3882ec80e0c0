import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { freePort } from "../../scripts/cluster/Programs.ts"
import { startFlags } from "../../scripts/cluster/Start.ts"

const main = join(import.meta.dirname, "../../src/main.ts")

/** A Turnpike of its own process. */
export interface Server {
  readonly port: number
  readonly base: string
  readonly process: ChildProcess
  readonly kill: (signal?: NodeJS.Signals) => Promise<number | null>
}

/**
 * Starts a server and waits until it is ready; what it writes to stderr is shown only if that fails. `flags` are for node, beside those
 * of `npm start`.
 */
export const startServer = async (
  env: Readonly<Record<string, string>>,
  flags: ReadonlyArray<string> = []
): Promise<Server> => {
  const port = env["PORT"] === undefined ? await freePort() : Number(env["PORT"])
  const child = spawn(process.execPath, [...startFlags, ...flags, main], {
    env: {
      ...process.env,
      TURNPIKE_RATE_LIMIT: "off",
      TURNPIKE_LOG_LEVEL: "Warn",
      HOST: "127.0.0.1",
      ...env,
      PORT: String(port)
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const output: Array<string> = []
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface(stream).on("line", (line) => output.push(line))
  }
  const exited = once(child, "exit")
  const base = `http://127.0.0.1:${port}`
  while (child.exitCode === null && child.signalCode === null) {
    if (await isReady(base)) {
      const kill = async (signal: NodeJS.Signals = "SIGKILL") => {
        child.kill(signal)
        await exited
        return child.exitCode
      }
      return { port, base, process: child, kill }
    }
    await pause(25)
  }
  throw new Error(`The server ended before it was ready:\n${output.join("\n")}`)
}

export const isReady = (base: string): Promise<boolean> =>
  fetch(`${base}/health/ready`, { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.body?.cancel().then(() => response.ok) ?? response.ok,
    () => false
  )

/** Waiting for another process to get somewhere; never for something to probably have happened. */
export const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** An origin that answers at once and counts how often each payment reached it. */
export const startOrigin = async () => {
  const hits = new Map<string, number>()
  const server = createServer((request, response) => {
    const payment = String(request.headers["x-payment-id"])
    hits.set(payment, (hits.get(payment) ?? 0) + 1)
    response.setHeader("content-type", "application/json")
    response.end('{"served":true}')
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.closeAllConnections()
    server.close()
    await once(server, "close")
  }
  return { hits, port, url: `http://127.0.0.1:${port}`, stop }
}
