import { Clock, DateTime, Effect, Latch, PubSub } from "effect"
import { greeting, life, reconnectRequired, resync, retryOf } from "#domain/Channel.ts"
import { InvalidSessionToken } from "#domain/Credential.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { revokedSubject } from "../Credentials.ts"
import { EventBus } from "../EventBus.ts"
import { appendedSubject } from "../EventLog/Appended.ts"
import { monotonic } from "../RealTime.ts"
import type * as Copying from "./Copying.ts"
import type { Line } from "./Line.ts"
import type { Lines } from "./Lines.ts"
import type * as Presence from "./Presence.ts"
import type * as Reading from "./Reading.ts"
import type { Opening } from "./Registering.ts"

/** Where it is announced that there are new events for agents. */
const copiedSubject = "agent_channel.copied"

/** How long nobody looks when nobody is told anything. */
const interval = "500 millis"
/** How soon those that are behind are looked at again. */
const soon = "20 millis"
/** How many connections begin at a time. */
const batch = 50
/** How long a connection that is to end waits for what it is still to be told, and for its reader to take that. */
const patience = 2_000

/** A connection that ends when everything up to this place of the log was told. */
interface Ending {
  readonly line: Line
  readonly upTo: bigint
  readonly until: number
}

/** The one fiber that tells agents: what it reads next and who begins to listen where is decided by nobody else. */
export const make = Effect.fnUntraced(function* (
  lines: () => Lines,
  presence: Effect.Success<ReturnType<typeof Presence.make>>,
  reading: Effect.Success<ReturnType<typeof Reading.make>>,
  copy: Effect.Success<typeof Copying.make>
) {
  const bus = yield* EventBus
  const clock = yield* Clock.Clock
  const stirred = Latch.makeUnsafe(false)
  let joining: Array<Opening> = []
  let endings: Array<Ending> = []
  let suspects = new Set<string>()
  let isGrown = true
  let cursor: Reading.Place = { seq: 0n, id: null }
  let open = 0

  const stir = () => {
    if (lines().size > 0) stirred.openUnsafe()
  }

  /** Notes what the log has for agents, and tells the other processes if it is something. */
  const copyAll = Effect.gen(function* () {
    let isSomething = false
    while (true) {
      const { isMore, noted } = yield* copy
      isSomething = isSomething || noted > 0
      if (!isMore) break
    }
    if (isSomething) yield* bus.publish(copiedSubject, "")
  })

  const start = ({ after, again, cursor, line, missed, position }: Reading.Beginning, at: Date) => {
    line.cursor = after ?? cursor
    line.lastEventId = position
    const { agent_id, session_id, wanted } = line
    line.wanted = undefined
    const from = wanted?._tag === "Success" ? wanted.success : undefined
    line.outlet.begin()
    line.state = "open"
    // In the block of the first event: some clients (httpx-sse) take a block without data for an event.
    line.outlet.write(
      `retry: ${retryOf(session_id)}\n${missed === undefined ? "" : resync(missed, from, position)}` +
        greeting({ agent_id, session_id, at, resumed: from !== undefined && missed === undefined, position })
    )
    lines().retell(line, again, cursor)
  }
  const admit = Effect.fnUntraced(function* (openings: ReadonlyArray<Opening>) {
    // Who was superseded before it began has had its last words, and who went away needs none.
    for (const { answer, line } of openings) if (line.state === "closed") answer(Effect.void)
    const waiting = openings.filter(({ line }) => line.state === "opening")
    if (waiting.length === 0) return
    const standing = yield* presence.standing(waiting.map(({ line }) => line.session_id))
    const { beginnings, copied } = yield* reading.beginnings(waiting.map(({ line }) => line))
    // With nobody to tell, nobody has looked.
    if (open === 0) cursor = copied
    const at = yield* DateTime.nowAsDate
    for (const [index, { answer, line }] of waiting.entries()) {
      const beginning = beginnings[index]
      const row = standing.get(line.session_id)
      if (row === undefined || row.ended) {
        lines().lost(line)
        answer(Effect.fail(new InvalidSessionToken()))
        continue
      }
      // Another process may have been faster than the news of it.
      if (row.fence > line.fence) lines().supersede(line)
      if (line.state === "opening" && beginning !== undefined) {
        start(beginning, at)
        open++
      }
      answer(Effect.void)
    }
  })
  const begin = Effect.fnUntraced(function* () {
    while (joining.length > 0) {
      const some = joining.slice(0, batch)
      joining = joining.slice(batch)
      yield* admit(some).pipe(
        Effect.catchCause((cause) => {
          for (const { answer, line } of some) {
            if (line.state === "open") lines().cut(line)
            else lines().lost(line)
            answer(Effect.fail(new ServiceUnavailable({ retry_after: 1 })))
          }
          return Effect.logError("Event channels could not begin", cause)
        })
      )
    }
  })

  /** Who must go is told up to here first: that its key was rotated, above all. */
  const judge = Effect.fnUntraced(function* () {
    const sessions = [...suspects]
    suspects = new Set()
    const ended = [...(yield* presence.standing(sessions)).values()].filter((row) => row.ended)
    if (ended.length === 0) return
    const upTo = yield* reading.head
    const until = monotonic(clock) + patience
    for (const { session_id } of ended) {
      const line = lines().session(session_id)
      if (line !== undefined) endings.push({ line, upTo, until })
    }
    isGrown = true
  })
  const dismiss = Effect.fnUntraced(function* () {
    const now = monotonic(clock)
    endings = endings.filter(({ line, until, upTo }) => {
      const told = lines().behind.has(line) ? line.cursor : cursor.seq
      if (told < upTo && now < until) return true
      lines().end(line, reconnectRequired("session_ended"))
      return false
    })
  })

  /** Who reads slowly is told from the database, as fast as it reads; who is too far behind must come back and be told so. */
  const catchUp = Effect.fnUntraced(function* () {
    const ready = [...lines().behind].filter(({ outlet }) => outlet.pending < life.pending / 4).slice(0, batch)
    if (ready.length === 0) return
    for (const { isAll, isLost, line, tellings, upTo } of yield* reading.untold(ready, cursor.seq)) {
      if (isLost) lines().cut(line)
      else lines().retell(line, tellings, upTo)
      if (!isAll && line.state === "open") lines().lag(line)
    }
  })

  /** What was told may never have been, and places stand for other facts: who comes back is told so by where it was. */
  const startOver = Effect.fnUntraced(function* () {
    yield* Effect.logWarning(
      "The database is back at an earlier state: agents that are connected are told to reconnect, and what they missed"
    )
    for (const line of lines().all()) if (line.state === "open") lines().end(line, reconnectRequired("lost"))
    open = 0
  })

  const turn = Effect.gen(function* () {
    stirred.closeUnsafe()
    if (lines().size === 0) {
      open = 0
      return
    }
    if (suspects.size > 0) yield* judge()
    if (isGrown) {
      isGrown = false
      yield* copyAll
    }
    yield* begin()
    while (open > 0) {
      const found = yield* reading.next(cursor)
      if (found === undefined) {
        yield* startOver()
        break
      }
      const { isAll, tellings, upTo } = found
      lines().tell(tellings)
      cursor = upTo
      if (isAll) break
    }
    yield* catchUp()
    if (endings.length > 0) yield* dismiss()
  }).pipe(Effect.catchCause((cause) => Effect.logError("Agents could not be told", cause)))

  const nap = Effect.suspend(() =>
    lines().size === 0
      ? stirred.await
      : Effect.asVoid(Effect.timeoutOption(stirred.await, lines().behind.size > 0 ? soon : interval))
  )
  const rested = Effect.sync(() => {
    // Nobody says so when a process dies between the fact and its announcement.
    if (!stirred.isOpen() && lines().behind.size === 0) isGrown = true
  })
  yield* turn.pipe(Effect.andThen(nap), Effect.andThen(rested), Effect.forever, Effect.forkScoped)

  const listen = Effect.fnUntraced(function* (subject: string, hear: (messages: ReadonlyArray<string>) => void) {
    const heard = yield* bus.subscribe(subject)
    yield* PubSub.takeAll(heard).pipe(
      Effect.flatMap((messages) =>
        Effect.sync(() => {
          hear(messages)
          stir()
        })
      ),
      Effect.forever,
      Effect.forkScoped
    )
  })
  const suspectAll = () => {
    suspects = new Set(
      lines()
        .all()
        .map(({ session_id }) => session_id)
    )
    stir()
  }
  const lookForEnded = Effect.map(presence.ended, (sessions) => {
    for (const session of sessions) suspects.add(session)
    if (sessions.length > 0) stir()
  })
  yield* listen(appendedSubject, () => {
    isGrown = true
  })
  yield* listen(copiedSubject, () => {})
  yield* listen(revokedSubject, (messages) => {
    for (const hash of messages) {
      if (hash === "") suspectAll()
      const line = lines().withHash(hash)
      if (line !== undefined) suspects.add(line.session_id)
    }
  })

  return {
    join: (opening: Opening) => {
      joining.push(opening)
      isGrown = true
      stirred.openUnsafe()
    },
    /** Looks for connections here whose session has ended, though nobody said so. */
    lookForEnded,
    copyAll
  }
})
