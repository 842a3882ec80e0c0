import { Effect } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/**
 * Runs one of the small servers in `peers/` as a process of its own until the scope closes, and answers its port. It gets
 * `setup` as its first message, answers with its port, and ends when this process does.
 */
export const start = (
  name: "origin" | "bare" | "proxy" | "dispatch" | "echo" | "plain",
  setup: Record<string, unknown>
) =>
  Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(new URL(`peers/${name}.ts`, import.meta.url)))),
    (child) => Effect.promise(() => stop(child))
  ).pipe(
    Effect.flatMap((child) =>
      Effect.promise(async () => {
        child.send(setup)
        const [port] = await once(child, "message")
        return Number(port)
      })
    )
  )

const stop = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}
