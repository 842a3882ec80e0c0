import { assert, layer } from "@effect/vitest"
import { Effect, type Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { orderOf } from "#domain/ScheduleOrder.ts"
import * as Test from "#layers/Test.ts"
import { Disputes } from "#services/Disputes.ts"
import { Doctor } from "#services/Doctor.ts"
import { Refunds } from "#services/Refunds.ts"
import { Schedules } from "#services/Schedules.ts"
import { Settlements } from "#services/Settlements.ts"
import { Transfers } from "#services/Transfers.ts"
import { Users } from "#services/Users.ts"
import { Wallets } from "#services/Wallets.ts"
import { open } from "./MoneyStreamsHarness.ts"
import { answered, market } from "./PaymentsHarness.ts"
import { ahead } from "./SchedulesHarness.ts"
import { begun, pair } from "./SettlementsHarness.ts"

/** What a restoration that went wrong may leave behind, and the promise that it breaks. */
export type Damage = readonly [promise: string, statement: string]

const examined = Effect.gen(function* () {
  const { examine } = yield* Doctor
  return (yield* examine).filter(({ broken }) => broken.length > 0).map(({ promise }) => promise)
})

/** Somebody who does some of everything there is to do with money. */
const trade = Effect.gen(function* () {
  const { buyer: caller, payments, purse: payer, granted, reserve } = yield* market()
  const wallets = yield* Wallets
  yield* payments.capture(yield* granted((yield* reserve).proof), answered(200))
  yield* reserve
  const payee = (yield* wallets.create(caller, {})).id
  yield* wallets.fund(caller, payer, { amount: 500_000_000n, currency: "USDC" })
  const transfers = yield* Transfers
  const between = { from_wallet_id: payer, to_wallet_id: payee, currency: "USDC" } as const
  const pay = (amount: bigint) =>
    Effect.map(transfers.create(caller, { type: "internal", amount, ...between }), ({ transfer }) => transfer.id)
  yield* pay(9_999_000_000n)
  const other = { reason: "other", reason_details: null } as const
  yield* (yield* Refunds).create(caller, { transfer_id: yield* pay(20_000_000n), amount: undefined, ...other })
  const disputes = yield* Disputes
  const { dispute } = yield* disputes.open(caller, {
    transfer_id: yield* pay(20_000_000n),
    amount_disputed: undefined,
    requested_resolution: "full_refund",
    reason: "other",
    description: "not as described",
    evidence: []
  })
  yield* disputes.respond(caller, dispute.id, { response: "as described", counter_evidence: [] })
  yield* open({ caller, payer, payee }, { initial_deposit: 1_000_000n })
  const scheduled_at = yield* ahead({ hours: 1 })
  const later = Result.getOrThrow(orderOf({ ...between, amount: 1n, scheduled_at }))
  yield* (yield* Schedules).create(caller, later)
  const abroad = yield* pair()
  yield* begun(abroad)
  // The rail is asked, and asked again when the simulated settlement is over.
  for (let turn = 0; turn < 3; turn++) {
    yield* (yield* Settlements).settleDue
    yield* TestClock.adjust("10 seconds")
  }
  yield* begun(abroad)
  // Operators may make a tenant's users in any order, and with no owner among them: such a tenant goes by its keys.
  const user = {
    email: "viewer@parties.example",
    role: "viewer",
    password: "correct horse battery staple"
  } as const
  yield* (yield* Users).create("operator", caller.tenant_id, user)
})

/** States that the doctor finds nothing wrong with what everybody did, and after each damage the promise that it breaks. */
export const sees = <E>(
  damages: ReadonlyArray<Damage>,
  more: Effect.Effect<unknown, E, Layer.Success<typeof Test.layer>> = Effect.void
) =>
  layer(Test.layer, { timeout: "120 seconds" })("the doctor of a whole platform", (it) => {
    it.effect("finds nothing wrong with what everybody did", () =>
      Effect.gen(function* () {
        yield* trade
        yield* more
        assert.deepStrictEqual(yield* examined, [])
      })
    )

    for (const [place, [promise, statement]] of damages.entries()) {
      it.effect(`sees when this is broken: ${promise} (${place})`, () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const damaged = Effect.gen(function* () {
            // Neither the rules of the tables nor what is between them holds where only some of a backup came back.
            yield* sql`SET LOCAL session_replication_role = replica`
            yield* Effect.forEach(statement.split(/;\s+/), (one) => sql.unsafe(one))
            assert.include(yield* examined, promise)
            return yield* Effect.fail("undone" as const)
          })
          assert.strictEqual(yield* Effect.flip(sql.withTransaction(damaged)), "undone")
        })
      )
    }
  })
