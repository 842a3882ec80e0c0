import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as fc from "fast-check"
import { flat, priceAt } from "#domain/Price.ts"
import { Ledger } from "#services/Ledger.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, elsewhere, ended, hold, outcome, Test, transfer, wallet } from "./LedgerHarness.ts"

const wallets = 3
const move = fc.record({
  process: fc.nat(1),
  kind: fc.constantFrom("transfer", "counted", "hold", "tiered", "capture", "release", "freeze", "unfreeze"),
  from: fc.nat(wallets - 1),
  to: fc.nat(wallets - 1),
  amount: fc.bigInt(1n, 8n)
})
/** From the third counted call on, a call costs 1. */
const priceOf = (amount: bigint) => ({ base: amount, tiers: [{ threshold: 2, amount: 1n }] })

layer(Test, { timeout: "60 seconds" })("a ledger that remembers the books", (it) => {
  it.effect("does the same as one that always asks, with two processes on one log", () =>
    Effect.gen(function* () {
      const ledgers = [yield* Ledger, yield* elsewhere]
      const seed = Math.floor(Math.random() * 2 ** 31)
      for (const [run, moves] of fc
        .sample(fc.array(move, { minLength: 20, maxLength: 40 }), { seed, numRuns: 40 })
        .entries()) {
        const ids: Array<string> = []
        const model = Array.from({ length: wallets }, () => ({ posted: 10n, held: 0n, frozen: false, calls: 0n }))
        const scope = newUuid()
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
          const cost = kind === "tiered" ? priceAt(priceOf(amount), payer.calls) : amount
          const refusal = payer.frozen
            ? "WALLET_FROZEN"
            : payer.posted - payer.held < cost
              ? "INSUFFICIENT_BALANCE"
              : "posted"
          const tally = { scope, subject: debit }
          const said = `seed ${seed}, run ${run}: ${kind} of ${amount} from ${from} to ${to} by ${process}`
          if (kind === "freeze" || kind === "unfreeze") {
            yield* ledger.setFrozen(debit, kind === "freeze")
            payer.frozen = kind === "freeze"
          } else if (kind === "transfer" || kind === "counted") {
            const { id, steps } = transfer(debit, credit, amount)
            const command = { id, steps: steps.map((step) => (kind === "counted" ? { ...step, tally } : step)) }
            assert.strictEqual(outcome(yield* Effect.result(ledger.post(command))), refusal, said)
            if (refusal !== "posted") continue
            payer.posted -= amount
            payee.posted += amount
            if (kind === "counted") payer.calls++
          } else if (kind === "hold" || kind === "tiered") {
            const { id, steps } = yield* hold(debit, credit, amount)
            const price = kind === "tiered" ? priceOf(amount) : flat(amount)
            const command = { id, steps: steps.map((step) => ({ ...step, price, tally })) }
            assert.strictEqual(outcome(yield* Effect.result(ledger.post(command))), refusal, said)
            if (refusal !== "posted") continue
            payer.held += cost
            open.push({ id, from, to, amount: cost })
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
        for (const [index, { calls, held, posted }] of model.entries()) {
          const subject = ids[index] ?? ""
          assert.deepStrictEqual(yield* balance(subject), { posted, held }, `seed ${seed}, run ${run}`)
          const { count } = yield* (yield* Ledger).tally(scope, subject)
          assert.strictEqual(count, calls, `seed ${seed}, run ${run}`)
        }
      }
    })
  )
})
