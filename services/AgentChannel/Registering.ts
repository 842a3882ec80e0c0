import { Clock, Effect, Latch } from "effect"
import { type CredentialRefused, InvalidSessionToken } from "#domain/Credential.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { EventBus } from "../EventBus.ts"
import { monotonic } from "../RealTime.ts"
import type { Line } from "./Line.ts"
import type { Lines } from "./Lines.ts"
import type * as Presence from "./Presence.ts"

/** Where it is announced that connections were superseded: `<session> <fence>`, one a line. */
export const supersededSubject = "agent_channel.superseded"

/** How many connections begin or end in one transaction. */
const batch = 250
/** How many announcements fit into one message. */
const announced = 50

export type Refused = CredentialRefused | ServiceUnavailable

/** Somebody who waits for a connection. */
export interface Opening {
  readonly line: Line
  readonly answer: (outcome: Effect.Effect<void, Refused>) => void
}

/** Begins and ends connections in the database, many in one transaction. Alone, a connection is a batch of one. */
export const make = Effect.fnUntraced(function* (
  lines: () => Lines,
  presence: Effect.Success<ReturnType<typeof Presence.make>>,
  join: (opening: Opening) => void
) {
  const bus = yield* EventBus
  const clock = yield* Clock.Clock
  const busy = Latch.makeUnsafe(false)
  const idle = Latch.makeUnsafe(true)
  let openings: Array<Opening> = []
  let left: Array<Line> = []

  const stir = () => {
    idle.closeUnsafe()
    busy.openUnsafe()
  }

  const begin = Effect.fnUntraced(function* (some: ReadonlyArray<Opening>) {
    // Of several connections of one session that come together the last one is the one.
    const bySession = new Map<string, Opening>()
    for (const opening of some) {
      const other = bySession.get(opening.line.session_id)
      bySession.set(opening.line.session_id, opening)
      if (other === undefined) continue
      lines().supersede(other.line)
      other.answer(Effect.void)
    }
    const chosen = [...bySession.values()]
    if (chosen.length === 0) return
    const registered = yield* presence.register(chosen.map(({ line }) => line))
    const fences = new Map(registered.map((row) => [row.session_id, row]))
    for (const opening of chosen) {
      const { line } = opening
      const fence = fences.get(line.session_id)?.fence
      if (fence === undefined) {
        line.state = "closed"
        opening.answer(Effect.fail(new InvalidSessionToken()))
        continue
      }
      line.fence = fence
      // Who went away meanwhile is gone from the database next.
      if (line.state === "closed") left.push(line)
      else {
        lines().add(line, monotonic(clock))
        join(opening)
      }
    }
    const told = registered.filter(({ replaced }) => replaced).map((row) => `${row.session_id} ${row.fence}`)
    for (let from = 0; from < told.length; from += announced) {
      yield* bus.publish(supersededSubject, told.slice(from, from + announced).join("\n"))
    }
  })
  const unavailable = Effect.fail(new ServiceUnavailable({ retry_after: 1 }))

  const round = Effect.gen(function* () {
    const [some, gone] = [openings.slice(0, batch), left.slice(0, batch)]
    openings = openings.slice(batch)
    yield* begin(some.filter(({ line }) => line.state !== "closed")).pipe(
      Effect.catchCause((cause) => {
        for (const { answer } of some) answer(unavailable)
        return Effect.logError("Event channels could not be opened", cause)
      })
    )
    // What cannot be taken away now is taken away when its lease is over.
    if (gone.length > 0) {
      left = left.slice(gone.length)
      yield* presence
        .release(gone)
        .pipe(Effect.catchCause((cause) => Effect.logError("Event channels could not be closed", cause)))
    }
    return openings.length + left.length > 0
  })
  yield* busy.await.pipe(
    Effect.andThen(Effect.sync(() => busy.closeUnsafe())),
    Effect.andThen(Effect.repeat(round, { while: (isMore) => isMore })),
    Effect.andThen(Effect.sync(() => !busy.isOpen() && idle.openUnsafe())),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    open: (opening: Opening) => {
      openings.push(opening)
      stir()
    },
    close: (line: Line) => {
      left.push(line)
      stir()
    },
    /** Until everything that began or ended is written. */
    settled: idle.await
  }
})
