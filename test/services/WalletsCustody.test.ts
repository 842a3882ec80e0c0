import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import * as CustodySetting from "#layers/Custody.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { Wallets } from "#services/Wallets.ts"
import { Custody } from "#services/Wallets/Custody.ts"
import { systemAccount } from "#domain/LedgerAccount.ts"
import { platform, tenant } from "./WalletsHarness.ts"

const address = () => `0x${newUuid().replaceAll("-", "").padStart(40, "a")}`
/** Two live wallets of one caller, and 0.01 that a chain brought to the first. */
const paid = Effect.gen(function* () {
  const [wallets, ledger, caller] = [yield* Wallets, yield* Ledger, yield* tenant("live")]
  const make = Effect.suspend(() => wallets.create(caller, { network: "base-mainnet", address: address() }))
  const [from, to] = [yield* make, yield* make]
  const between = { kind: "transfer", currency: "USDC", amount: 10_000n, code: "payment" } as const
  yield* ledger.post({
    id: newUuid(),
    steps: [{ ...between, debit: systemAccount("issuance", "USDC"), credit: from.id }]
  })
  const spend = ledger.post({ id: newUuid(), steps: [{ ...between, debit: from.id, credit: to.id }] })
  return { caller, from, spend, wallets }
})

layer(platform)("a live wallet whose key its owner has", (it) => {
  it.effect("has what a chain brought to its address, which the ledger does not spend once more", () =>
    Effect.gen(function* () {
      const { caller, from, spend, wallets } = yield* paid
      assert.strictEqual((yield* Effect.flip(spend))._tag, "WALLET_FROZEN")
      const now = yield* wallets.get(caller, from.id)
      assert.deepInclude(now, { status: "frozen", balance_available: 10_000n, frozen_at: from.created_at })
      assert.include(String(now.frozen_reason), "at its address")
    })
  )

  it.effect("is unfrozen by nobody, and another tenant is not told that it is there", () =>
    Effect.gen(function* () {
      const { caller, from, spend, wallets } = yield* paid
      assert.strictEqual((yield* Effect.flip(wallets.unfreeze(caller, from.id)))._tag, "FORBIDDEN")
      assert.strictEqual((yield* Effect.flip(wallets.unfreeze(yield* tenant("live"), from.id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(spend))._tag, "WALLET_FROZEN")
    })
  )

  it.effect("is not what a wallet of the sandbox is, whose money is the ledger's own", () =>
    Effect.gen(function* () {
      const { create } = yield* Wallets
      assert.deepInclude(yield* create(yield* tenant(), {}), { status: "active", frozen_reason: null, frozen_at: null })
    })
  )
})

layer(platform.pipe(Layer.provide(Layer.succeed(Custody, "operator"))))("a live wallet whose key we have", (it) => {
  it.effect("spends what a chain brought to its address", () =>
    Effect.gen(function* () {
      const { caller, from, spend, wallets } = yield* paid
      yield* spend
      assert.deepInclude(yield* wallets.get(caller, from.id), { status: "active", balance_available: 0n })
    })
  )
})

describe("who holds the keys of live wallets", () => {
  const under = (env: Record<string, string>) =>
    Custody.pipe(
      Effect.provide(CustodySetting.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env)))))
    )

  it.effect("is whoever they are for, unless the operator says that he does", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* under({}), "self")
      assert.strictEqual(yield* under({ TURNPIKE_CUSTODY: "operator" }), "operator")
      assert.include(JSON.stringify(yield* Effect.flip(under({ TURNPIKE_CUSTODY: "sellers" }))), "TURNPIKE_CUSTODY")
    })
  )
})
