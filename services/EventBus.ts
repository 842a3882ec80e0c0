import { Context, type Effect, type PubSub, type Scope } from "effect"

/** A port: short signals between processes (revocations, cache invalidation, wake-ups). Never the truth: losing one only delays. */
export class EventBus extends Context.Service<
  EventBus,
  {
    /** Best effort and at most once; `subject` is words with dots between them, `message` at most 4 KB. Within a transaction it waits for the commit. */
    publish(subject: string, message: string): Effect.Effect<void>
    /** Messages of this subject from now on, our own included, until the scope ends. A slow reader loses the oldest. */
    subscribe(subject: string): Effect.Effect<PubSub.Subscription<string>, never, Scope.Scope>
    /** Whether other processes hear us right now. May take as long as the network; nothing depends on it but what is shown. */
    readonly reachable: Effect.Effect<boolean>
  }
>()("turnpike/services/EventBus") {}
