import * as PgClient from "@effect/sql-pg/PgClient"
import { Cause, Effect, Exit, ManagedRuntime, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import { newUuid } from "#services/NewId.ts"
import { serve } from "./serve.ts"

const Body = Schema.fromJsonString(
  Schema.Struct({ from_wallet_id: Schema.String, to_wallet_id: Schema.String, idempotency_key: Schema.String })
)
const decode = Schema.decodeUnknownEffect(Body)

/** One transaction per transfer, wallets locked in order, with the rows that ours writes: key, two entries, transfer and two facts. */
const transfer = (sql: SqlClient.SqlClient, { from_wallet_id, idempotency_key, to_wallet_id }: typeof Body.Type) => {
  const id = newUuid()
  const record = { id, status: "completed", amount: "0.000001", currency: "USDC", from_wallet_id, to_wallet_id }
  return sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`INSERT INTO plain_keys VALUES (${idempotency_key}, ${id}, ${JSON.stringify(record)}::jsonb)`
      const rows =
        yield* sql`SELECT id, balance FROM plain_accounts WHERE id IN (${from_wallet_id}, ${to_wallet_id}) ORDER BY id FOR UPDATE`
      if (rows.length < 2) return yield* Effect.die("There is no such wallet")
      yield* sql`UPDATE plain_accounts SET balance = balance - 1 WHERE id = ${from_wallet_id}`
      yield* sql`UPDATE plain_accounts SET balance = balance + 1 WHERE id = ${to_wallet_id}`
      yield* sql`INSERT INTO plain_transfers VALUES (${id}, ${from_wallet_id}, ${to_wallet_id}, 1, 'completed')`
      yield* sql`INSERT INTO plain_entries (transfer, account, amount) VALUES (${id}, ${from_wallet_id}, -1), (${id}, ${to_wallet_id}, 1)`
      yield* sql`INSERT INTO plain_outbox (type, data) VALUES ('transfer.created', ${JSON.stringify(record)}::jsonb),
        ('transfer.completed', ${JSON.stringify(record)}::jsonb)`
      return record
    })
  )
}

// What most services do: plain node:http, and a transaction of its own for every transfer.
serve<{ config: PgClient.PgClientConfig }>(({ config }) => {
  const runtime = ManagedRuntime.make(PgClient.layer({ ...config, maxConnections: 20, minConnections: 20 }))
  const take = (text: string) =>
    Effect.gen(function* () {
      return yield* transfer(yield* SqlClient.SqlClient, yield* decode(text))
    })
  return createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      runtime.runCallback(take(Buffer.concat(chunks).toString()), {
        onExit: (exit) => {
          const body = Exit.isSuccess(exit) ? JSON.stringify(exit.value) : Cause.pretty(exit.cause)
          response.writeHead(Exit.isSuccess(exit) ? 201 : 500, {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body)
          })
          response.end(body)
        }
      })
    })
  })
})
