import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { parseAddress } from "#domain/Network.ts"
import { priceAt } from "#domain/Price.ts"
import { Deployment } from "../Deployment.ts"
import type { Snapshot } from "../Endpoints.ts"
import { Ledger } from "../Ledger.ts"
import { payerIdOf } from "../Payments/OnChain.ts"

/** What callers who are known by an address pay: their completed calls decide. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* Ledger
  const { environment } = yield* Deployment

  const walletAt = SqlSchema.findOneOption({
    Request: Schema.Struct({ network: Schema.String, currency: Schema.String, address: Schema.String }),
    Result: Schema.Struct({ id: Schema.String }),
    execute: ({ address, currency, network }) =>
      sql`SELECT id FROM wallets WHERE network = ${network} AND currency = ${currency} AND address = ${address}`
  })
  const idOf = ({ endpoint: { currency, network } }: Snapshot, address: string) =>
    environment === "sandbox"
      ? Effect.map(
          Effect.orDie(walletAt({ network, currency, address })),
          (wallet) => Option.getOrUndefined(wallet)?.id
        )
      : Effect.succeed(payerIdOf(network, address))

  /** Micro-units; the list price for whoever is not known. */
  const priceFor = Effect.fnUntraced(function* (snapshot: Snapshot, text: string) {
    const address = parseAddress(snapshot.endpoint.network, text)
    const payer = address === undefined ? undefined : yield* idOf(snapshot, address)
    if (payer === undefined) return snapshot.price.base
    const { count } = yield* ledger.tally(snapshot.endpoint.id, payer)
    return priceAt(snapshot.price, count)
  })

  return { priceAt: priceFor }
})
