import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Platform from "#layers/Platform.ts"
import * as Test from "#layers/Test.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Payments } from "#services/Payments.ts"
import { ScanBatches } from "#services/ScanBatches.ts"
import { Settlements } from "#services/Settlements.ts"
import * as Chain from "./ChainSettlementsHarness.ts"
import { funds, market } from "./PaymentsHarness.ts"
import { batchOf, created, orderOf, platform } from "./ScanBatchesHarness.ts"
import { tenantWith } from "./ScannerCreditsHarness.ts"
import * as Cross from "./SettlementsHarness.ts"
import * as Signed from "./SignedPaymentsHarness.ts"

/** A network of a later version. */
const unknown = "arbitrum-sepolia"

const unreadable = Effect.fnUntraced(function* (...payments: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE payments SET network = ${unknown} WHERE id = ANY(${payments}::uuid[])`
})

/** How many rows there are of this one: many more of them than are taken at a time. */
const multiply = Effect.fnUntraced(function* (payment: string, copies: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid(),
      'reservation', CASE WHEN p.reservation IS NOT NULL THEN gen_random_uuid() END))).*
    FROM payments p, generate_series(1, ${copies}) WHERE p.id = ${payment}`
})

const statesOf = Effect.fnUntraced(function* (...payments: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT state FROM payments WHERE id = ANY(${payments}::uuid[]) ORDER BY id`
  return rows.map(({ state }) => state)
})

layer(Test.layer, { timeout: "60 seconds" })("a payment that cannot be read", (it) => {
  it.effect("fails the call that brings it, and none of those that come with it", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      const context = yield* Effect.provide(Layer.build(Layer.fresh(Platform.layer)), Logger.layer([logger]))
      const { claim } = Context.get(context, Payments)
      const { call, reserve } = yield* market()
      const paid = yield* Effect.all(
        Array.from({ length: 31 }, () => reserve),
        { concurrency: 31 }
      )
      const [bad, ...good] = paid
      yield* unreadable(bad?.id ?? "")
      const grants = yield* Effect.all(
        [...good.slice(0, 15), ...paid.slice(0, 1), ...good.slice(15)].map(({ proof }) =>
          Effect.exit(claim(call(proof)))
        ),
        { concurrency: 31 }
      )
      const granted = grants.map((exit) => Exit.isSuccess(exit) && exit.value._tag === "Granted")
      assert.deepStrictEqual(
        granted,
        grants.map((_, index) => index !== 15)
      )
      assert.match(lines.join("\n"), new RegExp(`ALERT: a payment could not be read.*${bad?.id}`))
    })
  )

  it.effect("keeps no call that died from being ended, and no payment that nobody used", () =>
    Effect.gen(function* () {
      const { granted, money, payments, purse, reserve } = yield* market({ timeoutMs: 5000 })
      const [badUnused, unused] = [yield* reserve, yield* reserve]
      yield* TestClock.adjust("45 seconds")
      const [bad, good] = [yield* granted((yield* reserve).proof), yield* granted((yield* reserve).proof)]
      yield* unreadable(badUnused.id, bad.id)
      yield* TestClock.adjust("16 seconds")
      yield* payments.resolveDue
      const states = yield* statesOf(badUnused.id, unused.id, bad.id, good.id)
      assert.deepStrictEqual(states, ["expired", "expired", "in_flight", "released"])
      // Nobody but the ledger knows any more what the two hold: it gives that back itself.
      assert.deepStrictEqual(yield* money(purse), { held: 20_000n, posted: funds })
    })
  )

  it.effect("is put off, however many there are: the others have their turn", () =>
    Effect.gen(function* () {
      const { granted, payments, reserve } = yield* market({ timeoutMs: 5000 })
      const bad = yield* granted((yield* reserve).proof)
      yield* unreadable(bad.id)
      yield* multiply(bad.id, 450)
      yield* TestClock.adjust("1 second")
      const good = yield* granted((yield* reserve).proof)
      yield* TestClock.adjust("20 seconds")
      for (let turn = 0; turn < 3; turn++) yield* payments.resolveDue
      assert.deepStrictEqual(yield* statesOf(good.id), ["released"])
    })
  )
})

layer(Test.layer, { timeout: "60 seconds" })("a payment that cannot be ended", (it) => {
  it.effect("keeps no payment that nobody used from being ended, although it cannot be put off either", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { granted, payments, reserve } = yield* market({ timeoutMs: 5000 })
      const [bad, unused] = [yield* granted((yield* reserve).proof), yield* reserve]
      yield* unreadable(bad.id)
      yield* TestClock.adjust("61 seconds")
      yield* sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''simulated''; END'`
      yield* sql`CREATE TRIGGER refuse BEFORE UPDATE OF lease_until ON payments EXECUTE FUNCTION refuse()`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(payments.resolveDue)))
      yield* sql`DROP TRIGGER refuse ON payments`
      assert.deepStrictEqual(yield* statesOf(bad.id, unused.id), ["in_flight", "expired"])
    })
  )

  it.effect("keeps no other call that died from being ended", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { granted, payments, reserve } = yield* market({ timeoutMs: 5000 })
      const taken = Effect.flatMap(reserve, ({ proof }) => granted(proof))
      const stuck = yield* taken
      const good = yield* Effect.forEach(Array.from({ length: 20 }), () => taken)
      yield* sql`UPDATE payments SET hold_id = NULL WHERE id = ${stuck.id}`
      yield* sql`CREATE FUNCTION refuse_free() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN IF NEW.hold_id IS NULL THEN RAISE EXCEPTION ''simulated''; END IF; RETURN NEW; END'`
      yield* sql`CREATE TRIGGER refuse_free BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION refuse_free()`
      yield* TestClock.adjust("16 seconds")
      yield* payments.resolveDue
      yield* sql`DROP TRIGGER refuse_free ON payments`
      assert.deepStrictEqual(yield* statesOf(stuck.id), ["in_flight"])
      const ends = yield* statesOf(...good.map(({ id }) => id))
      assert.deepStrictEqual(new Set(ends), new Set(["released"]))
    })
  )
})

layer(Signed.live({}), { timeout: "60 seconds" })("a payment on a chain that cannot be read", (it) => {
  it.effect("keeps none from being given back whose process died before it asked for the money", () =>
    Effect.gen(function* () {
      yield* Chain.chain.does("settle")
      const sql = yield* SqlClient.SqlClient
      const { granted, payments, signs } = yield* Signed.market("live")
      const bad = yield* granted(signs())
      yield* TestClock.adjust("1 second")
      const good = yield* granted(signs())
      yield* sql`UPDATE payments SET state = 'settling' WHERE id = ANY(${[bad.id, good.id]}::uuid[])`
      yield* unreadable(bad.id)
      yield* multiply(bad.id, 450)
      yield* TestClock.adjust("10 minutes")
      for (let turn = 0; turn < 3; turn++) yield* payments.resolveDue
      assert.deepStrictEqual(yield* statesOf(bad.id, good.id), ["settling", "released"])
      assert.strictEqual(yield* Signed.failures(good), 1)
      yield* sql`UPDATE payments SET network = ${good.network} WHERE id = ${bad.id}`
      yield* TestClock.adjust("10 minutes")
      yield* payments.resolveDue
      assert.deepStrictEqual(yield* statesOf(bad.id), ["released"])
      assert.strictEqual(yield* Signed.failures(good), 2)
    })
  )
})

layer(Cross.testLayer(), { timeout: "60 seconds" })("a settlement that cannot be read", (it) => {
  it.effect("is left out, and the others are settled; it goes on when it can be read again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { settleDue } = yield* Settlements
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
      yield* Cross.rail.does("complete")
      const [poor, fine] = [yield* Cross.pair(), yield* Cross.pair()]
      const [bad, good] = [yield* Cross.begun(poor), yield* Cross.begun(fine)]
      yield* sql`UPDATE wallets SET network = ${unknown} WHERE id = ${poor.from}`
      assert.strictEqual(yield* Effect.provide(settleDue, Logger.layer([logger])), 1)
      assert.match(lines.join("\n"), new RegExp(`ALERT: a settlement could not be read.*${bad.id}`))
      assert.strictEqual((yield* Cross.transferOf(fine.caller, good.id)).status, "completed")
      yield* sql`UPDATE wallets SET network = 'solana-devnet' WHERE id = ${poor.from}`
      assert.strictEqual(yield* settleDue, 0)
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual(yield* settleDue, 1)
      assert.strictEqual((yield* Cross.transferOf(poor.caller, bad.id)).status, "completed")
      assert.deepStrictEqual(yield* Cross.broken, [])
    })
  )
})

layer(Chain.testLayer(Chain.unattended), { timeout: "60 seconds" })("a settlement on a chain", (it) => {
  const spoil = Effect.fnUntraced(function* (id: string) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE chain_settlements SET "authorization" = '{}' WHERE id = ${id}`
  })

  it.effect("that cannot be read keeps no other from being asked about, however many there are", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const settlements = yield* ChainSettlements
      yield* Chain.chain.does("settle")
      const [bad, good] = [Chain.order(), Chain.order()]
      yield* settlements.settle(bad)
      yield* spoil(bad.id)
      yield* sql`INSERT INTO chain_settlements SELECT (jsonb_populate_record(c, jsonb_build_object(
          'id', gen_random_uuid(), 'nonce', gen_random_uuid()::text))).*
        FROM chain_settlements c, generate_series(1, 120) WHERE c.id = ${bad.id}`
      yield* TestClock.adjust("1 second")
      yield* settlements.settle(good)
      for (let turn = 0; turn < 3; turn++) yield* settlements.reconcileDue
      assert.strictEqual((yield* settlements.get(good.id)).pipe(Option.getOrThrow).state, "confirmed")
    })
  )

  it.effect("that cannot be read keeps no outcome from being booked", () =>
    Effect.gen(function* () {
      const settlements = yield* ChainSettlements
      yield* Chain.chain.does("settle")
      const [bad, good] = [Chain.order(), Chain.order()]
      for (const order of [bad, good]) yield* settlements.settle(order)
      yield* settlements.reconcileDue
      yield* spoil(bad.id)
      yield* TestClock.adjust("1 minute")
      const booked: Array<string> = []
      yield* settlements.deliverDue(({ id }) => Effect.sync(() => booked.push(id)))
      assert.deepStrictEqual([booked.includes(good.id), booked.includes(bad.id)], [true, false])
    })
  )
})

layer(platform, { timeout: "60 seconds" })("a target that cannot be read", (it) => {
  it.effect("keeps no other of any batch from being scanned", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { scanDue } = yield* ScanBatches
      const tenant_id = yield* tenantWith(10)
      const { record } = yield* created(tenant_id, [orderOf("bad.com"), orderOf("good.com")])
      yield* sql`UPDATE scan_batch_targets SET merchant_category = 'unheard_of' WHERE domain = 'bad.com'`
      assert.strictEqual(yield* scanDue, 1)
      const { completed, targets } = yield* batchOf(tenant_id, record.id)
      assert.deepStrictEqual([completed, targets.map(({ status }) => status)], [1, ["scanning", "completed"]])
    })
  )
})
