import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { eventsOf, faults, open, parties, platform, rate } from "./MoneyStreamsHarness.ts"

layer(platform)("listing streams", (it) => {
  it.effect("shows them as they are now, newest first, page by page, by status and by wallet", () =>
    Effect.gen(function* () {
      const both = yield* parties(5_000_000n)
      const { cancel, list, pause } = yield* MoneyStreams
      const made = []
      for (let index = 0; index < 4; index++) {
        made.push(
          (yield* open(both, { initial_deposit: 1_000_000n, flow_rate: rate(index === 0 ? "1" : "0.1") })).stream.id
        )
      }
      const [dry, flowing, stopped, over] = made
      yield* TestClock.adjust("2 seconds")
      yield* pause(both.caller, stopped!)
      yield* cancel(both.caller, over!, {})
      const ids = (filter: Parameters<typeof list>[1], limit = 9, offset = 0) =>
        Effect.map(list(both.caller, filter, { limit, offset }), ({ streams, total }) => [
          streams.map(({ id }) => id),
          total
        ])
      assert.deepStrictEqual(yield* ids({}), [made.toReversed(), 4])
      assert.deepStrictEqual(yield* ids({}, 2, 1), [[stopped, flowing], 4])
      assert.deepStrictEqual(yield* ids({ status: "active" }), [[flowing], 1])
      // Nobody has looked after the one that ran dry, and still it is paused.
      assert.deepStrictEqual(yield* ids({ status: "paused" }), [[stopped, dry], 2])
      assert.deepStrictEqual(yield* ids({ status: "cancelled" }), [[over], 1])
      assert.strictEqual((yield* ids({ from_wallet_id: both.payer }))[1], 4)
      assert.strictEqual((yield* ids({ to_wallet_id: both.payee }))[1], 4)
      assert.strictEqual((yield* ids({ to_wallet_id: both.payer }))[1], 0)
    })
  )

  it.effect("show one that flows for longer than there are dates as active", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const { list } = yield* MoneyStreams
      const { stream } = yield* open(both, { flow_rate: rate("0.000000000000000001") })
      assert.deepInclude(stream, { status: "active", exhausted_at: null })
      const listed = (status: "active" | "paused") =>
        Effect.map(list(both.caller, { status }, { limit: 9, offset: 0 }), ({ streams }) => streams.map(({ id }) => id))
      assert.deepStrictEqual([yield* listed("active"), yield* listed("paused")], [[stream.id], []])
    })
  )
})

layer(platform)("looking after streams", (it) => {
  it.effect("gives each alert once, with the stream as it is then, and pauses what has run dry", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const { alertDue, get } = yield* MoneyStreams
      // Two days.
      const { id } = (yield* open(both, { initial_deposit: 172_800_000n })).stream
      const said: Array<unknown> = []
      for (const hours of [23, 1, 1, 22, 1, 1, 5]) {
        yield* TestClock.adjust(`${hours} hours`)
        said.push(yield* alertDue)
        yield* TestClock.adjust("1 second")
        said.push(yield* alertDue)
      }
      assert.strictEqual(
        said.reduce((sum: number, one) => sum + Number(one), 0),
        3
      )
      const alerts = yield* eventsOf(both.caller, "stream.alert")
      assert.deepStrictEqual(
        alerts.map(({ data }) => [data.alert.severity, data.stream.status]),
        [
          ["warning", "active"],
          ["critical", "active"],
          ["exhausted", "paused"]
        ]
      )
      assert.deepStrictEqual(alerts[2]?.data.alert, { severity: "exhausted", runway_seconds: 0 })
      assert.deepInclude(yield* get(both.caller, id), { status: "paused", pause_reason: "exhausted" })
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT status, next_alert_at FROM streams WHERE id = ${id}`
      assert.deepStrictEqual(rows[0], { status: "paused", next_alert_at: null })
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("goes on with what is due after very many that cannot be looked after, or read", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { alertDue } = yield* MoneyStreams
      const broken = yield* parties(250_000_000n)
      for (let made = 0; made < 250; made++) {
        yield* open(broken, { initial_deposit: 1_000_000n, flow_rate: rate("0.001") })
      }
      // No fence lets them pass.
      yield* sql`UPDATE streams SET version = version + 7 WHERE tenant_id = ${broken.caller.tenant_id}`
      yield* sql`UPDATE streams SET metadata = '[]' WHERE id = (SELECT min(id::text)::uuid FROM streams
        WHERE tenant_id = ${broken.caller.tenant_id})`
      const both = yield* parties(1_000_000_000n)
      yield* open(both)
      yield* TestClock.adjust("20 days")
      assert.strictEqual(yield* alertDue, 1)
      assert.lengthOf(yield* eventsOf(both.caller, "stream.alert"), 1)
      yield* sql`UPDATE streams SET version = version - 7, metadata = '{}' WHERE tenant_id = ${broken.caller.tenant_id}`
    })
  )

  it.effect("lists those that live without reading those that have ended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { list, pause } = yield* MoneyStreams
      const both = yield* parties(2_000_000_000n)
      const [flowing, stopped] = [(yield* open(both)).stream.id, (yield* open(both)).stream.id]
      yield* pause(both.caller, stopped)
      const ended = sql`INSERT INTO streams SELECT (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
          'status', 'cancelled', 'cancelled_at', now(), 'returned', s.deposited, 'exhausts_at', NULL, 'next_alert_at', NULL))).*
        FROM streams s, generate_series(1, 3000) WHERE s.id = ${flowing}`
      // Without an account for each.
      yield* sql.withTransaction(Effect.andThen(sql`SET LOCAL session_replication_role = replica`, ended))
      yield* sql`ANALYZE streams`
      const counted = sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_xact_user_tables
        WHERE relname = 'streams'`
      for (const [status, id] of [
        ["active", flowing],
        ["paused", stopped]
      ] as const) {
        const listed = list(both.caller, { status }, { limit: 50, offset: 0 })
        const [before, found, after] = yield* sql.withTransaction(Effect.all([counted, listed, counted]))
        assert.deepStrictEqual(
          found.streams.map((stream) => stream.id),
          [id]
        )
        assert.isAtMost(Number(after[0]?.["read"]) - Number(before[0]?.["read"]), 20)
      }
    })
  )

  it.effect("finds what is due without reading the rest", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const plan =
        yield* sql`EXPLAIN SELECT id FROM streams s WHERE s.next_alert_at <= now() ORDER BY s.next_alert_at LIMIT 200`
      assert.include(JSON.stringify(plan), "streams_alerts")
    })
  )

  it.effect("goes on with what is due beside one that cannot be read", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000_000n)
      const { alertDue } = yield* MoneyStreams
      const sql = yield* SqlClient.SqlClient
      const made = yield* Effect.forEach([0, 1, 2], () => open(both, { initial_deposit: 1_000_000n }))
      const [one, bad, other] = made.map(({ stream }) => stream.id)
      yield* sql`UPDATE streams SET currency = 'GBPC' WHERE id = ${bad}`
      yield* TestClock.adjust("1 hour")
      yield* alertDue
      const alerts = yield* eventsOf(both.caller, "stream.alert")
      const dry = alerts.filter(({ data }) => data.alert.severity === "exhausted").map(({ data }) => data.stream.id)
      assert.sameMembers(
        dry,
        [one, other].map((id) => toTypeId("str", id!))
      )
      yield* sql`DELETE FROM streams WHERE id = ${bad}`
    })
  )
})
