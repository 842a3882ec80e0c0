import { DateTime, type Duration, Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { MerchantCategory, CountryCode, Region } from "#domain/Scan.ts"
import { newUuid } from "../NewId.ts"

/** What a caller said of a merchant. */
export const Words = Schema.Struct({
  merchant_name: Schema.NullOr(Schema.String),
  merchant_category: Schema.NullOr(MerchantCategory),
  country_code: Schema.NullOr(CountryCode),
  region: Schema.NullOr(Region)
})
export type Words = typeof Words.Type

export const noWords: Words = { merchant_name: null, merchant_category: null, country_code: null, region: null }

/** The newer word stands; where nothing was said, the older one. */
export const newerWords = (newer: Words, older: Words): Words => ({
  merchant_name: newer.merchant_name ?? older.merchant_name,
  merchant_category: newer.merchant_category ?? older.merchant_category,
  country_code: newer.country_code ?? older.country_code,
  region: newer.region ?? older.region
})

const Kind = Schema.Literals(["scan", "test"])
export type Kind = typeof Kind.Type

/** A piece of work that this process does, unless it is silent for as long as the lease. */
export const Claim = Schema.Struct({
  kind: Kind,
  domain: Schema.String,
  variant: Schema.String,
  id: Schema.String,
  holder: Schema.String,
  created_at: Schema.Date
})
export type Claim = typeof Claim.Type

/** One piece of work of a kind for a domain at a time, whatever the number of processes. */
export const make = Effect.fnUntraced(function* (lease: Duration.Duration) {
  const sql = yield* SqlClient.SqlClient
  const until = Effect.map(DateTime.now, (now) => DateTime.toDate(DateTime.addDuration(now, lease)))

  const insert = SqlSchema.findOneOption({
    Request: Schema.Struct({ ...Claim.fields, ...Words.fields, until: Schema.Date }),
    Result: Claim,
    // Whoever takes over goes on under the same id: somebody may have seen it.
    execute: (work) =>
      sql`INSERT INTO scanner_work AS w (kind, domain, variant, id, status, holder, held_until, merchant_name,
          merchant_category, country_code, region, created_at)
        VALUES (${work.kind}, ${work.domain}, ${work.variant}, ${work.id}, 'pending', ${work.holder}, ${work.until},
          ${work.merchant_name}, ${work.merchant_category}, ${work.country_code}, ${work.region}, ${work.created_at})
        ON CONFLICT (kind, domain) DO UPDATE SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until,
          variant = EXCLUDED.variant, status = 'pending'
        WHERE w.held_until <= ${work.created_at}
        RETURNING kind, domain, variant, id, holder, created_at`
  })
  const Touched = Schema.Array(Schema.Struct({ id: Schema.String }))
  const touched = (rows: unknown) => Effect.map(Schema.decodeUnknownEffect(Touched)(rows), ({ length }) => length > 0)
  const own = ({ domain, holder, kind }: Claim) => sql`kind = ${kind} AND domain = ${domain} AND holder = ${holder}`

  return {
    /** Nothing when somebody else is at it. */
    take: Effect.fnUntraced(function* (kind: Kind, domain: string, variant: string, words: Words) {
      const created_at = yield* DateTime.nowAsDate
      const [id, holder] = [newUuid(), newUuid()]
      return yield* insert({ kind, domain, variant, id, holder, created_at, ...words, until: yield* until })
    }, Effect.orDie),
    /** Still ours; now until a lease from now. False when it is not any more. */
    prolong: Effect.fnUntraced(function* (claim: Claim) {
      const held = yield* sql`UPDATE scanner_work SET held_until = ${yield* until} WHERE ${own(claim)} RETURNING id`
      return yield* touched(held)
    }, Effect.orDie),
    begin: (claim: Claim) =>
      Effect.orDie(Effect.asVoid(sql`UPDATE scanner_work SET status = 'scanning' WHERE ${own(claim)}`)),
    /** Ends it, with or without a record. False when it was not ours any more. Joins the caller's transaction. */
    end: Effect.fnUntraced(function* (claim: Claim) {
      return yield* touched(yield* sql`DELETE FROM scanner_work WHERE ${own(claim)} RETURNING id`)
    }, Effect.orDie),
    /** Forgets what nobody took over from a process that is gone; how many. */
    forgetLost: Effect.gen(function* () {
      const now = yield* DateTime.nowAsDate
      const lost = yield* sql`DELETE FROM scanner_work WHERE held_until <= ${now} RETURNING id`
      return (yield* Schema.decodeUnknownEffect(Touched)(lost)).length
    }).pipe(Effect.orDie, Effect.withSpan("Scans.forgetLost"))
  }
})
export type Claims = Effect.Success<ReturnType<typeof make>>
