import { Effect, PubSub } from "effect"
import type { EventBus } from "#services/EventBus.ts"

/** How many messages a reader may fall behind before it loses the oldest. */
const backlog = 1_024

interface Subject {
  readonly readers: PubSub.PubSub<string>
  count: number
}

/** The readers of this process by subject; what every bus delivers into. */
export interface Subjects {
  readonly subscribe: EventBus["Service"]["subscribe"]
  deliver(subject: string, message: string): Effect.Effect<void>
  /** The empty message on every subject: something may have been missed. */
  readonly resync: Effect.Effect<void>
}

/** A subject exists while it has readers. */
export const make = Effect.sync((): Subjects => {
  const subjects = new Map<string, Subject>()

  const join = (name: string) =>
    Effect.map(PubSub.sliding<string>(backlog), (readers) => {
      const subject = subjects.get(name) ?? { readers, count: 0 }
      subject.count++
      subjects.set(name, subject)
      return subject
    })
  const leave = (name: string, subject: Subject) =>
    Effect.sync(() => {
      subject.count--
      if (subject.count === 0) subjects.delete(name)
    })
  const subscribe = Effect.fnUntraced(function* (name: string) {
    const { readers } = yield* Effect.acquireRelease(join(name), (subject) => leave(name, subject))
    return yield* PubSub.subscribe(readers)
  })

  return {
    subscribe,
    deliver: (name, message) =>
      Effect.suspend(() => {
        const subject = subjects.get(name)
        return subject === undefined ? Effect.void : Effect.asVoid(PubSub.publish(subject.readers, message))
      }),
    resync: Effect.suspend(() =>
      Effect.forEach([...subjects.values()], ({ readers }) => PubSub.publish(readers, ""), { discard: true })
    )
  }
})
