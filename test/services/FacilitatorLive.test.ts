import { assert, layer } from "@effect/vitest"
import { Clock, Duration, Effect, Layer, Ref, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { privateKeyToAccount } from "viem/accounts"
import { Principal } from "#domain/Principal.ts"
import type { Facilitation } from "#domain/protocol/Facilitation.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { ChainPolicy } from "#services/ChainSettlements/Policy.ts"
import { Deployment } from "#services/Deployment.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { Rail } from "#services/Rail.ts"
import { Wallets } from "#services/Wallets.ts"
import { nonce, now, signTransfer } from "../domain/protocol/Payers.ts"
import { tenant } from "../http/GatewayHarness.ts"

const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

/** A live server at the time that payloads are signed for. */
const live = Layer.mergeAll(
  Postgres.layerTest,
  BusMemory.layer,
  Layer.succeed(Deployment, {
    environment: "live",
    publicUrl: "https://turnpike.test",
    scannerUrl: "https://turnpike.test"
  }),
  Layer.effect(
    Clock.Clock,
    Effect.map(Clock.Clock, (clock): Clock.Clock => {
      const begun = clock.currentTimeMillisUnsafe()
      return Object.assign(Object.create(clock), {
        currentTimeMillisUnsafe: () => now + clock.currentTimeMillisUnsafe() - begun
      })
    })
  ),
  // Less than until a chain is asked again: who waits has gone by then, and a test asks when it wants to.
  Layer.effect(
    ChainPolicy,
    Effect.map(ChainPolicy, (usual) => ({ ...usual, wait: Duration.millis(500) }))
  )
)

/** The simulated chain as if it were the main one. */
const rail = Layer.effect(
  Rail,
  Effect.map(Rail, (simulated) => ({
    ...simulated,
    kinds: Effect.succeed([{ network: "base-mainnet" as const, scheme: "exact" as const, extra: {} }])
  }))
).pipe(Layer.provideMerge(RailSimulated.layer))

const chained = Platform.layer.pipe(
  Layer.provideMerge(ChainSettlements.layer),
  Layer.provideMerge(rail),
  Layer.provideMerge(live)
)

const does = (behaviour: RailSimulated.Behaviour) =>
  Effect.flatMap(RailSimulated.RailControl, (control) => Ref.set(control.behaviour, behaviour))
const moved = Effect.flatMap(RailSimulated.RailControl, (control) => Ref.get(control.moved))

let sellers = 0
/** A seller with a wallet on the main network, and a payment of 0.01 to it, whose nonce may be that of another. */
const saleWith = Effect.fnUntraced(function* (word?: string) {
  const { principal } = yield* tenant
  const caller = new Principal({ ...principal, environment: "live" })
  const to = privateKeyToAccount(`0x${String(++sellers).padStart(64, "0")}`).address
  const wallet = yield* (yield* Wallets).create(caller, { network: "base-mainnet", address: to })
  const payload = yield* Effect.promise(() =>
    signTransfer({ to, nonce: nonce(word ?? `live ${sellers}`) }, { chainId: 8453, asset: usdc, name: "USD Coin" })
  )
  const requirements = {
    scheme: "exact",
    network: "eip155:8453",
    amount: "10000",
    asset: usdc,
    payTo: to,
    maxTimeoutSeconds: 300,
    extra: { name: "USD Coin", version: "2" }
  }
  const payment: Facilitation = {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      accepted: requirements,
      payload: { ...payload, authorization: payload.authorization as never }
    },
    paymentRequirements: requirements
  }
  return { caller, wallet, payment, facilitator: yield* Facilitator }
})
const sale = saleWith()

layer(chained, { timeout: "60 seconds", excludeTestServices: true })("the facilitator of a live server", (it) => {
  it.effect("moves the money on the chain, once however often it is asked", () =>
    Effect.gen(function* () {
      yield* does("settle")
      const { caller, facilitator, payment } = yield* sale
      assert.isTrue((yield* facilitator.verify(payment, caller)).isValid)
      const before = (yield* moved).size
      const settle = facilitator.settle(payment, caller).pipe(
        Effect.repeat({
          until: ({ errorReason }) => errorReason !== "settlement_pending",
          schedule: Schedule.spaced("10 millis")
        })
      )
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => settle),
        { concurrency: 10 }
      )
      const transactions = new Set(answers.map(({ transaction }) => transaction))
      assert.strictEqual(transactions.size, 1)
      assert.strictEqual(answers.filter(({ success }) => success).length, 1, "how many were told")
      assert.include([...(yield* moved).values()], [...transactions][0])
      assert.strictEqual((yield* moved).size, before + 1)
    })
  )

  it.effect("never guesses: while the outcome is not known it says so, with the transaction once there is one", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const { caller, facilitator, payment } = yield* sale
      const waiting = yield* Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ transaction }) => transaction !== ""
      })
      assert.deepStrictEqual([waiting.success, waiting.errorReason], [false, "settlement_pending"])
      assert.match(waiting.transaction, /^0x[0-9a-f]{64}$/)
      yield* does("settle")
      const settled = yield* Effect.repeat(facilitator.settle(payment, caller), { until: ({ success }) => success })
      assert.strictEqual(settled.transaction, waiting.transaction)

      yield* does("silent")
      const unheard = yield* sale
      const { errorReason, success, transaction } = yield* facilitator.settle(unheard.payment, unheard.caller)
      assert.deepStrictEqual([success, errorReason, transaction], [false, "settlement_pending", ""])
    })
  )

  it.effect("passes on what the chain refuses", () =>
    Effect.gen(function* () {
      yield* does("refuse")
      const { caller, facilitator, payment } = yield* sale
      assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "insufficient_funds")
      const refused = yield* Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ errorReason }) => errorReason !== "settlement_pending"
      })
      assert.deepStrictEqual([refused.success, refused.errorReason], [false, "insufficient_funds"])
      yield* does("unavailable")
      assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "unexpected_verify_error")
    })
  )

  it.effect("takes a payment that it refused when it would go through by now, once", () =>
    Effect.gen(function* () {
      yield* does("refuse")
      const { caller, facilitator, payment, wallet } = yield* sale
      const settle = Effect.repeat(facilitator.settle(payment, caller), {
        until: ({ errorReason }) => errorReason !== "settlement_pending"
      })
      assert.strictEqual((yield* settle).errorReason, "insufficient_funds")
      assert.strictEqual((yield* settle).errorReason, "insufficient_funds")
      yield* does("settle")
      assert.isTrue((yield* facilitator.verify(payment, caller)).isValid)
      const answers = yield* Effect.all(
        Array.from({ length: 10 }, () => settle),
        { concurrency: 10 }
      )
      assert.strictEqual(answers.filter(({ success }) => success).length, 1, "how many were told")
      assert.strictEqual(new Set(answers.map(({ transaction }) => transaction)).size, 1)
      yield* does("refuse")
      const again = yield* settle
      assert.deepStrictEqual(
        [again.errorReason, again.transaction],
        ["invalid_exact_evm_nonce_already_used", answers[0]?.transaction],
        "what was settled stays settled"
      )
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT c.id, c.state FROM chain_settlements c
        JOIN wallets w ON w.address = c."authorization" ->> 'payTo' WHERE w.id = ${wallet.id} ORDER BY c.state`
      const states = rows.map(({ state }) => state)
      assert.deepStrictEqual(states, ["confirmed", "refused"], "what cannot go through yet is not tried again")
      const there = yield* moved
      assert.deepStrictEqual(
        rows.map(({ id }) => there.has(String(id))),
        [true, false]
      )
    })
  )

  it.effect("takes one word to the chain twenty times, however often it is refused there", () =>
    Effect.gen(function* () {
      const { caller, facilitator, payment } = yield* sale
      let asked = 0
      yield* does(() => Effect.sync(() => ({ _tag: "Refused", reason: `refused ${++asked}` }) as const))
      const settle = facilitator.settle(payment, caller)
      for (let time = 1; time <= 22; time++) {
        assert.strictEqual((yield* settle).errorReason, `refused ${Math.min(time, 20)}`)
      }
      assert.strictEqual(asked, 20)
    })
  )

  it.effect("lets a payment be served whose money came later than its seller waited, once", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const { caller, facilitator, payment, wallet } = yield* sale
      assert.strictEqual((yield* facilitator.settle(payment, caller)).errorReason, "settlement_pending")
      yield* does("refuse")
      assert.isFalse((yield* facilitator.verify(payment, caller)).isValid, "nobody knows yet")
      yield* does("settle")
      const { reconcileDue } = yield* ChainSettlements
      const sql = yield* SqlClient.SqlClient
      const confirmed = sql`SELECT 1 FROM chain_settlements c JOIN wallets w ON w.address = c."authorization" ->> 'payTo'
        WHERE w.id = ${wallet.id} AND c.state = 'confirmed'`
      yield* Effect.repeat(Effect.andThen(reconcileDue, confirmed), {
        until: (rows) => rows.length > 0,
        schedule: Schedule.spaced("10 millis")
      })
      yield* does("refuse")
      assert.isTrue((yield* facilitator.verify(payment, caller)).isValid, "the chain has it, and nobody was told")
      assert.isFalse((yield* facilitator.verify(payment, undefined)).isValid)
      assert.isTrue((yield* facilitator.settle(payment, caller)).success)
      assert.isFalse((yield* facilitator.verify(payment, caller)).isValid)
      assert.isFalse((yield* facilitator.settle(payment, caller)).success)
    })
  )

  it.effect("never takes money that went to another for its own: a nonce signed twice pays one of the receivers", () =>
    Effect.gen(function* () {
      yield* does("pending")
      const [paid, deceived] = [yield* saleWith("twice"), yield* saleWith("twice")]
      const told = ({ caller, facilitator, payment }: typeof paid) =>
        Effect.map(facilitator.settle(payment, caller), ({ errorReason, success }) => [success, errorReason])
      const used = [false, "invalid_exact_evm_nonce_already_used"]
      assert.deepStrictEqual(yield* told(paid), [false, "settlement_pending"])
      assert.isTrue(
        (yield* deceived.facilitator.verify(deceived.payment, deceived.caller)).isValid,
        "the chain has no word"
      )
      assert.deepStrictEqual(yield* told(deceived), used)
      yield* does("settle")
      const { reconcileDue } = yield* ChainSettlements
      yield* Effect.repeat(Effect.andThen(reconcileDue, told(deceived)), { times: 3 })
      yield* does("refuse")
      assert.isFalse((yield* deceived.facilitator.verify(deceived.payment, deceived.caller)).isValid)
      assert.deepStrictEqual(yield* told(deceived), used)
      yield* does("settle")
      yield* Effect.repeat(told(paid), {
        until: ([success]) => success === true,
        schedule: Schedule.spaced("10 millis")
      })
      assert.deepStrictEqual(yield* told(deceived), used)
    })
  )

  it.effect("settles to wallets of the caller's tenant only", () =>
    Effect.gen(function* () {
      yield* does("settle")
      const { facilitator, payment } = yield* sale
      const other = yield* sale
      const before = (yield* moved).size
      for (const caller of [other.caller, undefined]) {
        const { errorReason, success } = yield* facilitator.settle(payment, caller)
        assert.deepStrictEqual([success, errorReason], [false, "invalid_payment_requirements"])
        assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "invalid_payment_requirements")
      }
      assert.strictEqual((yield* moved).size, before)
    })
  )

  it.effect("supports what its rail settles", () =>
    Effect.gen(function* () {
      const { kinds } = yield* (yield* Facilitator).supported
      assert.deepStrictEqual(kinds, [
        { x402Version: 2, scheme: "exact", network: "eip155:8453" },
        { x402Version: 1, scheme: "exact", network: "base" }
      ])
    })
  )
})

layer(Platform.layer.pipe(Layer.provideMerge(live)), { timeout: "60 seconds", excludeTestServices: true })(
  "the facilitator of a live server without a rail",
  (it) => {
    it.effect("supports nothing, and takes nothing", () =>
      Effect.gen(function* () {
        const { caller, facilitator, payment } = yield* sale
        assert.deepStrictEqual((yield* facilitator.supported).kinds, [])
        assert.strictEqual((yield* facilitator.verify(payment, caller)).invalidReason, "unsupported_scheme")
        assert.strictEqual((yield* facilitator.settle(payment, caller)).errorReason, "unsupported_scheme")
      })
    )
  }
)
