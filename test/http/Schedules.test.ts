import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { fromTypeId } from "#domain/Ids.ts"
import { Schedules } from "#services/Schedules.ts"
import { callerOf, options, serverOf, withWallet } from "./WalletsServer.ts"

const path = "/v1/scheduled-transfers"
const inAMinute = Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.add(now, { minutes: 1 })))

/** A payer with 10.00, a payee, and what schedules between them. */
const pair = Effect.gen(function* () {
  const payer = yield* withWallet
  yield* payer.fund({ amount: "10.00", currency: "USDC" })
  const payee = yield* payer.call("POST", "/v1/wallets", {})
  const body = { from_wallet_id: payer.id, to_wallet_id: payee.body.id, amount: "1.25", currency: "USDC" }
  const create = (given: object, headers?: Record<string, string>) =>
    payer.call("POST", path, { ...body, ...given }, headers)
  return { ...payer, payee: payee.body.id, body, create }
})

layer(serverOf("sandbox"), options)("scheduled transfers over HTTP", (it) => {
  it.effect("creating one answers 201 with the bare record", () =>
    Effect.gen(function* () {
      const { call, create, id: payer, payee } = yield* pair
      const scheduled_at = yield* inAMinute
      const answer = yield* create({ scheduled_at, memo: "Rent" })
      assert.strictEqual(answer.status, 201)
      const { created_at, from_account_id, id, initiated_by, to_account_id, updated_at, ...rest } = answer.body
      assert.match(id, /^sch_[0-9a-z]{26}$/)
      assert.strictEqual(updated_at, created_at)
      assert.match(from_account_id, /^acc_/)
      assert.strictEqual(to_account_id, from_account_id)
      assert.strictEqual(initiated_by.type, "api_key")
      assert.deepStrictEqual(rest, {
        status: "scheduled",
        type: "internal",
        amount: "1.25",
        currency: "USDC",
        from_wallet_id: payer,
        to_wallet_id: payee,
        memo: "Rent",
        scheduled_at,
        frequency: null,
        cron_expression: null,
        interval: null,
        day_of_month: null,
        day_of_week: null,
        time: null,
        timezone: null,
        start_at: null,
        end_at: null,
        max_occurrences: null,
        retry_enabled: true,
        max_retry_attempts: 3,
        retry_window_days: 14,
        next_execution_at: scheduled_at,
        last_execution_at: null,
        executions_completed: 0,
        executions_remaining: 1,
        last_transfer_id: null,
        failure_reason: null,
        attempts: 0
      })
      assert.deepStrictEqual((yield* call("GET", `${path}/${id}`)).body, answer.body)
    })
  )

  it.effect("a time with an offset is the same moment in UTC", () =>
    Effect.gen(function* () {
      const { create } = yield* pair
      const year = DateTime.toPartsUtc(yield* DateTime.now).year + 2
      const answer = yield* create({ scheduled_at: `${year}-01-31T09:00:00+01:00` })
      assert.strictEqual(answer.body.next_execution_at, `${year}-01-31T08:00:00.000Z`)
    })
  )

  it.effect("a recurring one shows its rule, and when it is due", () =>
    Effect.gen(function* () {
      const { create } = yield* pair
      const year = DateTime.toPartsUtc(yield* DateTime.now).year + 1
      const rule = {
        frequency: "monthly",
        interval: 2,
        day_of_month: 31,
        time: "02:30",
        timezone: "America/New_York",
        start_at: `${year}-02-01T00:00:00.000Z`,
        end_at: `${year + 3}-02-01T00:00:00.000Z`,
        max_occurrences: 4
      }
      const { body, status } = yield* create(rule)
      assert.strictEqual(status, 201)
      assert.deepInclude(body, { ...rule, executions_remaining: 4 })
      // 31 January, 19:00 in New York, is before its own 02:30 of that month is asked for again.
      assert.match(body.next_execution_at, new RegExp(`^${year}-02-2[89]T07:30:00.000Z$`))
    })
  )

  it.effect("its life is told by its record, its executions and the list", () =>
    Effect.gen(function* () {
      const { call, create, entries, id: wallet } = yield* pair
      const { id } = (yield* create({ frequency: "daily", type: "wrap" })).body
      const act = (action: string) =>
        Effect.map(call("POST", `${path}/${id}/${action}`), ({ body, status }) => [
          status,
          status === 200 ? body.status : body.code
        ])
      assert.deepStrictEqual(yield* act("resume"), [409, "STATE_TRANSITION_INVALID"])
      assert.deepStrictEqual(yield* act("pause"), [200, "paused"])
      assert.deepStrictEqual(yield* act("resume"), [200, "scheduled"])
      assert.deepStrictEqual((yield* call("GET", `${path}/${id}/executions`)).body, {
        data: [],
        pagination: { limit: 50, next_cursor: null }
      })
      assert.deepStrictEqual(yield* act("cancel"), [200, "cancelled"])
      assert.deepStrictEqual(yield* act("cancel"), [409, "STATE_TRANSITION_INVALID"])
      const other = (yield* create({ scheduled_at: yield* inAMinute })).body
      const listed = (query: string) =>
        Effect.map(call("GET", `${path}?${query}`), ({ body }) => body.data.map((one: { id: string }) => one.id))
      assert.deepStrictEqual(yield* listed(""), [other.id, id])
      assert.deepStrictEqual(yield* listed("status=cancelled"), [id])
      assert.deepStrictEqual(yield* listed(`from_wallet_id=${wallet}&limit=1&page=2`), [id])
      assert.deepStrictEqual(yield* listed(`account_id=${other.from_account_id}&status=scheduled`), [other.id])
      // The faucet's is the only one.
      assert.strictEqual((yield* entries).length, 1)
    })
  )

  it.effect("a change that is repeated under its key is told again, and not that it cannot be made", () =>
    Effect.gen(function* () {
      const { call, create } = yield* pair
      const { id } = (yield* create({ frequency: "daily" })).body
      for (const action of ["pause", "resume", "cancel"]) {
        const first = yield* call("POST", `${path}/${id}/${action}`, undefined, { "idempotency-key": "k" })
        assert.deepStrictEqual([first.status, first.headers.get("idempotency-replayed")], [200, null], action)
        const again = yield* call("POST", `${path}/${id}/${action}`, { idempotency_key: "k" })
        const replayed = again.headers.get("idempotency-replayed")
        assert.deepStrictEqual([again.status, replayed, again.text], [200, "true", first.text], action)
      }
    })
  )

  it.effect("the transfer of an execution is a transfer like any other", () =>
    Effect.gen(function* () {
      const { call, create, payee } = yield* pair
      const { id } = (yield* create({ scheduled_at: yield* inAMinute })).body
      const sql = yield* SqlClient.SqlClient
      const now = yield* DateTime.nowAsDate
      const soon = now.toISOString()
      // The minute is over.
      yield* sql`UPDATE scheduled_transfers
        SET scheduled_at = ${now}, occurrence_at = ${now}, next_execution_at = ${now}, due_at = ${now}
        WHERE id = ${fromTypeId("sch", id) ?? ""}`
      const { executeDue } = yield* Schedules
      const done = yield* Effect.repeat(Effect.andThen(executeDue, call("GET", `${path}/${id}`)), {
        until: ({ body }) => body.status !== "scheduled"
      })
      assert.strictEqual(done.body.status, "executed")
      assert.isAtLeast(Date.parse(done.body.last_execution_at), Date.parse(soon))
      const [transfer] = (yield* call("GET", `${path}/${id}/executions`)).body.data
      assert.deepStrictEqual((yield* call("GET", `/v1/transfers/${done.body.last_transfer_id}`)).body, transfer)
      assert.deepInclude(transfer, { status: "completed", scheduled_at: soon, initiated_by: { type: "system", id } })
      assert.strictEqual((yield* call("GET", `/v1/wallets/${payee}`)).body.balance_available, "1.25")
    })
  )

  it.effect("what is no time, no rule and no number is refused with its field", () =>
    Effect.gen(function* () {
      const { create } = yield* pair
      const malformed: ReadonlyArray<readonly [string, object]> = [
        ...[
          "2026-02-30T00:00:00Z",
          "2027-12-31T23:59:60Z",
          "2027-01-01T09:00:00",
          "2027-01-01",
          "tomorrow",
          "",
          1893456000,
          null,
          {}
        ].map((scheduled_at) => ["scheduled_at", { scheduled_at }] as const),
        ["scheduled_at", {}],
        ["scheduled_at", { scheduled_at: "2027-01-01T00:00:00Z", frequency: "daily" }],
        ["frequency", { frequency: "hourly" }],
        ["interval", { frequency: "daily", interval: 0 }],
        ["interval", { frequency: "daily", interval: 1.5 }],
        ["day_of_month", { frequency: "monthly", day_of_month: 32 }],
        ["day_of_week", { frequency: "weekly", day_of_week: 7 }],
        ["time", { frequency: "daily", time: "24:00" }],
        ["time", { frequency: "daily", time: "9:00" }],
        ["cron_expression", { frequency: "cron", cron_expression: "every day" }],
        ["cron_expression", { frequency: "cron", cron_expression: "* * * * * *" }],
        ["cron_expression", { frequency: "cron", cron_expression: `${"1,".repeat(99)}1 * * * *` }],
        ["day_of_week", { frequency: "daily", day_of_week: 1 }],
        ["end_at", { frequency: "daily", end_at: "2027-06-31T00:00:00Z" }],
        ["max_occurrences", { frequency: "daily", max_occurrences: 0 }],
        ["retry_window_days", { frequency: "daily", retry_window_days: 61 }],
        ["type", { frequency: "daily", type: "cross_border" }]
      ]
      for (const [field, given] of malformed) {
        const { body, status } = yield* create(given)
        assert.deepStrictEqual([status, body.code], [400, "INVALID_REQUEST"], JSON.stringify(given))
        assert.include(
          body.details.errors.map(({ path }: { path: string }) => path),
          field,
          JSON.stringify(body)
        )
      }
    })
  )

  it.effect("what is well-formed and can never be is 422 with a code of its own", () =>
    Effect.gen(function* () {
      const { create, payee } = yield* pair
      const scheduled_at = yield* inAMinute
      const refused: ReadonlyArray<readonly [string, object]> = [
        ["SCHEDULE_IN_THE_PAST", { scheduled_at: "2020-01-01T00:00:00Z" }],
        ["SCHEDULE_IN_THE_PAST", { scheduled_at: "0000-01-01T00:00:00Z" }],
        ["SCHEDULE_TOO_FAR", { scheduled_at: "2126-01-01T00:00:00Z" }],
        ["SCHEDULE_TOO_FAR", { scheduled_at: "9999-12-31T23:59:59Z" }],
        ["TIME_ZONE_UNKNOWN", { frequency: "daily", timezone: "Mars/Olympus" }],
        ["TIME_ZONE_UNKNOWN", { frequency: "daily", timezone: "+02:00" }],
        ["TIME_ZONE_UNKNOWN", { frequency: "daily", timezone: "\u202eUTC" }],
        ["SCHEDULE_NEVER_RUNS", { frequency: "cron", cron_expression: "0 0 30 2 *" }],
        ["SCHEDULE_NEVER_RUNS", { frequency: "daily", end_at: "2020-01-01T00:00:00Z" }],
        ["SAME_WALLET", { scheduled_at, from_wallet_id: payee }],
        ["CURRENCY_MISMATCH", { scheduled_at, currency: "EURC" }],
        ["INVALID_AMOUNT", { scheduled_at, amount: "1e3" }],
        ["AMOUNT_TOO_SMALL", { scheduled_at, amount: "0" }]
      ]
      for (const [code, given] of refused) {
        const { body, status } = yield* create(given)
        assert.deepStrictEqual([status, body.code], [422, code], JSON.stringify(given))
      }
    })
  )

  it.effect("one key schedules once, and a reader may not schedule", () =>
    Effect.gen(function* () {
      const { body, call, create, tenant } = yield* pair
      const scheduled_at = yield* inAMinute
      const headers = { "idempotency-key": "once" }
      const answers = yield* Effect.all([create({ scheduled_at }, headers), create({ scheduled_at }, headers)], {
        concurrency: 2
      })
      assert.strictEqual(answers[0].text, answers[1].text)
      assert.strictEqual(
        (yield* create({ scheduled_at, idempotency_key: "once" })).headers.get("idempotency-replayed"),
        "true"
      )
      assert.strictEqual((yield* create({ scheduled_at, amount: "2.00" }, headers)).body.code, "IDEMPOTENCY_KEY_REUSED")
      assert.strictEqual((yield* call("GET", path)).body.pagination.total, 1)
      const reader = yield* callerOf(tenant, ["transfers:read"])
      assert.strictEqual((yield* reader("GET", path)).status, 200)
      assert.strictEqual((yield* reader("POST", path, { ...body, scheduled_at })).status, 403)
      assert.strictEqual((yield* reader("POST", `${path}/${answers[0].body.id}/cancel`)).status, 403)
    })
  )

  it.effect("under one key is the same with defaults written out and left out, however its times are written", () =>
    Effect.gen(function* () {
      const { call, create } = yield* pair
      const year = DateTime.toPartsUtc(yield* DateTime.now).year + 1
      const key = { "idempotency-key": "once" }
      const asked = { frequency: "daily", start_at: `${year}-01-01T09:00:00Z` }
      const first = yield* create(asked, key)
      const usual = { type: "internal", memo: null, retry_enabled: true, max_retry_attempts: 3, retry_window_days: 14 }
      const same = [usual, { interval: 1, timezone: "UTC" }, { start_at: `${year}-01-01T11:00:00.000+02:00` }]
      for (const given of same) {
        const again = yield* create({ ...asked, ...given }, key)
        assert.deepStrictEqual([again.status, again.text], [201, first.text], JSON.stringify(given))
      }
      for (const given of [{ type: "wrap" }, { max_retry_attempts: 4 }, { retry_enabled: false }, { interval: 3 }]) {
        const refused = yield* create({ ...asked, ...given }, key)
        assert.deepInclude(refused.body, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" }, JSON.stringify(given))
      }
      assert.strictEqual((yield* call("GET", path)).body.pagination.total, 1)
    })
  )
})
