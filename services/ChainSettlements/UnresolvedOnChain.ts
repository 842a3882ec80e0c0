import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type ChainSettlement, finalStates, type Outcome } from "#domain/ChainSettlement.ts"
import { Network } from "#domain/Network.ts"
import { ChainPolicy } from "./Policy.ts"
import * as Records from "./Records.ts"

/** A settlement on a chain that was left to the operator. */
const Unresolved = Schema.Struct({
  id: Schema.String,
  payment_id: Schema.NullOr(Schema.String),
  network: Schema.toType(Network),
  asset: Schema.String,
  payer: Schema.String,
  amount: Schema.BigInt,
  transaction: Schema.NullOr(Schema.String),
  created_at: Schema.Date
})

/**
 * What an operator does about settlements on chains that no rail could answer for. It takes no rail; what comes of the operator's word is
 * booked by the servers that run.
 */
export class UnresolvedOnChain extends Context.Service<
  UnresolvedOnChain,
  {
    /** Oldest first and at most 200. */
    readonly list: Effect.Effect<ReadonlyArray<typeof Unresolved.Type>>
    find(id: string): Effect.Effect<Option.Option<ChainSettlement>>
    /** The operator's word; false when the outcome was known, or nothing was asked yet. */
    conclude(id: string, outcome: Exclude<Outcome, { readonly _tag: "Pending" }>): Effect.Effect<boolean>
    /** Has the rail asked again about one that was left to the operator. */
    resume(id: string): Effect.Effect<boolean>
  }
>()("turnpike/services/ChainSettlements/UnresolvedOnChain") {
  static readonly layer = Layer.effect(
    UnresolvedOnChain,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { find, record, resume } = yield* Records.make(yield* ChainPolicy)
      const unresolved = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Unresolved,
        execute: () =>
          sql`SELECT id, payment_id, network, asset, payer, amount, transaction, created_at FROM chain_settlements
            WHERE state = 'unresolved' ORDER BY created_at, id LIMIT 200`
      })
      const conclude = Effect.fn("UnresolvedOnChain.conclude")(function* (
        id: string,
        outcome: Exclude<Outcome, { readonly _tag: "Pending" }>
      ) {
        const before = yield* find(id)
        if (Option.isNone(before) || finalStates.includes(before.value.state)) return false
        const row = yield* record(id, undefined, outcome)
        return row !== undefined && finalStates.includes(row.state)
      })
      return UnresolvedOnChain.of({ list: Effect.orDie(unresolved()), find, conclude, resume })
    })
  )
}
