import { Effect, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { install } from "../../interop/x402/Packages.ts"

const home = join(import.meta.dirname, "../../interop/x402")

/** Where the peer sells the origin's answer. */
export const path = "/quotes"

export interface ExpressPeer {
  readonly pid: number
  readonly port: number
}

/** Runs the official middleware in front of an origin, as a process of its own in production mode. */
export const start = (originPort: number): Effect.Effect<ExpressPeer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      install(home)
      return fork(join(home, "express.mjs"), { env: { ...process.env, NODE_ENV: "production" } })
    }),
    (child) => Effect.promise(() => stop(child))
  ).pipe(
    Effect.flatMap((child) =>
      Effect.promise(async () => {
        child.send({ originPort })
        const [port] = await Promise.race([
          once(child, "message"),
          once(child, "exit").then(() => Promise.reject(new Error("The peer ended before it was ready")))
        ])
        return { pid: child.pid ?? 0, port: Number(port) }
      })
    )
  )

const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}
