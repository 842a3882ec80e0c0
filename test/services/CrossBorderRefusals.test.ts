import { assert, layer } from "@effect/vitest"
import { Context, type Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { QuoteId, TransferId } from "#domain/Ids.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RateTable from "#layers/RateTable.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Quotes } from "#services/Quotes.ts"
import { Settlements } from "#services/Settlements.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { heldUp } from "./LedgerHarness.ts"
import { whileHeadIsHeld } from "./LockHarness.ts"
import { balance, orderFor, pair, quoted, testLayer } from "./SettlementsHarness.ts"
import { tenant, walletOf } from "./WalletsHarness.ts"

const count = Effect.fnUntraced(function* (tenant_id: string) {
  const rows =
    yield* (yield* SqlClient.SqlClient)`SELECT count(*)::int AS n FROM transfers WHERE tenant_id = ${tenant_id}`
  return rows[0]?.n
})

layer(testLayer(), { timeout: "60 seconds" })("a cross-border transfer is refused, and nothing is stored,", (it) => {
  const refused = (
    name: string,
    tag: string,
    change: (
      parties: Effect.Success<ReturnType<typeof pair>>
    ) => Effect.Effect<
      Parameters<typeof orderFor>[1],
      { readonly _tag: string },
      SqlClient.SqlClient | Wallets | Quotes | Ledger
    >,
    details: object = {}
  ) =>
    it.effect(`${name}: ${tag}`, () =>
      Effect.gen(function* () {
        const parties = yield* pair()
        const { order } = yield* orderFor(parties, yield* change(parties))
        const refusal = yield* Effect.flip((yield* CrossBorder).create(parties.caller, order))
        const told: Record<string, unknown> = { ...refusal }
        assert.deepInclude(told, { _tag: tag, ...details })
        assert.strictEqual(yield* count(parties.caller.tenant_id), 0)
        assert.strictEqual((yield* balance(parties.from)).held, 0n)
      })
    )

  refused("of an unknown quote", "NOT_FOUND", () => Effect.succeed({ quote_id: QuoteId.make(newUuid()) }), {
    resource: "quote"
  })
  refused("of another tenant's quote", "NOT_FOUND", () =>
    Effect.map(Effect.flatMap(pair(), quoted), ({ id }) => ({ quote_id: id }))
  )
  refused("of another tenant's wallet", "NOT_FOUND", () => Effect.map(pair(), ({ to }) => ({ to_wallet_id: to })), {
    resource: "wallet"
  })
  refused("out of another tenant's wallet", "NOT_FOUND", () =>
    Effect.map(pair(), ({ from }) => ({ from_wallet_id: from }))
  )
  refused("to the same wallet", "SAME_WALLET", ({ from }) => Effect.succeed({ to_wallet_id: from }))
  refused(
    "with swapped wallets",
    "CURRENCY_MISMATCH",
    ({ from, to }) => Effect.succeed({ from_wallet_id: to, to_wallet_id: from }),
    { expected: "USDC", actual: "EURC" }
  )
  refused("to a wallet of another currency", "CURRENCY_MISMATCH", ({ caller }) =>
    Effect.map(walletOf(caller, { currency: "USDC" }), ({ id }) => ({ to_wallet_id: id }))
  )
  refused("with a quote in a currency no wallet holds", "CURRENCY_MISMATCH", ({ caller }) =>
    Effect.flatMap(Quotes, (quotes) =>
      Effect.map(
        quotes.create(caller, { from_currency: "USDC", to_currency: "BRL", amount: 1_000_000n }),
        ({ id }) => ({
          quote_id: id
        })
      )
    )
  )
  refused("with another amount than the quote's", "QUOTE_MISMATCH", () => Effect.succeed({ amount: 99_999_999n }), {
    field: "amount",
    quoted: "100.00",
    given: "99.999999"
  })
  refused(
    "with another currency than the quote's",
    "QUOTE_MISMATCH",
    () => Effect.succeed({ currency: "EURC" as const }),
    {
      field: "currency",
      quoted: "USDC",
      given: "EURC"
    }
  )
  refused("from a frozen wallet", "WALLET_FROZEN", ({ caller, from }) =>
    Effect.as(
      Effect.flatMap(Wallets, ({ freeze }) => freeze(caller, from, "test")),
      {}
    )
  )

  it.effect("when its quote has ended: QUOTE_EXPIRED", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      yield* TestClock.adjust("30100 millis")
      const refusal = yield* Effect.flip((yield* CrossBorder).create(parties.caller, order))
      assert.strictEqual(refusal._tag, "QUOTE_EXPIRED")
      assert.strictEqual(yield* count(parties.caller.tenant_id), 0)
    })
  )

  it.effect("when its quote ends while the ledger is waited for: QUOTE_EXPIRED", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const of = (waiting: Duration.Input) =>
        Effect.map(
          Layer.build(Layer.fresh(CrossBorder.layer).pipe(Layer.provide(heldUp(TestClock.adjust(waiting))))),
          Context.get(CrossBorder)
        )
      const refusal = yield* Effect.flip((yield* of("30 seconds")).create(parties.caller, order))
      assert.strictEqual(refusal._tag, "QUOTE_EXPIRED")
      assert.strictEqual(yield* count(parties.caller.tenant_id), 0)
      const { order: another, quote } = yield* orderFor(parties)
      const { transfer } = yield* (yield* of("29999 millis")).create(parties.caller, another)
      assert.strictEqual(quote.expires_at.getTime() - transfer.created_at.getTime(), 1)
    })
  )

  it.effect("when its quote ends while another process has the log: QUOTE_EXPIRED", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const { create } = yield* CrossBorder
      const late = Effect.flip(create(parties.caller, order))
      const { made } = yield* whileHeadIsHeld(late, TestClock.adjust("30 seconds"))
      assert.strictEqual(made._tag, "QUOTE_EXPIRED")
      assert.strictEqual(yield* count(parties.caller.tenant_id), 0)
    })
  )

  it.effect("and the quote stays good for the right one, with amount and currency repeated", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const { create } = yield* CrossBorder
      yield* Effect.flip(create(parties.caller, { ...order, amount: 1n }))
      const { transfer } = yield* create(parties.caller, { ...order, amount: 100_000_000n, currency: "USDC" })
      assert.strictEqual(transfer.status, "pending")
    })
  )
})

const without = CrossBorder.layer.pipe(
  Layer.provideMerge(Settlements.layer),
  Layer.provideMerge(Layer.merge(Quotes.layer, Transfers.layer)),
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, RateTable.layer))
)
layer(without, { timeout: "60 seconds" })("a server without a settlement rail", (it) => {
  it.effect("makes no cross-border transfers", () =>
    Effect.gen(function* () {
      const parties = yield* pair()
      const { order } = yield* orderFor(parties)
      const refusal = yield* Effect.flip((yield* CrossBorder).create(parties.caller, order))
      assert.strictEqual(refusal._tag, "CROSS_BORDER_UNAVAILABLE")
      assert.strictEqual(yield* (yield* Settlements).settleDue, 0)
      const id = TransferId.make(newUuid())
      assert.strictEqual((yield* Effect.flip((yield* CrossBorder).cancel(yield* tenant(), id)))._tag, "NOT_FOUND")
    })
  )
})
