import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort, natsServer } from "../../scripts/cluster/Programs.ts"

/** Where nats-server is installed, if it is: the tests run one of their own. */
export const binary = natsServer

/** A NATS server of a test's own, with a store of its own, which can be stopped, emptied and paused. */
export interface NatsServer {
  readonly url: string
  readonly start: () => Promise<void>
  /** Ends it; what it stored stays. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>
  /** Deletes what it stored. Stop it first. */
  readonly empty: () => void
  readonly pause: () => void
  readonly resume: () => void
  readonly end: () => Promise<void>
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("data", () => {
      socket.destroy()
      resolve(true)
    })
    socket.once("error", () => resolve(false))
    socket.once("close", () => resolve(false))
  })

/** With a `user`, who may be `allowed` some subjects only. Its streams together have `disk`. */
export const make = async ({
  allowed = [] as ReadonlyArray<string>,
  disk = "",
  jetstream = true,
  user = ""
} = {}): Promise<NatsServer> => {
  if (binary === undefined) throw new Error("There is no nats-server")
  const port = await freePort()
  const home = mkdtempSync(join(tmpdir(), "turnpike-nats-"))
  const store = join(home, "store")
  const state: { child?: ChildProcess } = {}
  const config = allowed.length === 0 && disk === "" ? [] : ["-c", join(home, "nats.conf")]
  if (allowed.length > 0) {
    const subjects = { publish: allowed, subscribe: allowed }
    const users = [{ user, password: `secret-of-${user}`, permissions: subjects }]
    writeFileSync(join(home, "nats.conf"), `authorization: ${JSON.stringify({ users })}\n`)
  }
  if (disk !== "") writeFileSync(join(home, "nats.conf"), `jetstream: { max_file: ${disk} }\n`)
  const start = async () => {
    const settings = ["-a", "127.0.0.1", "-p", String(port), ...(jetstream ? ["-js", "-sd", store] : [])]
    const identity = user === "" || allowed.length > 0 ? [] : ["--user", user, "--pass", `secret-of-${user}`]
    const child = spawn(binary, [...settings, ...identity, ...config], { stdio: "ignore" })
    state.child = child
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  const stop = async (signal: NodeJS.Signals = "SIGKILL") => {
    const { child } = state
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }
  const empty = () => rmSync(store, { recursive: true, force: true })
  return {
    url: `nats://${user === "" ? "" : `${user}:secret-of-${user}@`}127.0.0.1:${port}`,
    start,
    stop,
    empty,
    pause: () => void state.child?.kill("SIGSTOP"),
    resume: () => void state.child?.kill("SIGCONT"),
    end: async () => {
      await stop()
      rmSync(home, { recursive: true, force: true })
    }
  }
}
