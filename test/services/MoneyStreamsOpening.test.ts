import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Custody } from "#services/Ledger/Custody.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { balance, eventsOf, faults, money, open, parties, platform, rate } from "./MoneyStreamsHarness.ts"
import { claimOf, patient, tenant, walletOf } from "./WalletsHarness.ts"

const accounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT count(*)::int AS n FROM ledger_accounts`)[0]?.["n"]
})

layer(platform.pipe(Layer.provideMerge(patient)))("opening a stream", (it) => {
  it.effect("takes the deposit, and tells it in one transfer and in its events", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_500_000_000n)
      const { stream, transfer } = yield* open(both, { buffer: 100_000_000n, metadata: { a: 1 } })
      assert.deepInclude(stream, {
        from_wallet_id: both.payer,
        to_wallet_id: both.payee,
        currency: "USDC",
        status: "active",
        pause_reason: null,
        deposited: 1_000_000_000n,
        wrapped_balance: 900_000_000n,
        buffer: 100_000_000n,
        recipient_balance: 0n,
        withdrawn: 0n,
        returned: 0n,
        runway_seconds: 900_000,
        latest_transfer_id: transfer.id,
        cancelled_at: null
      })
      assert.deepInclude(transfer, {
        type: "stream_start",
        status: "completed",
        amount: 1_000_000_000n,
        from_wallet_id: both.payer,
        to_wallet_id: both.payee,
        stream_id: stream.id,
        protocol: "stream"
      })
      assert.deepStrictEqual(transfer.protocol_metadata, { action: "start" })
      assert.deepStrictEqual(yield* (yield* Transfers).get(both.caller, transfer.id), transfer)
      assert.deepStrictEqual(yield* (yield* MoneyStreams).get(both.caller, stream.id), stream)
      assert.deepStrictEqual(yield* money(both, stream.id), [500_000_000n, 1_000_000_000n, 0n])
      const events = yield* eventsOf(both.caller)
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["transfer.created", "transfer.completed", "stream.started"]
      )
      assert.deepInclude(events[2]?.data.stream, { wrapped_balance: "900.00", flow_rate: "0.001", status: "active" })
      assert.deepStrictEqual(yield* faults, [])
    })
  )

  it.effect("with less than a day of runway warns at once", () =>
    Effect.gen(function* () {
      const both = yield* parties(86_399_999n)
      yield* open(both, { initial_deposit: 86_399_999n })
      const alerts = yield* eventsOf(both.caller, "stream.alert")
      assert.deepStrictEqual(
        alerts.map(({ data }) => data.alert),
        [{ severity: "warning", runway_seconds: 86_399 }]
      )
      assert.strictEqual(yield* (yield* MoneyStreams).alertDue, 0)
    })
  )

  it.effect("that cannot be is refused, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const both = yield* parties(1_000_000n)
      const { caller } = both
      const euro = (yield* walletOf(caller, { currency: "EURC" })).id
      const base = (yield* walletOf(caller, { network: "base-sepolia" })).id
      const stranger = (yield* walletOf(yield* tenant())).id
      const before = yield* accounts
      const refused = (changed: Parameters<typeof open>[1]) =>
        Effect.map(Effect.flip(open(both, { initial_deposit: 1_000_000n, ...changed })), ({ _tag }) => _tag)
      assert.strictEqual(yield* refused({ to_wallet_id: both.payer }), "SAME_WALLET")
      assert.strictEqual(yield* refused({ to_wallet_id: euro }), "CURRENCY_MISMATCH")
      assert.strictEqual(yield* refused({ currency: "EURC" }), "CURRENCY_MISMATCH")
      assert.strictEqual(yield* refused({ to_wallet_id: base }), "NETWORK_MISMATCH")
      assert.strictEqual(yield* refused({ to_wallet_id: stranger }), "NOT_FOUND")
      assert.strictEqual(yield* refused({ from_wallet_id: stranger }), "NOT_FOUND")
      assert.strictEqual(yield* refused({ buffer: 1_000_000n }), "BUFFER_TOO_LARGE")
      assert.strictEqual(yield* refused({ initial_deposit: 1_000_001n }), "INSUFFICIENT_BALANCE")
      yield* (yield* Wallets).freeze(caller, both.payer, "test")
      assert.strictEqual(yield* refused({}), "WALLET_FROZEN")
      assert.strictEqual(yield* accounts, before)
      assert.deepStrictEqual(yield* eventsOf(caller), [])
      assert.deepStrictEqual((yield* (yield* MoneyStreams).list(caller, {}, { limit: 9, offset: 0 })).total, 0)
    })
  )

  it.effect("under one key, a hundred times at once, opens one", () =>
    Effect.gen(function* () {
      const both = yield* parties(5_000_000n)
      const streams = yield* MoneyStreams
      const before = Number(yield* accounts)
      const wanted = {
        from_wallet_id: both.payer,
        to_wallet_id: both.payee,
        flow_rate: rate("1"),
        initial_deposit: 1_000_000n
      }
      const claim = { ...claimOf(both.caller, "once"), operation: "streams.create" }
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => streams.open(both.caller, wanted, claim)),
        { concurrency: 100 }
      )
      assert.strictEqual(new Set(answers.map(({ stream }) => stream.id)).size, 1)
      assert.deepStrictEqual(answers[99]?.stream, answers[0]?.stream)
      assert.strictEqual(answers.filter(({ replayed }) => replayed).length, 99)
      assert.strictEqual(yield* balance(both.payer), 4_000_000n)
      assert.strictEqual(Number(yield* accounts), before + 1)
      for (const other of [{}, { to_wallet_id: both.payer }, { currency: "EURC" as const }, { buffer: 1_000_000n }]) {
        const again = streams.open(both.caller, { ...wanted, ...other }, { ...claim, fingerprint: "2" })
        assert.strictEqual((yield* Effect.flip(again))._tag, "IDEMPOTENCY_KEY_REUSED")
      }
    })
  )

  it.effect("by a transfer of a payer with too little makes a failed transfer, and no stream", () =>
    Effect.gen(function* () {
      const both = yield* parties(1n)
      const streams = yield* MoneyStreams
      const order = {
        type: "stream_start",
        from_wallet_id: both.payer,
        to_wallet_id: both.payee,
        amount: 2n,
        currency: "USDC",
        flow_rate: 1n
      } as const
      const { transfer } = yield* streams.start(both.caller, order)
      assert.deepInclude(transfer, { status: "failed", failure_reason: "insufficient_funds", stream_id: null })
      assert.deepStrictEqual(yield* (yield* Transfers).get(both.caller, transfer.id), transfer)
      assert.strictEqual((yield* streams.list(both.caller, {}, { limit: 9, offset: 0 })).total, 0)
      assert.deepStrictEqual(
        (yield* eventsOf(both.caller)).map(({ type }) => type),
        ["transfer.created", "transfer.failed"]
      )
      assert.deepStrictEqual(yield* faults, [])
    })
  )
})

layer(platform.pipe(Layer.provide(Layer.succeed(Custody, "self"))))(
  "a stream out of a wallet whose key others hold",
  (it) => {
    it.effect("is refused before an account is opened for it", () =>
      Effect.gen(function* () {
        const both = yield* parties(1_500_000_000n)
        const before = yield* accounts
        assert.strictEqual((yield* Effect.flip(open(both)))._tag, "WALLET_FROZEN")
        assert.strictEqual(yield* accounts, before)
      })
    )
  }
)
