import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
// By the names under which others import it.
import { rateUnit } from "turnpike/domain/Rate.ts"
import { orderOf } from "turnpike/domain/ScheduleOrder.ts"
import * as Test from "turnpike/layers/Test.ts"
import { Bootstrap } from "turnpike/services/Bootstrap.ts"
import { Credentials } from "turnpike/services/Credentials.ts"
import { CrossBorder } from "turnpike/services/CrossBorder.ts"
import { Quotes } from "turnpike/services/Quotes.ts"
import { RateSource } from "turnpike/services/RateSource.ts"
import { Schedules } from "turnpike/services/Schedules.ts"
import { Settlements } from "turnpike/services/Settlements.ts"
import { TransferRail } from "turnpike/services/TransferRail.ts"
import { Transfers } from "turnpike/services/Transfers.ts"
import { Wallets } from "turnpike/services/Wallets.ts"

const rejected = { _tag: "Rejected", reason: "compliance_block" } as const
const strict = Layer.succeed(TransferRail, {
  submit: () => Effect.succeed(rejected),
  status: () => Effect.succeed(rejected)
})
const twice = Layer.succeed(RateSource, { mid: () => Effect.succeed(2n * rateUnit) })

/** The first key's holder, with 10 USDC. */
const payer = Effect.gen(function* () {
  const bootstrap = yield* Bootstrap
  const { issued, tenant_id } = yield* bootstrap.ensure
  const { api_key } = issued ?? (yield* bootstrap.issueKeys(tenant_id))
  const caller = yield* (yield* Credentials).authenticate(api_key)
  const wallets = yield* Wallets
  const wallet = (currency: "USDC" | "EURC") => wallets.create(caller, { currency, network: "base-sepolia" })
  const from = yield* wallet("USDC")
  yield* wallets.fund(caller, from.id, { amount: 10_000_000n, currency: "USDC" })
  const received = (id: typeof from.id) =>
    Effect.map(wallets.get(caller, id), ({ balance_available }) => balance_available)
  return { caller, from, wallet, received }
})

layer(Test.layer.pipe(Layer.provide(Layer.merge(strict, twice))), { timeout: "60 seconds" })(
  "a platform over ports of a test's own",
  (it) => {
    it.effect("quotes at their rates and settles over their rail", () =>
      Effect.gen(function* () {
        const { caller, from, received, wallet } = yield* payer
        const to = yield* wallet("EURC")
        const pair = { from_currency: "USDC", to_currency: "EURC", amount: 1_000_000n } as const
        const quote = yield* (yield* Quotes).create(caller, pair)
        assert.strictEqual(quote.mid_rate, "2.00000000")
        const order = { from_wallet_id: from.id, to_wallet_id: to.id, quote_id: quote.id }
        const { transfer } = yield* (yield* CrossBorder).create(caller, { type: "cross_border", ...order })
        yield* (yield* Settlements).settleDue
        const { failure_reason, status } = yield* (yield* Transfers).get(caller, transfer.id)
        assert.deepStrictEqual([status, failure_reason], ["failed", "compliance_block"])
        assert.strictEqual(yield* received(from.id), 10_000_000n)
      })
    )
  }
)

layer(Test.layer, { timeout: "60 seconds" })("a platform as it comes", (it) => {
  it.effect("pays each day of virtual time", () =>
    Effect.gen(function* () {
      const { caller, from, received, wallet } = yield* payer
      const to = yield* wallet("USDC")
      const { create, executeDue, get } = yield* Schedules
      const start_at = DateTime.toDate(DateTime.add(yield* DateTime.now, { hours: 1 }))
      const wallets = { from_wallet_id: from.id, to_wallet_id: to.id }
      const order = orderOf({ ...wallets, amount: 1_000_000n, currency: "USDC", frequency: "daily", start_at })
      const { schedule } = yield* create(caller, Result.getOrThrow(order))
      yield* TestClock.adjust("1 hour")
      for (let day = 1; day <= 3; day++) {
        yield* executeDue
        yield* TestClock.adjust("1 day")
      }
      assert.strictEqual(yield* received(to.id), 3_000_000n)
      assert.strictEqual((yield* get(caller, schedule.id)).status, "scheduled")
    })
  )
})
