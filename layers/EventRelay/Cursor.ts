import { DateTime, Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { fromTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"

/** How long a relay may say nothing before another one takes over. */
const lease = { seconds: 10 }

const Held = Schema.Struct({ seq: Schema.BigInt, stream: Schema.NullOr(Schema.String), head: Schema.BigInt })
export type Held = typeof Held.Type

/** How far the log is copied: the copying is a call to the outside, so whoever does it holds a lease and no transaction. */
export const make = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const holder = newUuid()

  yield* Effect.orDie(
    sql`INSERT INTO relays (name, seq) SELECT ${name}, event_seq FROM ledger_head WHERE log = 1 ON CONFLICT (name) DO NOTHING`
  )
  const extended = Effect.map(DateTime.now, (now) => ({
    now: DateTime.toDate(now),
    until: DateTime.toDate(DateTime.addDuration(now, lease))
  }))

  // None of this waits for the disk: what a crash of the database takes away the stream tells again.
  const take = SqlSchema.findOneOption({
    Request: Schema.Struct({ now: Schema.Date, until: Schema.Date }),
    Result: Held,
    execute: ({ now, until }) =>
      sql`UPDATE relays SET holder = ${holder}, held_until = ${until} FROM ledger_head h
        WHERE name = ${name} AND h.log = 1 AND (holder = ${holder} OR holder IS NULL OR held_until <= ${now})
        RETURNING seq, stream, h.event_seq AS head, set_config('synchronous_commit', 'off', true)`
  })
  const put = SqlSchema.findOneOption({
    Request: Schema.Struct({ seq: Schema.BigInt, stream: Schema.String, until: Schema.Date }),
    Result: Held,
    execute: ({ seq, stream, until }) =>
      sql`UPDATE relays SET seq = ${seq}, stream = ${stream}, held_until = ${until} FROM ledger_head h
        WHERE name = ${name} AND h.log = 1 AND holder = ${holder}
        RETURNING seq, stream, h.event_seq AS head, set_config('synchronous_commit', 'off', true)`
  })
  /** Takes or keeps the lease; none while another relay has it. */
  const hold = extended.pipe(Effect.flatMap(take), Effect.orDie)

  /** Notes how far the log is copied, and into what; keeps the lease. None when it was lost meanwhile. */
  const move = (seq: bigint, stream: string) =>
    extended.pipe(
      Effect.flatMap(({ until }) => put({ seq, stream, until })),
      Effect.orDie
    )

  /** Gives the lease back, for another relay to take at once. */
  const release = Effect.orDie(
    sql`UPDATE relays SET holder = NULL, held_until = NULL WHERE name = ${name} AND holder = ${holder}`
  )

  const at = SqlSchema.findOneOption({
    Request: Schema.BigInt,
    Result: Schema.Struct({ id: Schema.String, created_at: Schema.Date }),
    execute: (seq) => sql`SELECT id, created_at FROM events WHERE log = 1 AND seq = ${seq}`
  })
  /** Whether this event stands at this place of our log. */
  const isOurs = (seq: bigint, id: string) =>
    at(seq).pipe(Effect.map(Option.exists((event) => event.id === fromTypeId("evt", id))), Effect.orDie)

  /** The place before the first event of the time after `since`. The log is in order of time but for what clocks and locks make of it. */
  const before = Effect.fnUntraced(function* (since: Date, head: bigint) {
    let [old, young] = [0n, head + 1n]
    while (young - old > 1n) {
      const middle = (old + young) / 2n
      const event = yield* at(middle)
      if (Option.isSome(event) && event.value.created_at >= since) young = middle
      else old = middle
    }
    return old
  }, Effect.orDie)

  return { hold, move, release, isOurs, before }
})
