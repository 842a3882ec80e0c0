import { Context, Effect, Latch, Layer } from "effect"
import { EventBus } from "../EventBus.ts"

/** Where it is announced that the log has grown. The message says nothing more. */
export const appendedSubject = "events.appended"

/** Tells the followers of all processes that facts were committed; nobody waits for it. By default nobody is told. */
export const Appended = Context.Reference("turnpike/services/EventLog/Appended", {
  defaultValue: (): { readonly announce: () => void } => ({ announce: () => {} })
})

/** Under load one announcement stands for all of this time. */
const gathering = "10 millis"

/** Announces over the bus. */
export const layer = Layer.effect(
  Appended,
  Effect.gen(function* () {
    const bus = yield* EventBus
    const grown = Latch.makeUnsafe(false)
    yield* grown.await.pipe(
      Effect.andThen(Effect.sync(() => grown.closeUnsafe())),
      Effect.andThen(bus.publish(appendedSubject, "")),
      Effect.andThen(Effect.sleep(gathering)),
      Effect.forever,
      Effect.forkScoped
    )
    return { announce: () => grown.openUnsafe() }
  })
)
