import { Context, DateTime, Deferred, type Duration, Effect, Layer, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { flat } from "#domain/Price.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { newUuid } from "#services/NewId.ts"

export const issuance = systemAccount("issuance", "USDC")
export const Test = Layer.mergeAll(Ledger.layer, EventLog.layer).pipe(Layer.provideMerge(Postgres.layerTest))

/** The ledger of another process on the same database. */
export const elsewhere = Effect.map(Layer.build(Layer.fresh(Ledger.layer)), (context) => Context.get(context, Ledger))

/** A ledger that is waited for until this has happened, by commands that move something. */
export const heldUp = (meanwhile: Effect.Effect<unknown>) =>
  Layer.effect(
    Ledger,
    Effect.map(Ledger, (ledger) => {
      const post = (command: LedgerCommand) =>
        Effect.andThen(command.steps.length > 0 ? meanwhile : Effect.void, ledger.post(command))
      return Ledger.of({ ...ledger, post: post as Ledger["Service"]["post"] })
    })
  )

/** A ledger whose first answer never arrives, so that the lane posts the same command again, after what happens meanwhile. */
export const losing = (meanwhile: Effect.Effect<unknown>) =>
  Layer.effect(
    Ledger,
    Effect.map(Ledger, (ledger) => {
      const post = (command: LedgerCommand) =>
        Effect.andThen(Effect.andThen(ledger.post(command), meanwhile), ledger.post(command))
      return Ledger.of({ ...ledger, post: post as Ledger["Service"]["post"] })
    })
  )

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

/** A command that ends a hold. */
export const ended = (hold: string, debit: string, credit: string, kind: "capture" | "release") => ({
  id: newUuid(),
  steps: [
    kind === "capture"
      ? { kind, hold, debit, credit, currency: "USDC", code: "payment" }
      : { kind, hold, debit, credit, currency: "USDC", code: "released", as: "released" as const }
  ]
})

/** What became of a command, in a word. */
export const outcome = (result: Result.Result<unknown, { readonly _tag: string }>) =>
  Result.isSuccess(result) ? "posted" : result.failure._tag

/** Whether somebody waits for the head of this log. */
export const waitsForHead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT EXISTS (
    SELECT FROM pg_locks l WHERE NOT l.granted AND EXISTS (
      SELECT FROM pg_locks h WHERE h.pid = l.pid AND h.relation = 'ledger_head'::regclass)) AS waits`
  return row?.["waits"] === true
})

/**
 * Cuts the ledger's connection again and again until `finished`, a moment after the other, and never twice with nothing posted in
 * between: on a slow machine, too, the ledger gets on.
 */
export const cutting = Effect.fnUntraced(function* (finished: Deferred.Deferred<void>, moment: Duration.Input) {
  const sql = yield* SqlClient.SqlClient
  const place = Effect.map(
    sql`SELECT (movement_seq + event_seq)::text AS place FROM ledger_head`,
    ([row]) => row?.["place"]
  )
  const isOver = Effect.map(Effect.timeoutOption(Deferred.await(finished), moment), Option.isSome)
  let over = false
  while (!over) {
    const before = yield* place
    yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'turnpike-ledger' AND datname = current_database()`
    do over = yield* isOver
    while (!over && (yield* place) === before)
  }
})
