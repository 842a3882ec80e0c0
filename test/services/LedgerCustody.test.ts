import { assert, describe, it, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { systemAccount } from "#domain/LedgerAccount.ts"
import type { Environment } from "#domain/Principal.ts"
import * as CustodySetting from "#layers/Custody.ts"
import { Deployment } from "#services/Deployment.ts"
import { Ledger } from "#services/Ledger.ts"
import { Custody } from "#services/Ledger/Custody.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, Test, transfer, wallet } from "./LedgerHarness.ts"

const test = Test.pipe(Layer.provide(Layer.succeed(Custody, "self")))

layer(test, { timeout: "60 seconds" })("wallets whose keys others hold", (it) => {
  it.effect("receive, and the ledger spends nothing of theirs, whatever it remembers of them", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      for (const command of [transfer(payer, payee, 1n), transfer(payer, payee, 10n)]) {
        assert.strictEqual((yield* Effect.flip(post(command)))._tag, "WALLET_FROZEN")
        yield* post(transfer(systemAccount("issuance", "USDC"), payer, 5n))
      }
      assert.deepStrictEqual(
        [yield* balance(payer), yield* balance(payee)],
        [
          { posted: 20n, held: 0n },
          { posted: 0n, held: 0n }
        ]
      )
    })
  )

  it.effect("still owe the platform its share, and what is no wallet pays: streams that were begun before", () =>
    Effect.gen(function* () {
      const { open, post } = yield* Ledger
      const [payee, stream] = [yield* wallet(), newUuid()]
      yield* open({ id: stream, purpose: "stream", currency: "USDC" })
      yield* post(transfer(systemAccount("issuance", "USDC"), stream, 100n))
      const fees = systemAccount("fees", "USDC")
      const { steps, ...command } = transfer(stream, payee, 100n)
      const fee = {
        kind: "fee",
        debit: payee,
        credit: fees,
        currency: "USDC",
        basis_points: 1000,
        code: "fee"
      } as const
      yield* post({ ...command, steps: [...steps, fee] })
      assert.deepStrictEqual(yield* balance(payee), { posted: 90n, held: 0n })
    })
  )
})

describe("who holds the keys of wallets' addresses", () => {
  const said = (environment: Environment, env: Record<string, string> = {}) => {
    const deployment = Layer.succeed(Deployment, { environment, publicUrl: "", scannerUrl: "" })
    const settings = ConfigProvider.layer(ConfigProvider.fromUnknown(env))
    return Effect.provide(Custody, CustodySetting.layer.pipe(Layer.provide([deployment, settings])))
  }

  it.effect("is, live, whoever they are for, unless the operator says that he does", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* said("live"), "self")
      assert.strictEqual(yield* said("live", { TURNPIKE_CUSTODY: "operator" }), "operator")
      assert.include(
        JSON.stringify(yield* Effect.flip(said("live", { TURNPIKE_CUSTODY: "sellers" }))),
        "TURNPIKE_CUSTODY"
      )
    })
  )

  it.effect("is nobody in the sandbox, whose money the ledger's own is", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* said("sandbox"), "operator")
      assert.strictEqual(yield* said("sandbox", { TURNPIKE_CUSTODY: "self" }), "operator")
    })
  )
})
