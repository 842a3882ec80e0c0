import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { Ledger } from "#services/Ledger.ts"
import { balance, elsewhere, ended, hold, outcome, Test, transfer, wallet } from "./LedgerHarness.ts"

const wallets = 3
const move = fc.record({
  process: fc.nat(1),
  kind: fc.constantFrom("transfer", "hold", "capture", "release", "freeze", "unfreeze"),
  from: fc.nat(wallets - 1),
  to: fc.nat(wallets - 1),
  amount: fc.bigInt(1n, 8n)
})
layer(Test, { timeout: "60 seconds" })("a ledger that remembers the books", (it) => {
  it.effect("does the same as one that always asks, with two processes on one log", () =>
    Effect.gen(function* () {
      const ledgers = [yield* Ledger, yield* elsewhere]
      const seed = Math.floor(Math.random() * 2 ** 31)
      for (const [run, moves] of fc
        .sample(fc.array(move, { minLength: 20, maxLength: 40 }), { seed, numRuns: 40 })
        .entries()) {
        const ids: Array<string> = []
        const model = Array.from({ length: wallets }, () => ({ posted: 10n, held: 0n, frozen: false }))
        for (let index = 0; index < wallets; index++) ids.push(yield* wallet(10n))
        const open: Array<{
          readonly id: string
          readonly from: number
          readonly to: number
          readonly amount: bigint
        }> = []
        for (const { amount, from, kind, process, to } of moves) {
          const ledger = ledgers[process]
          const [payer, payee] = [model[from], model[to]]
          const [debit = "", credit = ""] = [ids[from], ids[to]]
          if (ledger === undefined || payer === undefined || payee === undefined || from === to) continue
          const refusal = payer.frozen
            ? "WALLET_FROZEN"
            : payer.posted - payer.held < amount
              ? "INSUFFICIENT_BALANCE"
              : "posted"
          const said = `seed ${seed}, run ${run}: ${kind} of ${amount} from ${from} to ${to} by ${process}`
          if (kind === "freeze" || kind === "unfreeze") {
            yield* ledger.setFrozen(debit, kind === "freeze")
            payer.frozen = kind === "freeze"
          } else if (kind === "transfer") {
            assert.strictEqual(
              outcome(yield* Effect.result(ledger.post(transfer(debit, credit, amount)))),
              refusal,
              said
            )
            if (refusal !== "posted") continue
            payer.posted -= amount
            payee.posted += amount
          } else if (kind === "hold") {
            const held = yield* hold(debit, credit, amount)
            assert.strictEqual(outcome(yield* Effect.result(ledger.post(held))), refusal, said)
            if (refusal !== "posted") continue
            payer.held += amount
            open.push({ id: held.id, from, to, amount })
          } else {
            const held = open.shift()
            const [holder, receiver] = [model[held?.from ?? -1], model[held?.to ?? -1]]
            if (held === undefined || holder === undefined || receiver === undefined) continue
            yield* ledger.post(ended(held.id, ids[held.from] ?? "", ids[held.to] ?? "", kind))
            holder.held -= held.amount
            if (kind === "release") continue
            holder.posted -= held.amount
            receiver.posted += held.amount
          }
        }
        for (const [index, { held, posted }] of model.entries()) {
          assert.deepStrictEqual(yield* balance(ids[index] ?? ""), { posted, held }, `seed ${seed}, run ${run}`)
        }
      }
    })
  )
})
