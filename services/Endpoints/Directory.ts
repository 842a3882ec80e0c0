import { Cause, Clock, Deferred, Effect, Exit, Queue, type Scope } from "effect"
import { dropOldest } from "#domain/BoundedMap.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { monotonic } from "../RealTime.ts"

/** How many ids are remembered, how old an answer may grow before it is asked again, and how long an unknown id stays unknown. */
const directoryPolicy = {
  known: 10_000,
  unknown: 10_000,
  freshMillis: 10_000,
  unknownMillis: 3_000,
  waiting: 10_000
}

/** A memory of things by id that answers without the database, also while it is away. */
export interface Directory<A> {
  /** What is known now: null when there is no such thing, undefined when it has to be loaded. */
  readonly peek: (id: string) => A | null | undefined
  /** The same, asking the database if it must; calls for one id share one question. */
  readonly load: (id: string) => Effect.Effect<A | null>
  /** Forgets one id, or all of them. */
  readonly forget: (id: string | undefined) => void
  /** How often something was forgotten: what was read while it was less may be of before a change. */
  readonly forgotten: () => number
}

interface Entry<A> {
  readonly value: A
  freshUntil: number
}

/** `read` answers for those ids that exist. A stale answer is given while it is being read again, or while it cannot be. */
export const make = Effect.fnUntraced(function* <A>(
  read: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, A>>
): Effect.fn.Return<Directory<A>, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const known = new Map<string, Entry<A>>()
  const unknown = new Map<string, number>()
  const loading = new Map<string, Deferred.Deferred<A | null>>()
  /** What is being read, with those who wait for it. */
  let reading: ReadonlyMap<string, Deferred.Deferred<A | null> | undefined> = new Map()
  const wanted = yield* Queue.bounded<string>(directoryPolicy.waiting)
  let forgotten = 0

  const remember = (id: string, value: A | null, now: number) => {
    known.delete(id)
    if (value === null) {
      if (unknown.size >= directoryPolicy.unknown) unknown.clear()
      unknown.set(id, now + directoryPolicy.unknownMillis)
      return
    }
    unknown.delete(id)
    known.set(id, { value, freshUntil: now + directoryPolicy.freshMillis })
    dropOldest(known, directoryPolicy.known)
  }

  const peek = (id: string) => {
    const entry = known.get(id)
    const now = monotonic(clock)
    if (entry === undefined) {
      const until = unknown.get(id)
      return until !== undefined && until > now ? null : undefined
    }
    if (entry.freshUntil <= now) {
      entry.freshUntil = now + directoryPolicy.freshMillis
      Queue.offerUnsafe(wanted, id)
      // The one that was used last is the last to be dropped.
      known.delete(id)
      known.set(id, entry)
    }
    return entry.value
  }

  const load = (id: string): Effect.Effect<A | null> =>
    Effect.suspend(() => {
      const now = peek(id)
      if (now !== undefined) return Effect.succeed(now)
      let deferred = loading.get(id)
      if (deferred === undefined) {
        deferred = Deferred.makeUnsafe<A | null>()
        if (!Queue.offerUnsafe(wanted, id))
          return Effect.die(ServiceUnavailable.because("too many endpoints are being looked up"))
        loading.set(id, deferred)
      }
      return Deferred.await(deferred)
    })

  /** Who asks from now on does not wait with those who asked before: what they are told may be of before a change. */
  const partFrom = (id: string) => {
    if (reading.has(id) && loading.get(id) === reading.get(id)) loading.delete(id)
  }
  const forget = (id: string | undefined) => {
    forgotten++
    for (const one of id === undefined ? reading.keys() : [id]) partFrom(one)
    if (id === undefined) {
      known.clear()
      unknown.clear()
    } else {
      known.delete(id)
      unknown.delete(id)
    }
  }

  const answer = (waiting: typeof reading, exit: Exit.Exit<ReadonlyMap<string, A>>, now: number, keep: boolean) => {
    for (const [id, deferred] of waiting) {
      if (loading.get(id) === deferred) loading.delete(id)
      if (Exit.isFailure(exit)) {
        if (deferred !== undefined) Deferred.doneUnsafe(deferred, Exit.failCause(exit.cause))
        continue
      }
      const value = exit.value.get(id) ?? null
      if (keep) remember(id, value, now)
      if (deferred !== undefined) Deferred.doneUnsafe(deferred, Exit.succeed(value))
    }
  }

  yield* Queue.takeAll(wanted).pipe(
    Effect.flatMap((taken) => {
      const asked = new Map(taken.map((id) => [id, loading.get(id)]))
      const before = forgotten
      reading = asked
      // An answer read before a change was announced may miss it: it is given to who asked before, and not remembered.
      return Effect.exit(read([...asked.keys()])).pipe(
        Effect.map((exit) => answer(asked, exit, monotonic(clock), before === forgotten))
      )
    }),
    Effect.forever,
    Effect.forkScoped
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      const stopped = Exit.failCause(Cause.die(ServiceUnavailable.because("the server has stopped")))
      for (const waiting of [reading, new Map(loading)]) answer(waiting, stopped, 0, false)
    })
  )
  return { peek, load, forget, forgotten: () => forgotten }
})
