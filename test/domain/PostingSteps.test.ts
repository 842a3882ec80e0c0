import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Command, Decision, Step } from "#domain/Command.ts"
import { everyone, type Hold, type LedgerAccount, type Tally } from "#domain/LedgerAccount.ts"
import { maxMicros } from "#domain/Money.ts"
import { flat, type Price } from "#domain/Price.ts"
import { account, at, between, later, reserve, run, transfer } from "./PostingHarness.ts"

const accounts = [account(0), account(1, { posted: 0n }), account(2, { posted: 0n })]
const tally = { scope: "endpoint", subject: "payer" }
const counted = (count: bigint, amount = 0n): Tally => ({ ...tally, count, amount })
/** 10, and 4 from the third call on. */
const tiered: Price = { base: 10n, tiers: [{ threshold: 2, amount: 4n }] }
const hold: Hold = { id: "h", debit: 1n, credit: 2n, amount: 10n, captured: 0n, state: "open", expires_at: later }
const promised = [account(0, { held: 10n }), account(1, { posted: 0n }), account(2, { posted: 0n })]
const capture = (over: Partial<Extract<Step, { kind: "capture" }>> = {}): Step => ({
  kind: "capture",
  ...between(0, 1),
  hold: "h",
  ...over
})
const reserved = (over: Partial<Extract<Step, { kind: "hold" }>> = {}): Step => ({
  kind: "hold",
  ...between(0, 1),
  hold: "h",
  price: tiered,
  expires_at: later,
  ...over
})
const one = (of: ReadonlyArray<LedgerAccount>, steps: ReadonlyArray<Step>, known: Parameters<typeof run>[2] = {}) =>
  run(of, [{ id: "c", steps }], known)
const told = ({ answers }: Decision) =>
  answers.map((answer) =>
    Result.isFailure(answer) ? answer.failure._tag : answer.success.replayed ? "replayed" : "posted"
  )
const lines = ({ movements }: Decision) => movements.map(({ amount, kind }) => [kind, amount])
const balances = ({ accounts }: Decision) => accounts.map(({ held, posted }) => [posted, held])

describe("a wallet of another currency", () => {
  it("is refused on either side, by the currency that it has", () => {
    for (const [from, to] of [
      [account(0), account(1, { currency: "EURC" })],
      [account(0, { currency: "EURC" }), account(1)]
    ] as const) {
      const [answer] = one([from, to], [transfer(0, 1, 1n)]).answers
      assert.deepInclude(answer !== undefined && Result.isFailure(answer) ? answer.failure : {}, {
        _tag: "CURRENCY_MISMATCH",
        expected: "USDC",
        actual: "EURC"
      })
    }
  })
})

describe("a frozen wallet", () => {
  const [payer, ...others] = promised
  const frozen = [{ ...payer!, frozen: true }, ...others]
  it("promises nothing", () => {
    assert.deepStrictEqual(told(one(frozen, [reserve("other", 0, 1, 1n)])), ["WALLET_FROZEN"])
  })
  it("pays what it had promised, or has it back", () => {
    const back: Step = { kind: "release", ...between(0, 1), hold: "h", as: "released" }
    assert.deepStrictEqual(balances(one(frozen, [capture()], { holds: [hold] }))[0], [90n, 0n])
    assert.deepStrictEqual(balances(one(frozen, [back], { holds: [hold] }))[0], [100n, 0n])
  })
  it("leaves its receiver's fee to be taken", () => {
    const receiver = [account(0), account(1, { frozen: true }), account(2, { posted: 0n })]
    const fee: Step = { kind: "fee", ...between(1, 2), basis_points: 1_000 }
    assert.deepStrictEqual(balances(one(receiver, [transfer(0, 1, 10n), fee])).at(-1), [1n, 0n])
  })
})

describe("what a receiver can hold", () => {
  it("is filled to the last micro-unit, by a transfer and by a capture", () => {
    const full = (known: ReadonlyArray<LedgerAccount>) => [known[0]!, account(1, { posted: maxMicros - 10n })]
    assert.deepStrictEqual(told(one(full(accounts), [transfer(0, 1, 10n)])), ["posted"])
    assert.deepStrictEqual(told(one(full(accounts), [transfer(0, 1, 11n)])), ["AMOUNT_TOO_LARGE"])
    assert.deepStrictEqual(told(one(full(promised), [capture()], { holds: [hold] })), ["posted"])
  })
})

describe("a hold", () => {
  it("is of the price at the payer's count, and keeps nothing of it as taken", () => {
    const held = (count: bigint) => one(accounts, [reserved({ tally })], { tallies: [counted(count)] }).holds
    assert.deepStrictEqual(held(1n), [{ ...hold, amount: 10n }])
    assert.deepStrictEqual(held(2n), [{ ...hold, amount: 4n }])
  })
  it("without a count is of the first price", () => {
    const everywhere = { base: 10n, tiers: [{ threshold: 1, amount: 4n }] }
    assert.deepStrictEqual(lines(one(accounts, [reserved({ price: everywhere })])), [["hold", 10n]])
  })
  it("of nothing is none", () => {
    const { holds, movements } = one(accounts, [reserved({ price: flat(0n) })])
    assert.deepStrictEqual([holds, movements], [[], []])
  })
  it("may be captured by the command that made it", () => {
    const decision = one(accounts, [reserve("h", 0, 1, 10n), capture()])
    assert.deepStrictEqual(lines(decision), [
      ["hold", 10n],
      ["capture", 10n]
    ])
    assert.deepStrictEqual(balances(decision), [
      [90n, 0n],
      [10n, 0n]
    ])
  })
  it("that is released ends as it is said to, and all of it is free again", () => {
    for (const as of ["released", "expired"] as const) {
      const decision = one(promised, [{ kind: "release", ...between(0, 1), hold: "h", as }], { holds: [hold] })
      assert.deepStrictEqual(lines(decision), [["release", 10n]])
      assert.deepStrictEqual(decision.holds, [{ ...hold, state: as }])
      assert.deepStrictEqual(balances(decision), [
        [100n, 0n],
        [0n, 0n]
      ])
    }
  })
})

describe("a capture with a count", () => {
  const taken = (count: bigint, price = tiered) =>
    one(promised, [capture({ tally, price })], { holds: [hold], tallies: [counted(count, 70n)] })
  it("is of the price at the count that is there by then, which it raises for the payer and for everyone", () => {
    assert.deepStrictEqual([lines(taken(1n)), lines(taken(2n))], [[["capture", 10n]], [["capture", 4n]]])
    assert.deepStrictEqual(taken(2n).holds, [{ ...hold, state: "captured", captured: 4n }])
    assert.deepStrictEqual(taken(2n).tallies, [counted(1n, 4n), { ...counted(1n, 4n), subject: everyone }])
  })
  it("that turned out to be free is counted as well", () => {
    assert.deepStrictEqual(taken(0n, flat(0n)).tallies, [counted(1n), { ...counted(1n), subject: everyone }])
  })
  it("without a count is of the first price", () => {
    const everywhere = { base: 10n, tiers: [{ threshold: 1, amount: 4n }] }
    assert.deepStrictEqual(lines(one(promised, [capture({ price: everywhere })], { holds: [hold] })), [
      ["capture", 10n]
    ])
  })
  it("pays its fee from what was taken", () => {
    const fee: Step = { kind: "fee", ...between(1, 2), basis_points: 5_000 }
    const decision = one(promised, [capture({ price: flat(6n) }), fee], { holds: [hold] })
    assert.deepStrictEqual(lines(decision), [
      ["capture", 6n],
      ["transfer", 3n]
    ])
  })
})

describe("a transfer of nothing", () => {
  it("leaves a line all the same, by which it is known when it is posted again", () => {
    assert.deepStrictEqual(lines(one(accounts, [transfer(0, 1, 0n)])), [["transfer", 0n]])
  })
})

describe("a call that costs nothing", () => {
  it("moves nothing, leaves a line, and is counted each time", () => {
    const count: Step = { kind: "count", ...between(0, 1), tally }
    const decision = one(accounts, [count, count])
    assert.deepStrictEqual(lines(decision), [
      ["count", 0n],
      ["count", 0n]
    ])
    assert.deepStrictEqual(decision.tallies, [counted(2n), { ...counted(2n), subject: everyone }])
  })
})

describe("a command of several steps", () => {
  const command: Command = { id: "c", steps: [transfer(0, 1, 10n), transfer(1, 2, 5n)] }
  const idempotency = { tenant_id: "t", operation: "o", key: "k", fingerprint: "f" }
  it("numbers its lines on from those before it", () => {
    const decision = run(accounts, [command, { ...command, id: "d" }])
    assert.deepStrictEqual(
      decision.movements.map(({ seq, step }) => [seq, step]),
      [
        [1n, 0],
        [2n, 1],
        [3n, 0],
        [4n, 1]
      ]
    )
  })
  it("posted again answers all that it did, at the time it did it", () => {
    const before = new Date(at.getTime() - 1000)
    for (const steps of [command.steps, command.steps.slice(0, 1)]) {
      const again = { ...command, steps }
      const posted = run(accounts, [again]).movements.map((movement) => ({ ...movement, created_at: before }))
      const [answer] = run(accounts, [again], { posted }).answers
      const told = answer !== undefined && Result.isSuccess(answer) ? answer.success : undefined
      assert.deepStrictEqual([told?.at, told?.movements], [before, posted])
    }
  })
  it("answers the same under its key, as far as the lines are known, and keeps null where it has no result", () => {
    const { keys, movements: posted } = run(accounts, [{ ...command, idempotency }])
    assert.strictEqual(keys[0]?.result, null)
    for (const known of [posted, []]) {
      const [answer] = run(accounts, [{ ...command, id: "other", idempotency }], { keys, posted: known }).answers
      assert.deepStrictEqual(answer !== undefined && Result.isSuccess(answer) && answer.success.movements, known)
    }
  })
})

describe("a key", () => {
  it("is free again in the moment its time ends", () => {
    const idempotency = { tenant_id: "t", operation: "o", key: "k", fingerprint: "f" }
    const word = (millis: number) => {
      const expires_at = new Date(at.getTime() + millis)
      const known = { ...idempotency, command_id: "before", result: null, expires_at }
      return told(run(accounts, [{ id: "c", steps: [transfer(0, 1, 1n)], idempotency }], { keys: [known] }))
    }
    assert.deepStrictEqual([word(1), word(0)], [["replayed"], ["posted"]])
  })
})
