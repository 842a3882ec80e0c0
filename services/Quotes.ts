import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { AgentId, QuoteId, TenantId, toTypeId } from "#domain/Ids.ts"
import { agentOf, reaches } from "#domain/Ownership.ts"
import type { AmountTooLarge } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import {
  amountsOf,
  type CreateQuote,
  Quote,
  type QuoteAlreadyUsed,
  type QuoteAmountTooSmall,
  quoteDefaults,
  type QuoteExpired,
  redemption,
  shownTerms
} from "#domain/Quote.ts"
import { type RatesNotConfigured, rateUnit, type RateUnavailable } from "#domain/Rate.ts"
import { NotFound } from "#domain/Refusal.ts"
import { keepForgetting } from "./Forgetting.ts"
import { newId } from "./NewId.ts"
import { QuotePolicy } from "./Quotes/Policy.ts"
import { RateSource } from "./RateSource.ts"

/** Why nothing is promised. */
export type QuoteRefused = QuoteAmountTooSmall | AmountTooLarge | RateUnavailable | RatesNotConfigured

/** Promised conversions. Every method sees what was promised to whom the caller reaches; all else is `NotFound`. */
export class Quotes extends Context.Service<
  Quotes,
  {
    /** Promises amounts at the rate of now. Moves nothing and reserves nothing. */
    create(caller: Principal, quote: CreateQuote): Effect.Effect<Quote, QuoteRefused>
    /** The same in two steps: others may be asked for the rate, and what this gives writes the promise and joins a transaction. */
    prepare(caller: Principal, quote: CreateQuote): Effect.Effect<Effect.Effect<Quote>, QuoteRefused>
    get(caller: Principal, id: QuoteId): Effect.Effect<Quote, NotFound>
    /** The quote, if a transfer may be made with it now; `useQuote` and its fence decide between several. */
    redeemable(caller: Principal, id: QuoteId): Effect.Effect<Quote, NotFound | QuoteExpired | QuoteAlreadyUsed>
    /** Drops quotes that ended unused a day ago, at most 5,000 a step; how many it dropped. */
    readonly forgetExpired: Effect.Effect<number>
  }
>()("turnpike/services/Quotes") {
  static readonly layer = Layer.effect(
    Quotes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const rates = yield* RateSource
      const policy = yield* QuotePolicy

      const insert = SqlSchema.void({
        Request: NewQuote,
        execute: (row) => sql`INSERT INTO quotes ${sql.insert(row)}`
      })
      const prepare = Effect.fn("Quotes.prepare")(function* (caller: Principal, wanted: CreateQuote) {
        const { amount, amount_side, from_currency, to_currency } = { ...quoteDefaults, ...wanted }
        const mid = from_currency === to_currency ? rateUnit : yield* rates.mid(from_currency, to_currency)
        const { feeBasisPoints: fee, spreadBasisPoints: spread, timeToLive } = policy
        const terms = { from_currency, to_currency, mid, spread, fee }
        const amounts = yield* Effect.fromResult(amountsOf(terms, amount_side, amount))
        const now = yield* DateTime.now
        const row = {
          id: yield* newId(QuoteId),
          ...shownTerms(terms),
          amount_side,
          ...amounts,
          expires_at: DateTime.toDate(DateTime.addDuration(now, timeToLive)),
          transfer_id: null,
          created_at: DateTime.toDate(now)
        }
        const { tenant_id } = caller
        const written = Effect.orDie(insert({ ...row, tenant_id, agent_id: agentOf(caller) ?? null }))
        return Effect.as(written, shown(row))
      })
      const create = Effect.fn("Quotes.create")((caller: Principal, wanted: CreateQuote) =>
        Effect.flatten(prepare(caller, wanted))
      )

      const byId = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: Schema.toType(TenantId), id: Schema.toType(QuoteId) }),
        Result: OwnedRow,
        execute: ({ tenant_id, id }) =>
          sql`SELECT id, from_currency, to_currency, rate, mid_rate, spread_basis_points, amount_side, send_amount,
              receive_amount, fee, expires_at, transfer_id, created_at, agent_id
            FROM quotes WHERE id = ${id} AND tenant_id = ${tenant_id}`
      })
      const find = Effect.fnUntraced(function* (caller: Principal, id: QuoteId) {
        const { tenant_id } = caller
        const found = Option.getOrUndefined(yield* Effect.orDie(byId({ tenant_id, id })))
        if (found === undefined || !reaches(caller, { tenant_id, account_id: null, agent_id: found.agent_id })) {
          return yield* new NotFound({ resource: "quote", id: toTypeId("qt", id) })
        }
        const { agent_id: _, ...row } = found
        return shown(row)
      })
      const get = Effect.fn("Quotes.get")(find)

      const redeemable = Effect.fn("Quotes.redeemable")(function* (caller: Principal, id: QuoteId) {
        const quote = yield* find(caller, id)
        return yield* Effect.fromResult(redemption(quote, yield* DateTime.nowAsDate))
      })

      const dropUnused = SqlSchema.findOne({
        Request: Schema.Date,
        Result: Schema.Struct({ dropped: Schema.Int }),
        // The oldest first, which an index has in its order: any of them would be looked for among all that are over, by each step.
        execute: (before) =>
          sql`WITH old AS (
              DELETE FROM quotes WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM quotes WHERE transfer_id IS NULL AND expires_at < ${before} ORDER BY expires_at LIMIT 5000
              )) AND transfer_id IS NULL RETURNING 1
            ) SELECT count(*)::int AS dropped FROM old`
      })
      const forgetExpired = Effect.gen(function* () {
        const before = DateTime.subtractDuration(yield* DateTime.now, policy.kept)
        const { dropped } = yield* Effect.orDie(dropUnused(DateTime.toDate(before)))
        return dropped
      }).pipe(Effect.withSpan("Quotes.forgetExpired"))

      return Quotes.of({ create, prepare, get, redeemable, forgetExpired })
    })
  )

  /** Forgets old quotes every minute. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.flatMap(Quotes, ({ forgetExpired }) => keepForgetting("Quotes", forgetExpired, "1 minute"))
  )
}

const { expires_in: _, ...stored } = Quote.fields
const QuoteRow = Schema.toType(Schema.Struct(stored))
const OwnedRow = Schema.toType(Schema.Struct({ ...stored, agent_id: Schema.NullOr(AgentId) }))
const NewQuote = Schema.toType(Schema.Struct({ ...stored, tenant_id: TenantId, agent_id: Schema.NullOr(AgentId) }))

/** The quote as it is shown. */
const shown = (row: typeof QuoteRow.Type): Quote => {
  const lived = Duration.millis(row.expires_at.getTime() - row.created_at.getTime())
  return { ...row, expires_in: Math.floor(Duration.toSeconds(lived)) }
}
