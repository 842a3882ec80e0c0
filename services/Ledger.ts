import { Context, DateTime, Effect, type Latch, Layer, Metric, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import { isFrozen, LedgerAccount, type LedgerCurrency, Tally } from "#domain/LedgerAccount.ts"
import type { IdempotencyClaim, Posted } from "#domain/Command.ts"
import { IdempotencyKeyReused, type PostingRefused, type Superseded } from "#domain/PostingRefused.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Database } from "./Database.ts"
import { Appended } from "./EventLog/Appended.ts"
import { notForLong } from "./EventLog/Head.ts"
import { keepForgetting } from "./Forgetting.ts"
import { Custody } from "./Ledger/Custody.ts"
import { type LedgerCommand, misremembered } from "./Ledger/Group.ts"
import * as Lane from "./Ledger/Lane.ts"
import { refusing } from "./Ledger/Presence.ts"
import { Lookout } from "./Lookout.ts"
import { newUuid } from "./NewId.ts"
import { within } from "./RealTime.ts"

/** The only code that changes a balance. Amounts are micro-units. */
export class Ledger extends Context.Service<
  Ledger,
  {
    /**
     * Posts the command with its events and rows in one transaction, together with whatever else is waiting. Posting one id
     * twice moves money once. A lost database is a `ServiceUnavailable` defect: the outcome is then unknown, and posting the
     * same command again tells.
     */
    post: {
      (command: LedgerCommand & { readonly fences?: undefined }): Effect.Effect<Posted, PostingRefused>
      (command: LedgerCommand): Effect.Effect<Posted, PostingRefused | Superseded>
    }
    /** What was answered under this key, if it is remembered: for callers who can no longer ask for the same. */
    recall(claim: IdempotencyClaim): Effect.Effect<Option.Option<unknown>, IdempotencyKeyReused>
    /** Opens an empty account under this id; joins the caller's transaction. */
    open(account: {
      readonly id: string
      readonly purpose: "wallet" | "scanner_credits" | "stream"
      readonly currency: LedgerCurrency
    }): Effect.Effect<void>
    /** A frozen account receives and its open holds may still be captured, but it spends nothing new. Joins the caller's transaction. */
    setFrozen(id: string, frozen: boolean): Effect.Effect<void, NotFound>
    /** `frozen`: for whatever reason it spends nothing. */
    account(id: string): Effect.Effect<LedgerAccount, NotFound>
    /** The exact count and sum of a scope and subject; zero when nothing was counted. */
    tally(scope: string, subject: string): Effect.Effect<Tally>
    /** Releases holds whose time has passed, at most 500 a step; how many it released. */
    readonly expireDue: Effect.Effect<number>
    /** Whether commands are posted, or were until a moment ago: the ledger has a connection of its own. */
    readonly isServing: () => boolean
    /** Open while the database has no place for that connection: whoever of this process can do without one closes it. */
    readonly crowded: Latch.Latch
    /** Drops idempotency keys whose 24 hours are over, at most 5,000 a step; how many it dropped. */
    readonly forgetKeys: Effect.Effect<number>
  }
>()("turnpike/services/Ledger") {
  /** Repeats the ledger's own upkeep; any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.gen(function* () {
      const { expireDue, forgetKeys } = yield* Ledger
      const { keep } = yield* Lookout
      const sql = yield* SqlClient.SqlClient
      const isDue = (now: Date) => sql`(SELECT min(expires_at) FROM holds WHERE state = 'open') < ${now}`
      yield* keep({ failed: "Expiring holds failed", isDue, step: expireDue })
      yield* keepForgetting("Idempotency keys", forgetKeys, "1 minute")
    })
  )

  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { config } = yield* Database
      const custody = yield* Custody
      const { announce } = yield* Appended
      // The pool lends this an idle connection if it has one, and makes another when somebody needs it.
      const makeRoom = sql`SELECT pg_terminate_backend(pg_backend_pid())`.pipe(
        (ended) => within(ended, { duration: "1 second", orElse: () => Effect.void }),
        Effect.exit,
        Effect.asVoid
      )
      // What is first seen when it is above 0 has grown for nobody who watches.
      yield* Metric.update(misremembered, 0)
      yield* Metric.update(refusing, 0)
      const lane = yield* Lane.make(config, announce, makeRoom)
      const { crowded, isServing } = lane
      // Without a fence nothing can be superseded.
      const post = lane.post as Ledger["Service"]["post"]

      const keyOf = SqlSchema.findOneOption({
        Request: Schema.Struct({
          tenant_id: Schema.String,
          operation: Schema.String,
          key: Schema.String,
          now: Schema.Date
        }),
        Result: Schema.Struct({ fingerprint: Schema.String, result: Schema.Unknown }),
        execute: ({ tenant_id, operation, key, now }) =>
          sql`SELECT fingerprint, result FROM idempotency_keys
            WHERE tenant_id = ${tenant_id} AND operation = ${operation} AND key = ${key} AND expires_at > ${now}`
      })
      const recall = Effect.fn("Ledger.recall")(function* (claim: IdempotencyClaim) {
        const known = yield* Effect.orDie(keyOf({ ...claim, now: yield* DateTime.nowAsDate }))
        if (Option.isNone(known)) return Option.none()
        if (known.value.fingerprint !== claim.fingerprint) return yield* new IdempotencyKeyReused({ key: claim.key })
        return Option.some(known.value.result)
      })

      const open: Ledger["Service"]["open"] = ({ id, purpose, currency }) =>
        Effect.orDie(
          Effect.asVoid(
            sql`INSERT INTO ledger_accounts (id, purpose, currency) VALUES (${id}, ${purpose}, ${currency})`
          )
        )

      // The head's lock puts a freeze before or after every movement, never in the middle of a group's decision.
      const freeze = SqlSchema.findOneOption({
        Request: Schema.Struct({ id: Schema.String, frozen: Schema.Boolean }),
        Result: Schema.Struct({ key: Schema.BigInt }),
        execute: ({ id, frozen }) =>
          sql`WITH head AS MATERIALIZED (SELECT log, ${sql.literal(notForLong)} FROM ledger_head WHERE log = 1 FOR UPDATE)
            UPDATE ledger_accounts a SET frozen = ${frozen} FROM head WHERE a.id = ${id} AND a.log = head.log
            RETURNING a.key`
      })
      const setFrozen = Effect.fn("Ledger.setFrozen")(function* (id: string, frozen: boolean) {
        const changed = yield* Effect.orDie(freeze({ id, frozen }))
        if (changed._tag === "None") return yield* new NotFound({ resource: "wallet", id: toTypeId("wal", id) })
      })

      const accountById = SqlSchema.findOne({
        Request: Schema.String,
        Result: LedgerAccount,
        execute: (id) =>
          sql`SELECT key, id, currency, posted, held, may_overdraw, frozen, purpose = 'wallet' AS is_wallet
            FROM ledger_accounts WHERE id = ${id}`
      })
      const account = (id: string) =>
        accountById(id).pipe(
          Effect.map((found) => ({ ...found, frozen: isFrozen(found, custody) })),
          Effect.catchTags({
            NoSuchElementError: () => Effect.fail(new NotFound({ resource: "wallet", id: toTypeId("wal", id) })),
            SqlError: Effect.die,
            SchemaError: Effect.die
          })
        )

      const tallyOf = SqlSchema.findOneOption({
        Request: Schema.Struct({ scope: Schema.String, subject: Schema.String }),
        Result: Tally,
        execute: ({ scope, subject }) =>
          sql`SELECT scope, subject, count, amount FROM tallies
            WHERE log = 1 AND scope = ${scope} AND subject = ${subject}`
      })
      const tally = (scope: string, subject: string) =>
        tallyOf({ scope, subject }).pipe(
          Effect.orDie,
          Effect.map((found) => (found._tag === "Some" ? found.value : { scope, subject, count: 0n, amount: 0n }))
        )

      const dueHolds = SqlSchema.findAll({
        Request: Schema.Date,
        Result: Schema.Struct({
          id: Schema.String,
          debit: Schema.String,
          credit: Schema.String,
          currency: Schema.String
        }),
        execute: (now) =>
          sql`SELECT h.id, d.id AS debit, c.id AS credit, d.currency FROM holds h
            JOIN ledger_accounts d ON d.key = h.debit JOIN ledger_accounts c ON c.key = h.credit
            WHERE h.state = 'open' AND h.expires_at < ${now} ORDER BY h.expires_at LIMIT 500`
      })
      const expireDue = Effect.gen(function* () {
        const due = yield* Effect.orDie(dueHolds(yield* DateTime.nowAsDate))
        const released = yield* Effect.forEach(
          due,
          ({ id, debit, credit, currency }) =>
            post({
              id: newUuid(),
              steps: [{ kind: "release", hold: id, debit, credit, currency, as: "expired", code: "expired" }]
            }).pipe(
              Effect.as(1),
              // Captured or released since we looked: nothing is left to expire.
              Effect.catch(() => Effect.succeed(0))
            ),
          { concurrency: 500 }
        )
        return released.reduce((sum, one) => sum + one, 0)
      }).pipe(Effect.withSpan("Ledger.expireDue"))

      // The oldest first, which an index has in its order: any of them would be looked for among all that are over, by each step.
      // One that is used again at this moment is left alone: whoever uses it has the head of the log, and may want others that go
      // here as well. Were it waited for, the two would wait for each other, and all money with them.
      const dropKeys = SqlSchema.findOne({
        Request: Schema.Date,
        Result: Schema.Struct({ dropped: Schema.Int }),
        execute: (now) =>
          sql`WITH old AS (
              DELETE FROM idempotency_keys WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM idempotency_keys WHERE expires_at < ${now} ORDER BY expires_at LIMIT 5000
                FOR UPDATE SKIP LOCKED
              )) RETURNING 1
            ) SELECT count(*)::int AS dropped FROM old`
      })
      const forgetKeys = Effect.flatMap(DateTime.nowAsDate, dropKeys).pipe(
        Effect.map(({ dropped }) => dropped),
        Effect.orDie,
        Effect.withSpan("Ledger.forgetKeys")
      )

      return Ledger.of({ post, recall, open, setFrozen, account, tally, expireDue, forgetKeys, isServing, crowded })
    })
  )
}
