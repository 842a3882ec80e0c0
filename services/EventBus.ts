import { Context, type Effect, type PubSub, type Scope } from "effect"

/** A port: short signals between processes (revocations, cache invalidation, wake-ups). Never the truth: losing one only delays. */
export class EventBus extends Context.Service<
  EventBus,
  {
    /** Best effort and at most once; `message` is at most 4 KB. */
    publish(subject: string, message: string): Effect.Effect<void>
    /** Messages of this subject from now on, our own included, until the scope ends. A slow reader loses the oldest. */
    subscribe(subject: string): Effect.Effect<PubSub.Subscription<string>, never, Scope.Scope>
  }
>()("turnpike/services/EventBus") {}
