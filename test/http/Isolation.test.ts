import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { fieldsOf, type Operation, operations } from "./Description.ts"
import { type Answer, server } from "./GatewayHarness.ts"
import { world } from "./World.ts"

const words = (text: string) => text.split(/\s+/)

/** Fields by which a caller names something that only its own tenant has; World.ts has one of each. */
const private_ = new Set(
  words("owner_id accountId walletId from_wallet_id to_wallet_id transfer_id account_id batch_id quote_id stream_id")
)
/** Fields that name something which whoever was told of it may use. */
const open = new Set(words("payment_request_id url proof"))
/** Fields that name nothing of anybody's: facts, choices, addresses of the outside, places in a list. */
const facts = new Set(
  words(`name type email country metadata scopes environment owner_type currency network address amount max_amount
    idempotency_key from_currency to_currency amount_side reason path method basePrice description volumeDiscounts webhookUrl originUrl timeoutMs rateLimit chargeOn schemes mpp
    forwardHeaders status page limit cursor offset x402Version paymentPayload paymentRequirements window
    reason_details amount_disputed evidence requested_resolution response counter_evidence resolution refund_amount notes due_soon
    transfers memo scheduled_at frequency cron_expression interval day_of_month day_of_week time
    timezone start_at end_at max_occurrences retry_enabled max_retry_attempts retry_window_days
    flow_rate initial_deposit buffer created_after created_before`)
)

const named = (operation: Operation) => [
  ...Object.keys(fieldsOf(operation)).map((field) => ({ operation, field, where: "body" as const })),
  ...operation.query.map((field) => ({ operation, field, where: "query" as const }))
]
const fields = operations.flatMap(named)
const withId = operations.filter(({ params }) => params.length > 0)

/** An answer without what tells one request from another. */
const seen = ({ headers, json, status }: Answer) => ({
  status,
  headers: Object.keys(headers).sort(),
  body: { ...json, request_id: "", details: { ...json?.details, id: "" } }
})

/** Another id of the same form, which is nobody's. */
const nobodys = (id: string) => (id.includes("_") ? toTypeId(id.slice(0, id.indexOf("_")), newUuid()) : newUuid())

/** Every row of every table, once nothing of an earlier call is still to be written: deliveries are marked a moment later. */
const everything = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.repeat(sql`SELECT 1 FROM payments WHERE state = 'captured' AND delivered_at IS NULL`, {
    until: (unmarked) => unmarked.length === 0,
    schedule: Schedule.spaced("10 millis")
  })
  const tables = yield* sql`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`
  return yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      sql`SELECT to_jsonb(t)::text AS row FROM ${sql(String(name))} t ORDER BY 1`,
      (rows) => `${name}: ${rows.map(({ row }) => row).join("\n")}`
    )
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("another tenant", (it) => {
  it.effect("has every field of the description accounted for here", () =>
    Effect.sync(() => {
      for (const { field, operation } of fields) {
        const known = [private_, open, facts].filter((set) => set.has(field)).length
        assert.strictEqual(known, 1, `say in this test whether "${field}" of ${operation.id} names a thing, and whose`)
      }
    })
  )

  for (const operation of withId) {
    it.effect(`${operation.id}: an id of somebody else's is as unknown as one of nobody's, and nothing changes`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const body = yield* mine.bodyOf(operation)
        const id = theirs.idOf(operation)
        const before = yield* everything
        const foreign = yield* mine.call(operation, { body, id })
        const absent = yield* mine.call(operation, { body, id: nobodys(id) })
        assert.deepStrictEqual([foreign.status, foreign.json.code], [404, "NOT_FOUND"])
        assert.deepStrictEqual(seen(foreign), seen(absent))
        assert.deepStrictEqual(yield* everything, before)
        assert.strictEqual(Math.floor((yield* mine.call(operation, { body })).status / 100), 2)
      })
    )
  }

  for (const { field, operation, where } of fields.filter((one) => private_.has(one.field))) {
    it.effect(`${operation.id}: ${field} of somebody else's finds nothing, and nothing changes`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const body = yield* mine.bodyFor(operation, field)
        const before = yield* everything
        const call = (id: string) =>
          where === "query"
            ? mine.call(operation, { query: `${field}=${id}` })
            : mine.call(operation, { body: { ...body, [field]: id } })
        const id = theirs.own[field]!
        const [foreign, absent] = [yield* call(id), yield* call(nobodys(id))]
        assert.deepStrictEqual(seen(foreign), seen(absent))
        if (where === "body") assert.deepStrictEqual([foreign.status, foreign.json.code], [404, "NOT_FOUND"])
        else assert.deepStrictEqual([foreign.status, foreign.json.data], [200, []])
        assert.deepStrictEqual(yield* everything, before)
        const own = yield* call(mine.own[field]!)
        assert.strictEqual(Math.floor(own.status / 100), 2, own.body)
        if (where === "query") assert.notDeepEqual(own.json.data, [])
      })
    )
  }

  for (const operation of operations.filter(({ guarded, method, params }) => {
    return guarded && method === "GET" && params.length === 0
  })) {
    it.effect(`${operation.id}: shows nothing of somebody else's`, () =>
      Effect.gen(function* () {
        const [mine, theirs] = [yield* world, yield* world]
        const answer = yield* mine.call(operation, operation.query.includes("limit") ? { query: "limit=200" } : {})
        assert.strictEqual(answer.status, 200)
        const { tenant_id } = theirs.principal
        for (const id of [...Object.values(theirs.ids), ...Object.values(theirs.own), tenant_id]) {
          assert.notInclude(answer.body, id)
        }
      })
    )
  }
})
