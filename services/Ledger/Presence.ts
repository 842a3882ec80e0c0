import type * as PgClient from "@effect/sql-pg/PgClient"
import { Cause, Duration, Effect, Latch, Metric, Predicate } from "effect"
import * as Pipeline from "../Database/Pipeline.ts"
import { innermost, sayingOf } from "../Database/Reasons.ts"
import { passed } from "../RealTime.ts"
import { endsConnection, type GroupFailure, isPassing } from "./Failure.ts"

/**
 * Settings for the ledger's connection. Whoever stands still between looking and writing (a frozen process, a network that is gone) has
 * the head of the log, and all money waits: Postgres ends such a session before those who wait are refused, and it has written nothing.
 */
export const settings = (config: PgClient.PgClientConfig): PgClient.PgClientConfig => {
  const byKey = Pipeline.byKey(config, "turnpike-ledger")
  return { ...byKey, startupParameters: { ...byKey.startupParameters, idle_in_transaction_session_timeout: "3s" } }
}

/** Without a connection for longer than this, callers do better elsewhere. One that is replaced at once is no reason to send them away. */
const patience = Duration.toMillis("3 seconds")
/** The same is said again after this. */
const silence = Duration.toMillis("1 minute")
const again = "The ledger has its database connection again"
/** How often this process gives up a connection for the sake of the ledger's. */
const giving = Duration.toMillis("1 second")

export const refusing = Metric.gauge("turnpike_ledger_refused_seconds", {
  description:
    "For how long Postgres had refused all that the ledger wrote, or had not answered, when it did so last; 0 since it took something"
})

/** The user of the database lost a privilege, which an operator gives back. */
const forbidden = "42501"
/** Postgres has as many connections as it may have. */
const tooMany = "53300"

/**
 * Whether the ledger has its connection, and what the log is told of that: by every process once when it goes and once when it comes,
 * however often it is tried meanwhile. `makeRoom` gives a connection of this process back, where there are too many.
 */
export const make = (makeRoom: Effect.Effect<void>) => {
  /** Since when there is none. */
  let since: number | undefined = passed()
  let gaveAt = Number.NEGATIVE_INFINITY
  const crowded = Latch.makeUnsafe(false)
  /** Since when nothing that was written has been taken. */
  let refusedSince: number | undefined
  const saidAt = new Map<string, number>()
  let lastSaid = ""

  const say = (level: "Info" | "Warn" | "Error", sentence: string) =>
    Effect.suspend(() => {
      const now = passed()
      for (const [other, at] of saidAt) if (now - at >= silence) saidAt.delete(other)
      // The last word is not that it went, however often it came and went within a minute.
      const isEnd = sentence === again && lastSaid !== again
      if (saidAt.has(sentence) && !isEnd) return Effect.logDebug(sentence)
      saidAt.set(sentence, now)
      lastSaid = sentence
      return Effect.logWithLevel(level)(sentence)
    })

  const came = Effect.suspend(() => {
    since = undefined
    crowded.closeUnsafe()
    return saidAt.size === 0 ? Effect.void : say("Info", again)
  })
  const went = Effect.suspend(() => {
    if (since !== undefined) return Effect.void
    since = passed()
    return say("Warn", "The ledger lost its database connection")
  })
  /** The connection could not be made, or what came over it cannot be trusted. */
  const failed = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    since ??= passed()
    const fault = innermost(Cause.squash(cause))
    if (!Predicate.hasProperty(fault, "code") || fault.code !== tooMany) {
      crowded.closeUnsafe()
      return yield* say("Warn", `The ledger has no database connection: ${sayingOf(fault)}`)
    }
    crowded.openUnsafe()
    yield* say(
      "Error",
      `Postgres has no connection left for the ledger (${sayingOf(fault)}), and nothing is posted here until it has one: raise ` +
        "max_connections, or the connection limit of the role or the database, or lower TURNPIKE_DATABASE_CONNECTIONS"
    )
    const now = passed()
    if (now - gaveAt < giving) return
    gaveAt = now
    yield* makeRoom
  })
  /** A group was not posted. Of a server that will take it later one line is enough. */
  const refused = (failure: GroupFailure) => {
    if (!endsConnection(failure) && !isPassing(failure)) return Effect.logWarning("A ledger group failed", failure)
    const isForbidden = failure._tag === "StatementFailed" && failure.code === forbidden
    // No answer is none that it was taken: somebody may hold the head of the log, and each new connection waits for him.
    refusedSince ??= passed()
    const seconds = (passed() - refusedSince) / 1_000
    return Effect.andThen(
      Metric.update(refusing, seconds),
      say(isForbidden ? "Error" : "Warn", `A ledger group failed: ${failure.message}`)
    )
  }
  /** A group was posted. */
  const took = Effect.suspend(() => {
    if (refusedSince === undefined) return Effect.void
    refusedSince = undefined
    return Metric.update(refusing, 0)
  })

  /** Whether groups are posted, or were until a moment ago. */
  const isServing = () => since === undefined || passed() - since < patience
  return { came, went, failed, refused, took, isServing, crowded }
}
