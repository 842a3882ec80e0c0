import { Effect, Layer } from "effect"
import { EventBus } from "#services/EventBus.ts"
import * as Subjects from "./BusSubjects.ts"

/** The bus of a process that is alone: nothing is lost but what a slow reader leaves. */
export const layer = Layer.effect(
  EventBus,
  Effect.map(Subjects.make, ({ subscribe, deliver }) =>
    EventBus.of({ publish: deliver, subscribe, reachable: Effect.succeed(true) })
  )
)
