import { Effect, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type Authorization, reservationOf } from "#domain/protocol/Authorization.ts"
import { type Asked, declined, sandboxFacilitator, usedBefore } from "#domain/protocol/Facilitation.ts"
import { sandboxTransaction } from "#domain/SandboxTransaction.ts"
import { Ledger } from "../Ledger.ts"
import { SandboxChain } from "../SandboxChain.ts"
import type { Parties, Settling } from "./Parties.ts"

/** Settles where the ledger is the chain: from the wallet of the payer's address to the wallet of the receiver's. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* Ledger
  const { feePayer } = yield* SandboxChain

  const isPosted = SqlSchema.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({ command_id: Schema.String }),
    execute: (id) => sql`SELECT command_id FROM movements WHERE command_id = ${id} LIMIT 1`
  })

  const isBegun = (authorization: Authorization) =>
    Effect.map(Effect.orDie(isPosted(reservationOf(authorization))), Option.isSome)

  const refusal = Effect.fnUntraced(function* (asked: Asked, authorization: Authorization, { payer }: Parties) {
    if (yield* isBegun(authorization)) return usedBefore(authorization)
    if (payer === undefined) return declined("insufficient_funds")
    if (payer.frozen) return declined("wallet_frozen")
    return payer.available < asked.amount ? declined("insufficient_funds") : undefined
  })

  const take = Effect.fnUntraced(function* (asked: Asked, authorization: Authorization, { payee, payer }: Parties) {
    if (payer === undefined) return declined("insufficient_funds")
    // The id under which a gateway call with the same word would reserve the money: of the two, one can.
    const id = reservationOf(authorization)
    const { amount, currency } = asked
    const posted = yield* ledger
      .post({
        id,
        steps: [{ kind: "transfer", debit: payer.id, credit: payee.id, currency, amount, code: "facilitator" }]
      })
      .pipe(
        Effect.catchTags({
          INSUFFICIENT_BALANCE: () => Effect.succeed(declined("insufficient_funds")),
          WALLET_FROZEN: () => Effect.succeed(declined("wallet_frozen")),
          AMOUNT_TOO_LARGE: () =>
            Effect.succeed(declined("invalid_payment_requirements", "the receiver cannot hold that much")),
          NOT_FOUND: Effect.die,
          SAME_WALLET: Effect.die,
          CURRENCY_MISMATCH: Effect.die,
          HOLD_NOT_OPEN: Effect.die,
          IDEMPOTENCY_KEY_REUSED: Effect.die
        })
      )
    if ("_tag" in posted) return posted
    const [moved] = posted.movements
    const same = moved?.kind === "transfer" && moved.credit === payee.key && moved.amount === amount
    return same ? { transaction: sandboxTransaction(asked.network, id), since: posted.at } : usedBefore(authorization)
  })

  return {
    kinds: Effect.succeed([
      { network: "solana-devnet", scheme: "exact", extra: { feePayer } },
      { network: "base-sepolia", scheme: "exact", extra: {} },
      { network: "base-sepolia", scheme: "upto", extra: { facilitatorAddress: sandboxFacilitator } }
    ]),
    refusal,
    take,
    isBegun,
    // Who asks is told at once.
    unlessAwaited: (_, __, refused) => Effect.succeed(refused)
  } satisfies Settling
})
