import { assert, layer } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { Ledger } from "#services/Ledger.ts"
import { balance, Test, transfer, wallet } from "./LedgerHarness.ts"

layer(Test, { timeout: "60 seconds" })("a command that cannot be carried out", (it) => {
  for (const part of ["rows", "events", "result"] as const) {
    it.effect(`because its ${part} throw dies alone: its neighbours in the group are posted`, () =>
      Effect.gen(function* () {
        const { post } = yield* Ledger
        const [payer, payee] = [yield* wallet(10n), yield* wallet()]
        const broken = {
          ...transfer(payer, payee, 1n),
          [part]: () => {
            throw new Error("a bug")
          }
        }
        const [bad, ...good] = yield* Effect.all(
          [post(broken), post(transfer(payer, payee, 2n)), post(transfer(payer, payee, 3n))].map(Effect.exit),
          { concurrency: "unbounded" }
        )
        assert.isTrue(bad !== undefined && Exit.isFailure(bad) && Cause.hasDies(bad.cause))
        assert.isTrue(good.every(Exit.isSuccess))
        assert.deepStrictEqual(yield* balance(payee), { posted: 5n, held: 0n })
      })
    )
  }

  it.effect("is a fault of ours also when it came alone, and not something to try again", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const rows = () => {
        throw new Error("a bug")
      }
      const exit = yield* Effect.exit(post({ ...transfer(payer, payee, 1n), rows }))
      assert.isTrue(Exit.isFailure(exit))
      assert.include(String(exit), "StatementFailed")
      assert.deepStrictEqual(yield* balance(payer), { posted: 10n, held: 0n })
    })
  )
})
