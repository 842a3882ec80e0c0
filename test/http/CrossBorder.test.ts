import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { newUuid } from "#services/NewId.ts"
import { fromTypeId, toTypeId } from "#domain/Ids.ts"
import { options } from "./WalletsServer.ts"

import { eventsOf, payer, server } from "./CrossBorderServer.ts"
layer(server, options)("a cross_border transfer over HTTP", (it) => {
  it.effect("answers 201 pending, is processing, and is completed while the integrator polls", () =>
    Effect.gen(function* () {
      const { balances, create, ended, from, get, order, quote, to } = yield* payer()
      const sql = yield* SqlClient.SqlClient
      // Whoever polls may miss a status that lasts for a moment only.
      yield* sql`CREATE TABLE lives (place serial, id uuid, status text)`
      yield* sql`CREATE FUNCTION live() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO lives (id, status) VALUES (NEW.id, NEW.status);
        RETURN NEW; END $$`
      yield* sql`CREATE TRIGGER live AFTER INSERT OR UPDATE ON transfers FOR EACH ROW EXECUTE FUNCTION live()`
      const offer = yield* quote()
      const { body, status, text } = yield* create(order(offer.id, { memo: "Invoice 42" }))
      assert.strictEqual(status, 201, text)
      assert.deepInclude(body, {
        type: "cross_border",
        status: "pending",
        amount: "100.00",
        currency: "USDC",
        destination_amount: offer.receive_amount,
        destination_currency: "EURC",
        fee: offer.fee,
        quote_id: offer.id,
        protocol: "fx",
        memo: "Invoice 42",
        completed_at: null
      })
      const seen = new Set<string>()
      yield* Effect.repeat(get(body.id), {
        until: ({ status }) => {
          seen.add(status)
          return status === "completed"
        },
        schedule: Schedule.spaced("10 millis")
      })
      const lived = yield* sql`SELECT status FROM lives WHERE id = ${fromTypeId("tx", body.id) ?? ""} ORDER BY place`
      const statuses = lived.map(({ status }) => String(status))
      assert.deepStrictEqual(statuses, ["pending", "processing", "completed"])
      assert.deepStrictEqual(
        [...seen],
        statuses.filter((status) => seen.has(status))
      )
      const done = yield* ended(body.id)
      assert.isAtLeast(Date.parse(done.completed_at) - Date.parse(done.created_at), 400)
      assert.deepStrictEqual(yield* balances(from), ["900.00", "0.00"])
      assert.deepStrictEqual(yield* balances(to), [offer.receive_amount, "0.00"])
      assert.deepStrictEqual(yield* eventsOf(body.id), ["transfer.created", "transfer.completed"])
    })
  )

  for (const [index, reason] of [
    "insufficient_funds",
    "rail_error",
    "compliance_block",
    "rejected_by_recipient"
  ].entries()) {
    it.effect(`the rail rejects ends failed with ${reason}, by memo and by amount; the money is free again`, () =>
      Effect.gen(function* () {
        const { balances, create, ended, from, order, quote } = yield* payer()
        for (const { memo, amount } of [
          { memo: `simulate:${reason}`, amount: "100.00" },
          { memo: null, amount: `7.00000${index + 1}` }
        ]) {
          const { id } = yield* quote({ amount })
          const { body } = yield* create(order(id, { memo }))
          assert.strictEqual(body.status, "pending")
          assert.deepInclude(yield* ended(body.id), { status: "failed", failure_reason: reason, completed_at: null })
          assert.deepStrictEqual(yield* balances(from), ["1000.00", "0.00"])
          assert.deepStrictEqual(yield* eventsOf(body.id), ["transfer.created", "transfer.failed"])
        }
      })
    )
  }

  it.effect("of a payer with too little answers 201 failed with insufficient_funds, and its quote is used", () =>
    Effect.gen(function* () {
      const { create, order, quote } = yield* payer("99.99")
      const { id } = yield* quote()
      const { body, status } = yield* create(order(id))
      assert.deepInclude(
        { answered: status, ...body },
        {
          answered: 201,
          status: "failed",
          failure_reason: "insufficient_funds"
        }
      )
      assert.deepInclude((yield* create(order(id))).body, { status: 422, code: "QUOTE_ALREADY_USED" })
      assert.deepStrictEqual(yield* eventsOf(body.id), ["transfer.created", "transfer.failed"])
    })
  )

  it.effect("that loses its first answers is completed all the same", () =>
    Effect.gen(function* () {
      const { create, ended, order, quote } = yield* payer()
      const { body } = yield* create(order((yield* quote()).id, { memo: "simulate:unknown" }))
      assert.strictEqual((yield* ended(body.id)).status, "completed")
      assert.deepStrictEqual(yield* eventsOf(body.id), ["transfer.created", "transfer.completed"])
    })
  )

  it.effect("is cancelled while it is pending, once; after that and after settlement 409", () =>
    Effect.gen(function* () {
      const { balances, cancel, create, ended, from, order, quote } = yield* payer()
      const { body } = yield* create(order((yield* quote()).id, { memo: "simulate:stay_pending" }))
      assert.deepStrictEqual(yield* balances(from), ["900.00", "100.00"])
      const cancelled = yield* cancel(body.id)
      assert.strictEqual(cancelled.status, 200)
      assert.deepStrictEqual({ ...cancelled.body, updated_at: "" }, { ...body, status: "cancelled", updated_at: "" })
      assert.deepStrictEqual(yield* balances(from), ["1000.00", "0.00"])
      assert.deepStrictEqual(yield* eventsOf(body.id), ["transfer.created", "transfer.cancelled"])
      assert.deepInclude((yield* cancel(body.id)).body, {
        status: 409,
        code: "STATE_TRANSITION_INVALID",
        details: { resource: "transfer", from: "cancelled", to: "cancelled" }
      })
      const other = yield* create(order((yield* quote()).id))
      yield* ended(other.body.id)
      assert.deepInclude((yield* cancel(other.body.id)).body, { status: 409, code: "STATE_TRANSITION_INVALID" })
    })
  )

  it.effect("is told again under the key of its cancellation that it was cancelled, and not that it cannot be", () =>
    Effect.gen(function* () {
      const { call, cancel, create, order, quote } = yield* payer()
      const { body } = yield* create(order((yield* quote()).id, { memo: "simulate:stay_pending" }))
      const first = yield* cancel(body.id, { "idempotency-key": "k" })
      assert.deepStrictEqual([first.status, first.headers.get("idempotency-replayed")], [200, null])
      const again = yield* call("POST", `/v1/transfers/${body.id}/cancel`, { idempotency_key: "k" })
      assert.deepStrictEqual(
        [again.status, again.headers.get("idempotency-replayed"), again.text],
        [200, "true", first.text]
      )
      assert.deepStrictEqual(yield* eventsOf(body.id), ["transfer.created", "transfer.cancelled"])
    })
  )

  it.effect("of another tenant is as unknown to cancel and to read as one of nobody's", () =>
    Effect.gen(function* () {
      const owner = yield* payer()
      const stranger = yield* payer()
      const { body } = yield* owner.create(owner.order((yield* owner.quote()).id, { memo: "simulate:stay_pending" }))
      for (const id of [body.id, toTypeId("tx", newUuid())]) {
        assert.deepInclude((yield* stranger.cancel(id)).body, { status: 404, code: "NOT_FOUND" })
        assert.deepInclude(yield* stranger.get(id), { status: 404, code: "NOT_FOUND" })
      }
      assert.strictEqual((yield* owner.get(body.id)).status, "pending")
    })
  )

  it.effect(
    "repeated under its key answers the first result, also when the quote is used and the money has moved",
    () =>
      Effect.gen(function* () {
        const { create, ended, order, quote } = yield* payer()
        const { id } = yield* quote()
        const body = order(id, { idempotency_key: "invoice-42" })
        const first = yield* create(body)
        yield* ended(first.body.id)
        const again = yield* create(order(id), { "idempotency-key": "invoice-42" })
        assert.deepStrictEqual([again.status, again.headers.get("idempotency-replayed")], [201, "true"])
        assert.deepStrictEqual(again.body, first.body)
        assert.isNull(first.headers.get("idempotency-replayed"))
        assert.deepInclude((yield* create({ ...body, memo: "other" })).body, { code: "IDEMPOTENCY_KEY_REUSED" })
      })
  )
})
