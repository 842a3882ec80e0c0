import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { accessSync, constants, mkdirSync } from "node:fs"
import { createServer } from "node:net"
import { delimiter, join } from "node:path"

const executable = (path: string) => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Where nats-server is installed, if it is. */
export const natsServer = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
  .map((directory) => join(directory, "nats-server"))
  .find(executable)

/** Not one of those that the system gives to whoever asks for any: nobody else gets it while its program is away. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true))
    })
    if (!isFree) continue
    server.close()
    await once(server, "close")
    return port
  }
}

/** A program that runs until it is told to stop. It is not in our process group, so Ctrl-C reaches us alone. */
export interface Program {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  readonly stop: () => Promise<void>
}

export const start = (
  command: string,
  args: ReadonlyArray<string>,
  env: Record<string, string>,
  name: string
): Program => {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true
  })
  let rest = ""
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) process.stderr.write(`${name} | ${line}\n`)
  })
  const exited = once(child, "exit").then(() => child.exitCode)
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGTERM")
    const patience = setTimeout(() => child.kill("SIGKILL"), 20_000)
    await exited
    clearTimeout(patience)
  }
  return { child, exited, stop }
}

/** A NATS server with JetStream on a port of this machine. */
export const startNats = (binary: string, port: number, store: string): Program => {
  mkdirSync(store, { recursive: true })
  return start(
    binary,
    ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", store, "-l", join(store, "log")],
    {},
    "nats"
  )
}
