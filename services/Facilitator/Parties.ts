import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Currency } from "#domain/Money.ts"
import { Network } from "#domain/Network.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import type { FacilitatedParties } from "#domain/protocol/FacilitatedParties.ts"
import type { Asked, Declined } from "#domain/protocol/Facilitation.ts"
import type { Kind } from "../Rail.ts"

/** Money that did not move, or of which nobody knows yet whether it did; then perhaps with the transaction that will tell. */
export interface Unsettled extends Declined {
  readonly transaction?: string | undefined
}

/** Money that moved: by which transaction, and when that was begun. */
export interface Taken {
  readonly transaction: string
  readonly since: Date
}

/** Where money is and moves: the ledger of a sandbox, or a chain. */
export interface Settling {
  readonly kinds: Effect.Effect<ReadonlyArray<Kind>>
  /** Why this would not go through now; undefined when it would. */
  refusal(asked: Asked, authorization: Authorization, parties: Parties): Effect.Effect<Declined | undefined>
  /**
   * Takes what is asked. Taking again is taking once. What is not known by then (monotonic milliseconds) is told as not known; it goes
   * on all the same.
   */
  take(asked: Asked, authorization: Authorization, parties: Parties, until: number): Effect.Effect<Taken | Unsettled>
  /** Whether money was asked for by this word, and moved or may yet. */
  isBegun(authorization: Authorization): Effect.Effect<boolean>
  /** The refusal, unless this was begun, and nobody was told of an outcome: then nobody was served for it. */
  unlessAwaited(asked: Asked, authorization: Authorization, refusal: Declined): Effect.Effect<Declined | undefined>
}

const Party = Schema.Struct({
  id: Schema.String,
  tenant_id: Schema.String,
  address: Schema.String,
  key: Schema.BigInt,
  available: Schema.BigInt,
  frozen: Schema.Boolean
})
export type Parties = FacilitatedParties<typeof Party.Type>

/** Finds the wallets of the two addresses of a payment. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const walletsAt = SqlSchema.findAll({
    Request: Schema.Struct({
      network: Schema.toType(Network),
      currency: Currency,
      addresses: Schema.Array(Schema.String)
    }),
    Result: Party,
    execute: ({ addresses, currency, network }) =>
      sql`SELECT w.id, w.tenant_id, w.address, a.key, a.posted - a.held AS available, a.frozen
        FROM wallets w JOIN ledger_accounts a ON a.id = w.id
        WHERE w.network = ${network} AND w.currency = ${currency} AND w.address = ANY(${addresses}::text[])`
  })
  return Effect.fnUntraced(function* ({ currency, network, offer }: Asked, payer: string) {
    const found = yield* Effect.orDie(walletsAt({ network, currency, addresses: [payer, offer.payTo] }))
    const at = (address: string) => found.find((wallet) => wallet.address === address)
    return { payer: at(payer), payee: at(offer.payTo) }
  })
})
