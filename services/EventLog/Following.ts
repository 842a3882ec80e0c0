import { type Duration, Effect, Option, PubSub, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"
import { EventBus } from "../EventBus.ts"
import { sleep } from "../RealTime.ts"
import { untilBeat } from "../Upkeep.ts"
import { appendedSubject } from "./Appended.ts"
import { notForLong } from "./Head.ts"

/** Facts after `after` up to and with `upTo`; all of them are committed and there are no gaps. */
export interface Stretch {
  readonly after: bigint
  readonly upTo: bigint
}

/** Whether the log has facts that this follower has not passed. */
export const isBehind = (sql: SqlClient.SqlClient, name: string) =>
  sql`EXISTS (SELECT FROM followers f, ledger_head h WHERE f.name = ${name} AND h.log = 1 AND h.event_seq > f.seq)`

/** Follows the event log under a name, from where it ended when the name was first used. */
export const make = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient

  const begin = sql`INSERT INTO followers (name, seq) SELECT ${name}, event_seq FROM ledger_head WHERE log = 1
    ON CONFLICT (name) DO NOTHING`
  yield* Effect.orDie(begin)

  const take = SqlSchema.findOneOption({
    Request: Schema.Void,
    Result: Schema.Struct({ seq: Schema.BigInt, head: Schema.BigInt }),
    // Nobody waits for a process that is at it: it will come here. Nor for the disk: what a crash of the database takes away, it
    // takes away together with how far we were.
    execute: () =>
      sql`SELECT f.seq, h.event_seq AS head, set_config('synchronous_commit', 'off', true), ${sql.literal(notForLong)}
        FROM followers f, ledger_head h
        WHERE f.name = ${name} AND h.log = 1 FOR UPDATE OF f SKIP LOCKED`
  })
  const grown = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ grown: Schema.Boolean }),
    execute: () => sql`SELECT ${isBehind(sql, name)} AS grown`
  })
  const move = (seq: bigint) => sql`UPDATE followers SET seq = ${seq} WHERE name = ${name}`

  const passNext = Effect.fnUntraced(
    function* <R>(limit: number, handle: (stretch: Stretch) => Effect.Effect<unknown, SqlError.SqlError, R>) {
      const found = yield* take(undefined)
      if (found._tag === "None" || found.value.head <= found.value.seq) return nothing
      const { head, seq: after } = found.value
      const upTo = head - after > BigInt(limit) ? after + BigInt(limit) : head
      yield* handle({ after, upTo })
      yield* move(upTo)
      return { passed: Number(upTo - after), isMore: upTo < head }
    },
    sql.withTransaction,
    Effect.orDie
  )

  let isIdle = false
  /**
   * Handles the next stretch of at most `limit` facts and goes past it, both in one transaction and once for all processes. How many
   * facts that were, none when there is nothing new or when somebody else is at it; and whether there were more than that.
   */
  const pass = Effect.fnUntraced(function* <R>(
    limit: Effect.Effect<number>,
    handle: (stretch: Stretch) => Effect.Effect<unknown, SqlError.SqlError, R>
  ) {
    // Who had nothing to do last time looks before he begins a transaction.
    if (isIdle && !(yield* Effect.orDie(grown(undefined))).grown) return nothing
    const done = yield* passNext(yield* limit, handle)
    isIdle = done.passed === 0
    return done
  })

  return { pass }
})

const nothing = { passed: 0, isMore: false }

/**
 * Repeats `turn` whenever the log has grown, and at least once per `interval`; again at once while a turn says that there is more.
 * `afterwards` follows the turns of a log that has grown, also where another process was faster. Where the log grows all the time
 * there is a `rest` between two turns: what comes meanwhile shares the next one, and those who write are not held up by those who
 * follow.
 */
export const keepUp = Effect.fnUntraced(function* (
  what: string,
  turn: Effect.Effect<boolean>,
  {
    afterwards = Effect.void,
    interval,
    rest
  }: {
    readonly interval: Duration.Input
    readonly rest: Duration.Input
    readonly afterwards?: Effect.Effect<void>
  }
) {
  const bus = yield* EventBus
  const grown = yield* bus.subscribe(appendedSubject)
  const turns = Effect.repeat(turn, { while: (isMore) => isMore }).pipe(
    Effect.catchCause((cause) => Effect.logError(`${what} failed`, cause))
  )
  // What was announced during a turn is one announcement.
  const waitForMore = Effect.flatMap(untilBeat(interval), (wait) => Effect.timeoutOption(PubSub.takeAll(grown), wait))
  const again = Effect.flatMap(waitForMore, (announced) =>
    Option.isSome(announced) ? turns.pipe(Effect.andThen(afterwards), Effect.andThen(sleep(rest))) : turns
  )
  return yield* turns.pipe(Effect.andThen(Effect.forever(again)), Effect.forkScoped)
})
