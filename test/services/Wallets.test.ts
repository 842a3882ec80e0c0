import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Option, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { WalletId } from "#domain/Ids.ts"
import { newId, newUuid } from "#services/NewId.ts"
import { Wallets } from "#services/Wallets.ts"
import { hold, movementsInto, platform, tenant, usdc, walletOf } from "./WalletsHarness.ts"

layer(platform)("creating a wallet", (it) => {
  it.effect("without any field makes an empty USDC wallet of the caller's account on the sandbox's first network", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const wallet = yield* walletOf(caller)
      assert.deepInclude(wallet, {
        owner_type: "account",
        owner_id: caller.account_id,
        currency: "USDC",
        network: "solana-devnet",
        name: null,
        balance_available: 0n,
        balance_pending: 0n,
        status: "active",
        frozen_reason: null,
        frozen_at: null,
        metadata: {}
      })
      assert.deepStrictEqual(yield* (yield* Wallets).get(caller, wallet.id), wallet)
    })
  )

  it.effect("keeps name and metadata exactly", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const name = "🦊 \u202eright to left\u202c <b>'; DROP TABLE wallets; --\r\n\u200d"
      const metadata = JSON.parse('{"__proto__": {"a": 1}, "constructor": null, "🦊": ["\\\\u0000", 0.1, true]}')
      const wallet = yield* walletOf(caller, { name, metadata })
      assert.strictEqual(wallet.name, name)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(wallet.metadata)), metadata)
    })
  )

  it.effect("on a network of the other environment is refused with the networks there are", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(walletOf(yield* tenant(), { network: "base-mainnet" }))
      assert.deepInclude(refused, { _tag: "NETWORK_NOT_AVAILABLE", available: ["solana-devnet", "base-sepolia"] })
    })
  )

  it.effect("live needs an address, and takes the main network", () =>
    Effect.gen(function* () {
      const caller = yield* tenant("live")
      assert.deepInclude(yield* Effect.flip(walletOf(caller)), { _tag: "INVALID_ADDRESS", reason: "missing" })
      const address = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
      assert.deepInclude(yield* walletOf(caller, { address }), { network: "solana-mainnet", address })
    })
  )

  it.effect("with an address that is none of the network is refused", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(walletOf(yield* tenant(), { network: "base-sepolia", address: "0x12" }))
      assert.deepInclude(refused, { _tag: "INVALID_ADDRESS", reason: "malformed" })
    })
  )

  it.effect("with an address that a wallet has, in any spelling, is refused and leaves nothing behind", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const sql = yield* SqlClient.SqlClient
      const address = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"
      const request = { network: "base-sepolia", address } as const
      const first = yield* walletOf(caller, request)
      assert.strictEqual(first.address, address.toLowerCase())
      const accounts = yield* sql`SELECT count(*) AS n FROM ledger_accounts`
      const refused = yield* Effect.flip(walletOf(yield* tenant(), { ...request, address: address.toLowerCase() }))
      assert.strictEqual(refused._tag, "ADDRESS_TAKEN")
      assert.deepStrictEqual(yield* sql`SELECT count(*) AS n FROM ledger_accounts`, accounts)
      yield* walletOf(caller, { ...request, currency: "EURC" })
    })
  )

  it.effect("with an address of another tenant's is refused in whatever currency, also when both ask at once", () =>
    Effect.gen(function* () {
      const [first, second] = [yield* tenant(), yield* tenant()]
      for (let digit = 1; digit <= 9; digit++) {
        const request = { network: "base-sepolia", address: `0x${String(digit).repeat(40)}` } as const
        const asked = [
          walletOf(first, { ...request, currency: "USDC" }),
          walletOf(second, { ...request, currency: "EURC" })
        ].map(Effect.result)
        const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
        const refused = answers.flatMap((answer) => (Result.isFailure(answer) ? [answer.failure._tag] : []))
        assert.deepStrictEqual(refused, ["ADDRESS_TAKEN"])
      }
    })
  )

  it.effect("for an owner that does not exist, is an agent nobody knows, or is another tenant's, is not found", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const other = yield* tenant()
      for (const input of [
        { owner_id: newUuid() },
        { owner_id: other.account_id },
        { owner_type: "agent", owner_id: caller.account_id }
      ] as const) {
        assert.strictEqual((yield* Effect.flip(walletOf(caller, input)))._tag, "NOT_FOUND")
      }
    })
  )
})

layer(platform)("listing wallets", (it) => {
  it.effect("shows the tenant's own, newest first, page by page, with the total", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      yield* walletOf(yield* tenant())
      const made = [yield* walletOf(caller), yield* walletOf(caller), yield* walletOf(caller)]
      const first = yield* wallets.list(caller, {}, { limit: 2, offset: 0 })
      const second = yield* wallets.list(caller, {}, { limit: 2, offset: 2 })
      assert.deepStrictEqual([...first.wallets, ...second.wallets], made.toReversed())
      assert.deepStrictEqual([first.total, second.total], [3, 3])
      assert.deepStrictEqual(yield* wallets.list(caller, {}, { limit: 2, offset: 4 }), { wallets: [], total: 3 })
    })
  )

  it.effect("every filter narrows it", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const one = yield* walletOf(caller, { network: "base-sepolia" })
      const two = yield* walletOf(caller, { currency: "EURC" })
      yield* wallets.freeze(caller, two.id, "test")
      const ids = (filter: Parameters<typeof wallets.list>[1]) =>
        Effect.map(wallets.list(caller, filter, { limit: 9, offset: 0 }), (found) => found.wallets.map(({ id }) => id))
      assert.deepStrictEqual(yield* ids({ network: "base-sepolia" }), [one.id])
      assert.deepStrictEqual(yield* ids({ currency: "EURC" }), [two.id])
      assert.deepStrictEqual(yield* ids({ status: "active" }), [one.id])
      assert.deepStrictEqual(yield* ids({ status: "frozen" }), [two.id])
      assert.deepStrictEqual(yield* ids({ status: "closed" }), [])
      assert.deepStrictEqual(yield* ids({ owner_type: "agent" }), [])
      assert.deepStrictEqual(yield* ids({ owner_id: newUuid() }), [])
      assert.deepStrictEqual(yield* ids({ owner_id: caller.account_id, owner_type: "account", currency: "USDC" }), [
        one.id
      ])
    })
  )
})

layer(platform)("the receiving wallet of an account", (it) => {
  it.effect("is the oldest active one of the currency and network", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const receiving = Effect.map(wallets.byAccount(caller.account_id, "USDC", "solana-devnet"), Option.getOrUndefined)
      assert.isUndefined(yield* receiving)
      const oldest = yield* walletOf(caller)
      const newer = yield* walletOf(caller)
      yield* walletOf(caller, { currency: "EURC" })
      assert.strictEqual((yield* receiving)?.id, oldest.id)
      yield* wallets.freeze(caller, oldest.id, "lost key")
      assert.strictEqual((yield* receiving)?.id, newer.id)
    })
  )
})

layer(platform)("a frozen wallet", (it) => {
  it.effect("receives and does not spend, until it is unfrozen", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const payee = yield* walletOf(caller)
      const frozen = yield* wallets.freeze(caller, id, "key lost 🦊")
      assert.deepInclude(frozen, { status: "frozen", frozen_reason: "key lost 🦊" })
      assert.isNotNull(frozen.frozen_at)
      assert.strictEqual((yield* wallets.fund(caller, id, usdc(7n))).funding.wallet.balance_available, 7n)
      assert.strictEqual((yield* Effect.flip(hold(id, payee.id, 1n)))._tag, "WALLET_FROZEN")
      const active = yield* wallets.unfreeze(caller, id)
      assert.deepInclude(active, { status: "active", frozen_reason: null, frozen_at: null })
      yield* hold(id, payee.id, 1n)
    })
  )

  it.effect("frozen again keeps its time and takes the new reason; the same call twice is one", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const caller = yield* tenant()
      const { id } = yield* walletOf(caller)
      const first = yield* wallets.freeze(caller, id, "one")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* wallets.freeze(caller, id, "one"), first)
      const second = yield* wallets.freeze(caller, id, "two")
      assert.deepInclude(second, { frozen_reason: "two", frozen_at: first.frozen_at })
    })
  )

  it.effect("that is active is unfrozen without a change", () =>
    Effect.gen(function* () {
      const caller = yield* tenant()
      const wallet = yield* walletOf(caller)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* (yield* Wallets).unfreeze(caller, wallet.id), wallet)
    })
  )
})

layer(platform)("a wallet of another tenant", (it) => {
  it.effect("is not found by any operation, exactly as one that does not exist", () =>
    Effect.gen(function* () {
      const wallets = yield* Wallets
      const owner = yield* tenant()
      const { id } = yield* walletOf(owner)
      const stranger = yield* tenant()
      for (const [caller, target] of [
        [stranger, id],
        [owner, yield* newId(WalletId)]
      ] as const) {
        for (const refused of [
          yield* Effect.flip(wallets.get(caller, target)),
          yield* Effect.flip(wallets.fund(caller, target, usdc(1n))),
          yield* Effect.flip(wallets.entries(caller, target, { limit: 1 })),
          yield* Effect.flip(wallets.freeze(caller, target, "mine now")),
          yield* Effect.flip(wallets.unfreeze(caller, target))
        ]) {
          assert.deepInclude(refused, { _tag: "NOT_FOUND", resource: "wallet" })
        }
      }
      assert.deepInclude(yield* wallets.get(owner, id), { status: "active", balance_available: 0n })
      assert.strictEqual(yield* movementsInto(id), 0)
    })
  )
})

layer(platform)("what is remembered of a wallet", (it) => {
  it.effect("answers its own tenant alone: of somebody else's, as of nobody's, the database is asked each time", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const wallets = yield* Wallets
      const [mine, theirs] = [yield* tenant(), yield* tenant()]
      const { id } = yield* walletOf(mine)
      yield* wallets.known(mine, id)
      yield* Effect.flip(wallets.known(theirs, id))
      const nobodys = yield* newId(WalletId)
      /** Whether this has its answer where the table is gone, which comes back with the end of the transaction. */
      const isAnswered = <A, E>(asking: Effect.Effect<A, E>) =>
        Effect.andThen(sql`ALTER TABLE wallets RENAME TO wallets_gone`, Effect.exit(asking)).pipe(
          Effect.tap(() => sql`ROLLBACK AND CHAIN`),
          sql.withTransaction,
          Effect.map(Exit.isSuccess)
        )
      assert.isTrue(yield* isAnswered(wallets.known(mine, id)))
      assert.isTrue(yield* isAnswered(wallets.knownAll(mine, [id])))
      for (const one of [id, nobodys]) {
        assert.isFalse(yield* isAnswered(Effect.ignore(wallets.known(theirs, one))))
        assert.isFalse(yield* isAnswered(wallets.knownAll(theirs, [one])))
      }
    })
  )
})
