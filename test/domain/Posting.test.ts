import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { available, type Hold, type LedgerAccount } from "#domain/LedgerAccount.ts"
import { maxMicros } from "#domain/Money.ts"
import { type Command, idempotencyName, type Step } from "#domain/Command.ts"
import { decide } from "#domain/Posting.ts"
import { flat } from "#domain/Price.ts"
import { account, at, between, later, reserve, run, transfer } from "./PostingHarness.ts"

const refusal = (accounts: ReadonlyArray<LedgerAccount>, ...steps: ReadonlyArray<Step>) => {
  const [answer] = run(accounts, [{ id: "c", steps }]).answers
  return answer !== undefined && Result.isFailure(answer) ? answer.failure._tag : "posted"
}

describe("a refusal", () => {
  const [rich, poor] = [account(0), account(1, { posted: 0n })]
  it("comes in a fixed order, so one bad command always gets one answer", () => {
    const frozen = account(2, { frozen: true, posted: 0n, currency: "EURC" })
    assert.strictEqual(refusal([frozen], transfer(9, 2, 1n)), "NOT_FOUND")
    assert.strictEqual(refusal([frozen], transfer(2, 2, 1n)), "SAME_WALLET")
    assert.strictEqual(refusal([frozen, rich], transfer(2, 0, 1n)), "CURRENCY_MISMATCH")
    assert.strictEqual(refusal([account(2, { frozen: true, posted: 0n }), rich], transfer(2, 0, 1n)), "WALLET_FROZEN")
    assert.strictEqual(refusal([rich, poor], transfer(1, 0, 1n)), "INSUFFICIENT_BALANCE")
    assert.strictEqual(refusal([rich, account(1, { posted: maxMicros })], transfer(0, 1, 1n)), "AMOUNT_TOO_LARGE")
  })
  it("comes out of no wallet whose key another has, and out of what is no wallet", () => {
    const spent = (is_wallet: boolean) => {
      const commands = [{ id: "c", steps: [transfer(0, 1, 1n)] }]
      return run([account(0, { is_wallet }), account(1)], commands, { custody: "self" }).movements.length
    }
    assert.deepStrictEqual([spent(true), spent(false)], [0, 1])
  })

  it("of a frozen wallet does not keep money from coming in", () => {
    assert.strictEqual(refusal([rich, account(1, { frozen: true })], transfer(0, 1, 1n)), "posted")
  })
  it("counts what is held as spent", () => {
    assert.strictEqual(refusal([account(0, { held: 99n }), poor], transfer(0, 1, 2n)), "INSUFFICIENT_BALANCE")
    assert.strictEqual(refusal([account(0, { held: 99n }), poor], reserve("h", 0, 1, 2n)), "INSUFFICIENT_BALANCE")
  })
  it("of money that is made comes before more would be owed than an account can say", () => {
    const issuance = (posted: bigint) => account(0, { may_overdraw: true, posted })
    assert.strictEqual(refusal([issuance(1n - maxMicros), poor], transfer(0, 1, 1n)), "posted")
    assert.strictEqual(refusal([issuance(-maxMicros), poor], transfer(0, 1, 1n)), "INSUFFICIENT_BALANCE")
  })
  it("of a hold that is over says how it ended", () => {
    const over: Hold = { id: "h", debit: 1n, credit: 2n, amount: 5n, captured: 0n, state: "expired", expires_at: later }
    const capture: Step = { kind: "capture", ...between(0, 1), hold: "h" }
    const [answer] = run([rich, poor], [{ id: "c", steps: [capture] }], { holds: [over] }).answers
    assert.deepInclude(answer !== undefined && Result.isFailure(answer) ? answer.failure : {}, {
      _tag: "HOLD_NOT_OPEN",
      state: "expired"
    })
  })
  it("keeps a hold to the two accounts it was made for", () => {
    const hold: Hold = { id: "h", debit: 1n, credit: 2n, amount: 5n, captured: 0n, state: "open", expires_at: later }
    const capture: Step = { kind: "capture", ...between(0, 2), hold: "h" }
    const [answer] = run([rich, poor, account(2)], [{ id: "c", steps: [capture] }], { holds: [hold] }).answers
    assert.isTrue(answer !== undefined && Result.isFailure(answer) && answer.failure._tag === "NOT_FOUND")
  })
})

describe("an idempotency claim", () => {
  it("of an operation is none of a longer one with a shorter key", () => {
    const claim = { tenant_id: "t", fingerprint: "f" }
    const program = { ...claim, operation: "transfers.create", key: "agent k" }
    const agent = { ...claim, operation: "transfers.create agent", key: "k" }
    assert.notStrictEqual(idempotencyName(program), idempotencyName(agent))
    const claims = [program, agent].map(
      (idempotency, index): Command => ({ id: `c${index}`, steps: [transfer(0, 1, 1n)], idempotency })
    )
    const { answers } = run([account(0), account(1)], claims)
    assert.deepStrictEqual(
      answers.map((answer) => Result.isSuccess(answer) && answer.success.replayed),
      [false, false]
    )
  })
})

describe("a capture", () => {
  const accounts = [account(0, { held: 10n }), account(1)]
  const hold: Hold = { id: "h", debit: 1n, credit: 2n, amount: 10n, captured: 0n, state: "open", expires_at: later }
  const captured = (price?: bigint) => {
    const step: Step = {
      kind: "capture",
      ...between(0, 1),
      hold: "h",
      ...(price === undefined ? {} : { price: flat(price) })
    }
    return run(accounts, [{ id: "c", steps: [step] }], { holds: [hold] })
  }
  it("takes all that is held when no price is named", () => {
    assert.deepStrictEqual(
      captured().accounts.map(({ held, posted }) => ({ held, posted })),
      [
        { held: 0n, posted: 90n },
        { held: 0n, posted: 110n }
      ]
    )
  })
  it("never takes more than is held, whatever the price became", () => {
    assert.strictEqual(captured(11n).movements[0]?.amount, 10n)
  })
  it("that its receiver could not hold is refused, and what was held stays held", () => {
    const full = [account(0, { held: 10n }), account(1, { posted: maxMicros - 9n })]
    const step: Step = { kind: "capture", ...between(0, 1), hold: "h" }
    const { answers, movements } = run(full, [{ id: "c", steps: [step] }], { holds: [hold] })
    assert.deepStrictEqual(
      answers.map((answer) => Result.isFailure(answer) && answer.failure._tag),
      ["AMOUNT_TOO_LARGE"]
    )
    assert.deepStrictEqual(movements, [])
  })
  it("is the only one of its hold, also among commands of one group that come after the hold itself", () => {
    const capture: Step = { kind: "capture", ...between(0, 1), hold: "new" }
    const { accounts, answers } = run(
      [account(0), account(1)],
      [
        { id: "hold", steps: [reserve("new", 0, 1, 10n)] },
        { id: "first", steps: [capture] },
        { id: "second", steps: [capture] }
      ]
    )
    assert.deepStrictEqual(
      answers.map((answer) => (Result.isFailure(answer) ? answer.failure._tag : "posted")),
      ["posted", "posted", "HOLD_NOT_OPEN"]
    )
    assert.deepStrictEqual(
      accounts.map(({ held, posted }) => [posted, held]),
      [
        [90n, 0n],
        [110n, 0n]
      ]
    )
  })
  it("of nothing gives everything back", () => {
    const { holds, movements } = captured(0n)
    assert.strictEqual(movements[0]?.kind, "release")
    assert.strictEqual(holds[0]?.state, "released")
  })
})

describe("a fee", () => {
  it("is a share of the step before it, rounded down, and none at all below one micro-unit", () => {
    const share: Step = { kind: "fee", ...between(1, 2), basis_points: 290 }
    const accounts = [account(0, { posted: 1_000n }), account(1, { posted: 0n }), account(2, { posted: 0n })]
    const fee = (amount: bigint) =>
      run(accounts, [{ id: "c", steps: [transfer(0, 1, amount), share] }]).movements[1]?.amount
    assert.strictEqual(fee(1_000n), 29n)
    assert.strictEqual(fee(99n), 2n)
    assert.isUndefined(fee(34n))
  })
  it("is not taken from a capture that turned out to be free", () => {
    const hold: Hold = { id: "h", debit: 1n, credit: 2n, amount: 50n, captured: 0n, state: "open", expires_at: later }
    const steps: ReadonlyArray<Step> = [
      { kind: "capture", ...between(0, 1), hold: "h", price: flat(0n) },
      { kind: "fee", ...between(1, 2), basis_points: 10_000 }
    ]
    const { movements } = run([account(0, { held: 50n }), account(1), account(2)], [{ id: "c", steps }], {
      holds: [hold]
    })
    assert.deepStrictEqual(
      movements.map(({ kind }) => kind),
      ["release"]
    )
  })
})

const Move = Schema.Struct({
  kind: Schema.Literals(["transfer", "hold", "capture", "release"]),
  debit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  credit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })),
  amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 })),
  hold: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 }))
})
const toStep = (move: typeof Move.Type, serial: number): Step => {
  const sides = between(move.debit, move.credit)
  switch (move.kind) {
    case "transfer":
      return { kind: "transfer", ...sides, amount: BigInt(move.amount) }
    case "hold":
      return reserve(`hold ${serial}`, move.debit, move.credit, BigInt(move.amount))
    case "capture":
      return { kind: "capture", ...sides, hold: `hold ${move.hold}`, price: flat(BigInt(move.amount)) }
    case "release":
      return { kind: "release", ...sides, hold: `hold ${move.hold}`, as: "released" }
  }
}

describe("any sequence of commands", () => {
  const start = [0, 1, 2, 3].map((index) => account(index))

  it.prop(
    "creates no money, spends none twice, and writes a log that explains every balance",
    { moves: Schema.Array(Move) },
    ({ moves }) => {
      const commands = moves.map((move, index): Command => ({ id: `c${index}`, steps: [toStep(move, index)] }))
      const { accounts, answers, holds, movements } = run(start, commands)
      const final = start.map((one) => accounts.find(({ id }) => id === one.id) ?? one)
      assert.strictEqual(
        final.reduce((sum, one) => sum + one.posted, 0n),
        400n
      )
      for (const one of final) {
        assert.isTrue(available(one) >= 0n && one.held >= 0n)
        const open = holds.filter((hold) => hold.debit === one.key && hold.state === "open")
        assert.strictEqual(
          one.held,
          open.reduce((sum, hold) => sum + hold.amount, 0n)
        )
        const moved = movements.filter(({ kind }) => kind === "transfer" || kind === "capture")
        const change = moved.reduce(
          (sum, { amount, credit, debit }) =>
            sum + (credit === one.key ? amount : 0n) - (debit === one.key ? amount : 0n),
          0n
        )
        assert.strictEqual(one.posted, 100n + change)
      }
      assert.deepStrictEqual(
        movements.map(({ seq }) => seq),
        movements.map((_, index) => BigInt(index + 1))
      )
      assert.strictEqual(answers.filter(Result.isSuccess).length, movements.length)
    }
  )

  it.prop(
    "ends the same whether it is posted as one group or one by one",
    { moves: Schema.Array(Move) },
    ({ moves }) => {
      const commands = moves.map((move, index): Command => ({ id: `c${index}`, steps: [toStep(move, index)] }))
      const together = run(start, commands)
      let accounts = start
      let holds: ReadonlyArray<Hold> = []
      const alone = commands.map((command) => {
        const one = decide(
          { accounts, holds, keys: [], tallies: [], posted: [], seq: 0n, at, keysExpireAt: later, custody: "operator" },
          [command]
        )
        accounts = accounts.map((before) => one.accounts.find(({ id }) => id === before.id) ?? before)
        holds = [...holds.filter((hold) => !one.holds.some(({ id }) => id === hold.id)), ...one.holds]
        return one.answers.map(Result.isSuccess)
      })
      assert.deepStrictEqual(alone.flat(), together.answers.map(Result.isSuccess))
      assert.deepStrictEqual(
        accounts,
        start.map((one) => together.accounts.find(({ id }) => id === one.id) ?? one)
      )
    }
  )

  it.prop("posted again with the same ids moves nothing", { moves: Schema.Array(Move) }, ({ moves }) => {
    const commands = moves.map((move, index): Command => ({ id: `c${index}`, steps: [toStep(move, index)] }))
    const first = run(start, commands)
    const done = commands.filter((_, index) => {
      const answer = first.answers[index]
      return answer !== undefined && Result.isSuccess(answer)
    })
    const again = decide(
      {
        accounts: start,
        holds: [],
        keys: [],
        tallies: [],
        posted: first.movements,
        seq: 0n,
        at,
        keysExpireAt: later,
        custody: "operator"
      },
      done
    )
    assert.deepStrictEqual(again.movements, [])
    assert.isTrue(again.answers.every((answer) => Result.isSuccess(answer) && answer.success.replayed))
  })
})
