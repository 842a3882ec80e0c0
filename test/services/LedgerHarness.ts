import { DateTime, Effect, Layer } from "effect"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { flat } from "#domain/Price.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"

export const issuance = systemAccount("issuance", "USDC")
export const Test = Layer.mergeAll(Ledger.layer, EventLog.layer).pipe(Layer.provideMerge(Postgres.layerTest))

export const transfer = (debit: string, credit: string, amount: bigint, id = newUuid()) => ({
  id,
  steps: [{ kind: "transfer" as const, debit, credit, amount, currency: "USDC", code: "test" }]
})

export const wallet = Effect.fn(function* (funds = 0n) {
  const { open, post } = yield* Ledger
  const id = newUuid()
  yield* open({ id, purpose: "wallet", currency: "USDC" })
  if (funds > 0n) yield* post(transfer(issuance, id, funds))
  return id
})

export const balance = Effect.fn(function* (id: string) {
  const { account } = yield* Ledger
  const { posted, held } = yield* account(id)
  return { posted, held }
})

export const hold = (debit: string, credit: string, amount: bigint, id = newUuid()) =>
  Effect.map(DateTime.nowAsDate, (now) => ({
    id,
    steps: [
      {
        kind: "hold" as const,
        hold: id,
        debit,
        credit,
        price: flat(amount),
        currency: "USDC",
        code: "payment",
        expires_at: now
      }
    ]
  }))
