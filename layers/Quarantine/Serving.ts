import { Deferred, Effect, FiberMap, Layer, Logger } from "effect"
import * as PageReading from "../PageReading.ts"
import type { Name, Sent } from "./Calls.ts"
import * as Handlers from "./Handlers.ts"
import { say } from "./Saying.ts"

/** What is logged here is the server's to log. */
const toServer = Logger.layer([
  Logger.map(Logger.formatStructured, ({ cause, level, message }) => {
    const [said, ...details] = [message].flat()
    const severity = level === "ERROR" || level === "FATAL" ? "Error" : "Warn"
    if (level !== "DEBUG" && level !== "TRACE")
      say({ _tag: "Log", level: severity, message: String(said), details: { details, cause } })
  })
])

/** Answers the server's calls until it hears no more of the server. */
const serve = Effect.fnUntraced(function* (chromium: string) {
  const handlers = yield* Handlers.make(chromium)
  const calls = yield* FiberMap.make<number>()
  const over = Deferred.makeUnsafe<void>()
  const perform = (name: Name, args: ReadonlyArray<unknown>): Effect.Effect<unknown> => {
    // Both sides are of one version, and share its types.
    const handler = handlers[name] as (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown>
    return handler(...args)
  }
  const answer = (id: number, name: Name, args: ReadonlyArray<unknown>) =>
    perform(name, args).pipe(
      Effect.map((answer) => say({ _tag: "Answer", id, answer })),
      Effect.catchDefect((defect) => {
        say({ _tag: "Died", id })
        return Effect.logError(`What was asked of the process that reads strangers' pages failed: ${name}`, defect)
      })
    )
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const run = yield* FiberMap.runtime(calls)()
  process.on("disconnect", () => Deferred.doneUnsafe(over, Effect.void))
  process.on("message", (sent: Sent) => {
    if (sent._tag === "Call") run(sent.id, answer(sent.id, sent.name, sent.args))
    else fork(FiberMap.remove(calls, sent.id))
  })
  say({ _tag: "Ready" })
  yield* Deferred.await(over)
})

/** Stands when all is over. `chromium` is the program of the browser; empty where there is none. */
export const layer = (chromium: string) =>
  Layer.effectDiscard(serve(chromium)).pipe(Layer.provide(PageReading.layer), Layer.provide(toServer))
