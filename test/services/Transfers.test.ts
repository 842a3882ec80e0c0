import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { WalletId } from "#domain/Ids.ts"
import { maxMicros } from "#domain/Money.ts"
import type { Principal } from "#domain/Principal.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { newId } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { claimOf, patient, platform, tenant, usdc, walletOf } from "./WalletsHarness.ts"

const Test = Layer.merge(Transfers.layer, Doctor.layer).pipe(Layer.provideMerge(platform), Layer.provide(patient))

const parties = Effect.fnUntraced(function* (funds: bigint) {
  const caller = yield* tenant()
  const [from, to] = [(yield* walletOf(caller)).id, (yield* walletOf(caller)).id]
  if (funds > 0n) yield* (yield* Wallets).fund(caller, from, usdc(funds))
  const transfers = yield* Transfers
  const pay = (amount: bigint, key?: string) =>
    transfers.create(
      caller,
      { type: "internal", from_wallet_id: from, to_wallet_id: to, ...usdc(amount) },
      key === undefined ? undefined : { ...claimOf(caller, key), operation: "transfers.create" }
    )
  const posted = (id: WalletId) =>
    Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.account(id), (one) => one.posted))
  return { caller, from, to, pay, posted }
})

/** How many rows, events and keys a tenant has. */
const counts = Effect.fnUntraced(function* ({ tenant_id }: Principal) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT
    (SELECT count(*)::int FROM transfers WHERE tenant_id = ${tenant_id}) AS transfers,
    (SELECT count(*)::int FROM events WHERE tenant_id = ${tenant_id}) AS events,
    (SELECT count(*)::int FROM idempotency_keys WHERE tenant_id = ${tenant_id}) AS keys`
  return row
})

layer(Test, { timeout: "60 seconds" })("a transfer", (it) => {
  it.effect("under a key is the original at 23 h 59, and new after 24 h (L8)", () =>
    Effect.gen(function* () {
      const { pay, posted, to } = yield* parties(10n)
      const first = yield* pay(1n, "k")
      yield* TestClock.adjust("23 hours")
      yield* TestClock.adjust("59 minutes")
      const replayed = yield* pay(1n, "k")
      assert.deepStrictEqual(replayed, { transfer: first.transfer, replayed: true })
      assert.strictEqual(yield* posted(to), 1n)
      yield* TestClock.adjust("2 minutes")
      const fresh = yield* pay(1n, "k")
      assert.isFalse(fresh.replayed)
      assert.notStrictEqual(fresh.transfer.id, first.transfer.id)
      assert.strictEqual(yield* posted(to), 2n)
    })
  )

  it.effect("carries the time of its movement", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("5 days")
      const { pay } = yield* parties(10n)
      const { transfer } = yield* pay(1n)
      const sql = yield* SqlClient.SqlClient
      assert.deepStrictEqual(yield* sql`SELECT created_at FROM movements WHERE command_id = ${transfer.id}`, [
        { created_at: transfer.created_at }
      ])
      assert.deepStrictEqual(transfer.completed_at, transfer.created_at)
    })
  )

  it.effect("of a micro-unit ten thousand times is exactly a cent (L34)", () =>
    Effect.gen(function* () {
      const { from, pay, posted, to } = yield* parties(10_001n)
      yield* Effect.all(
        Array.from({ length: 10_000 }, () => pay(1n)),
        { concurrency: 512 }
      )
      assert.deepStrictEqual([yield* posted(from), yield* posted(to)], [1n, 10_000n])
    })
  )

  it.effect("that the payee's balance cannot hold is refused and stores nothing (L35)", () =>
    Effect.gen(function* () {
      const { caller, from, pay, posted, to } = yield* parties(10n)
      const sql = yield* SqlClient.SqlClient
      const before = yield* counts(caller)
      // So much money cannot come to be in one place: the faucet has no more to give than this.
      const tampered = Effect.gen(function* () {
        yield* sql`UPDATE ledger_accounts SET posted = ${maxMicros - 1n} WHERE id = ${to}`
        const refused = yield* Effect.flip(pay(2n, "k"))
        assert.deepInclude(refused, { _tag: "AMOUNT_TOO_LARGE", maximum: "9223372036854.775807" })
        assert.deepStrictEqual(yield* counts(caller), before)
        assert.strictEqual(yield* posted(from), 10n)
        assert.strictEqual((yield* pay(1n, "k")).transfer.status, "completed")
        yield* sql`UPDATE ledger_accounts SET posted = 1 WHERE id = ${to}`
      })
      yield* tampered
    })
  )

  it.effect("that is refused stores no row, no event and no key, whatever it is refused for", () =>
    Effect.gen(function* () {
      const { caller, from, to } = yield* parties(10n)
      const transfers = yield* Transfers
      const stranger = yield* parties(10n)
      const euro = yield* walletOf(caller, { currency: "EURC" })
      const base = yield* walletOf(caller, { network: "base-sepolia" })
      const usual = { type: "internal", from_wallet_id: from, to_wallet_id: to, ...usdc(1n) } as const
      const claim = { ...claimOf(caller, "k"), operation: "transfers.create" }
      const before = yield* counts(caller)
      for (const [tag, over] of [
        ["NOT_FOUND", { from_wallet_id: yield* newId(WalletId) }],
        ["NOT_FOUND", { to_wallet_id: stranger.to }],
        ["NOT_FOUND", { from_wallet_id: stranger.from }],
        ["SAME_WALLET", { to_wallet_id: from }],
        ["CURRENCY_MISMATCH", { to_wallet_id: euro.id }],
        ["CURRENCY_MISMATCH", { currency: "EURC" as const }],
        ["NETWORK_MISMATCH", { from_wallet_id: base.id }]
      ] as const) {
        const refused = yield* Effect.flip(transfers.create(caller, { ...usual, ...over }, claim))
        assert.strictEqual(refused._tag, tag)
      }
      yield* (yield* Wallets).freeze(caller, from, "lost")
      const frozen = yield* Effect.flip(transfers.create(caller, usual, claim))
      assert.strictEqual(frozen._tag, "WALLET_FROZEN")
      assert.deepStrictEqual(yield* counts(caller), before)
    })
  )

  it.effect("of a frozen payer is refused even where the money would not do", () =>
    Effect.gen(function* () {
      const { caller, from, pay } = yield* parties(1n)
      yield* (yield* Wallets).freeze(caller, from, "lost")
      assert.strictEqual((yield* Effect.flip(pay(2n)))._tag, "WALLET_FROZEN")
    })
  )

  it.effect("of another tenant does not exist", () =>
    Effect.gen(function* () {
      const { pay } = yield* parties(1n)
      const { transfer } = yield* pay(1n)
      const stranger = yield* tenant()
      const refused = yield* Effect.flip((yield* Transfers).get(stranger, transfer.id))
      assert.strictEqual(refused._tag, "NOT_FOUND")
    })
  )

  it.effect("there and back 200 times at once ends where it began (L3)", () =>
    Effect.gen(function* () {
      const { caller, from, posted, to } = yield* parties(100n)
      const transfers = yield* Transfers
      const outcomes = yield* Effect.all(
        Array.from({ length: 200 }, (_, index) => {
          const [from_wallet_id, to_wallet_id] = index % 2 ? [from, to] : [to, from]
          return Effect.result(transfers.create(caller, { type: "wrap", from_wallet_id, to_wallet_id, ...usdc(1n) }))
        }),
        { concurrency: 200 }
      )
      assert.isTrue(outcomes.every(Result.isSuccess))
      assert.strictEqual((yield* posted(from)) + (yield* posted(to)), 100n)
    })
  )

  it.effect("leaves books that the doctor finds in order, but for what was tampered with", () =>
    Effect.gen(function* () {
      const broken = (yield* (yield* Doctor).examine).filter((finding) => finding.broken.length > 0)
      assert.deepStrictEqual(
        broken.map(({ promise }) => promise),
        ["a balance is the sum of its entries, and every line of the log carries the balance at its time"]
      )
    })
  )
})
