import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { type Command, consultedBy, type Decision, type Step } from "#domain/Command.ts"
import { everyone, type Tally, version } from "#domain/LedgerAccount.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import { flat } from "#domain/Price.ts"
import { account, at, between, later, reserve, run, transfer } from "./PostingHarness.ts"

const [rich, poor, third] = [account(0), account(1, { posted: 0n }), account(2, { posted: 0n })]
const accounts = [rich, poor, third]
const at_ = (count: bigint, scope = "thing"): Tally => ({ scope, subject: version, count, amount: 0n })
const fence = (expected: bigint, scope = "thing") => ({ scope, expected })
const told = ({ answers }: Decision) =>
  answers.map((answer) => {
    if (Result.isFailure(answer)) return answer.failure._tag
    const { refused, replayed } = answer.success
    return refused === undefined ? (replayed ? "replayed" : "posted") : `kept ${refused._tag}`
  })
const nothing = { movements: [], accounts: [], holds: [], tallies: [], keys: [] }
const written = ({ accounts, holds, keys, movements, tallies }: Decision) => ({
  movements,
  accounts,
  holds,
  tallies,
  keys
})

describe("a fence", () => {
  it("lets through who expects its version, and takes it to the next", () => {
    const first = run(accounts, [{ id: "c", steps: [transfer(0, 1, 1n)], fences: [fence(0n)] }])
    assert.deepStrictEqual([told(first), first.tallies], [["posted"], [at_(1n)]])
    const later = run(accounts, [{ id: "c", steps: [transfer(0, 1, 1n)], fences: [fence(7n)] }], { tallies: [at_(7n)] })
    assert.deepStrictEqual([told(later), later.tallies], [["posted"], [at_(1n)]])
  })
  it("that has moved on, or is not there yet, lets nothing through and stays where it is", () => {
    for (const expected of [6n, 8n]) {
      const decision = run(accounts, [{ id: "c", steps: [transfer(0, 1, 1n)], fences: [fence(expected)] }], {
        tallies: [at_(7n)]
      })
      assert.deepStrictEqual([told(decision), written(decision)], [["SUPERSEDED"], nothing])
    }
  })
  it("with an end lets through before that moment and not in it", () => {
    const until = (millis: number) => new Date(at.getTime() + millis)
    const told_ = (end: Date, tallies: ReadonlyArray<Tally> = []) =>
      told(run(accounts, [{ id: "c", steps: [], fences: [{ ...fence(0n), until: end }] }], { tallies }))
    assert.deepStrictEqual(told_(until(1)), ["posted"])
    assert.deepStrictEqual([told_(until(0)), told_(until(-1))], [["SUPERSEDED"], ["SUPERSEDED"]])
    assert.deepStrictEqual(told_(until(1), [at_(1n)]), ["SUPERSEDED"])
  })
  it("names the thing that somebody else changed", () => {
    const [answer] = run(accounts, [{ id: "c", steps: [], fences: [fence(0n, "a"), fence(1n, "b")] }]).answers
    assert.deepInclude(answer !== undefined && Result.isFailure(answer) ? answer.failure : {}, { scope: "b" })
  })
  it("lets one of several commands of a group through, the first", () => {
    const decision = run(
      accounts,
      ["a", "b", "c"].map((id) => ({ id, steps: [transfer(0, 1, 1n)], fences: [fence(0n)] }))
    )
    assert.deepStrictEqual(told(decision), ["posted", "SUPERSEDED", "SUPERSEDED"])
    assert.deepStrictEqual(
      decision.movements.map(({ command_id }) => command_id),
      ["a"]
    )
  })
  it("lets commands of a group through one after the other when each expects what the one before left", () => {
    const decision = run(
      accounts,
      [0n, 1n, 2n].map((expected) => ({ id: `c${expected}`, steps: [], fences: [fence(expected)] }))
    )
    assert.deepStrictEqual([told(decision), decision.tallies], [["posted", "posted", "posted"], [at_(3n)]])
  })
  it("of two things lets through only where both are as expected", () => {
    const command = { id: "c", steps: [], fences: [fence(0n, "a"), fence(5n, "b")] }
    assert.deepStrictEqual(told(run(accounts, [command])), ["SUPERSEDED"])
    const both = run(accounts, [command], { tallies: [at_(5n, "b")] })
    assert.deepStrictEqual([told(both), both.tallies], [["posted"], [at_(1n, "a"), at_(1n, "b")]])
  })
  it("is not moved by a command that is refused behind it", () => {
    const refused = run(accounts, [
      { id: "c", steps: [transfer(0, 1, 101n)], fences: [fence(0n)] },
      { id: "d", steps: [transfer(0, 1, 1n)], fences: [fence(0n)] }
    ])
    assert.deepStrictEqual([told(refused), refused.tallies], [["INSUFFICIENT_BALANCE", "posted"], [at_(1n)]])
  })
  it("needs no money to move, but then posting the same again finds it moved", () => {
    const pause: Command = { id: "c", steps: [], fences: [fence(0n)] }
    const once = run([], [pause])
    assert.deepStrictEqual([told(once), once.movements, once.tallies], [["posted"], [], [at_(1n)]])
    assert.deepStrictEqual(told(run([], [pause], { tallies: once.tallies })), ["SUPERSEDED"])
    assert.deepStrictEqual(told(run([], [pause, pause])), ["posted", "SUPERSEDED"])
  })
  it("is not asked when the command was posted before: what it did stands", () => {
    const command = { id: "c", steps: [transfer(0, 1, 1n)], fences: [fence(0n)] }
    const { movements: posted, tallies } = run(accounts, [command])
    const again = run(accounts, [command], { posted, tallies })
    assert.deepStrictEqual([told(again), written(again)], [["replayed"], nothing])
  })
  it("is not asked when the key is known: the answer is the kept one", () => {
    const idempotency = { tenant_id: "t", operation: "o", key: "k", fingerprint: "f" }
    const known = { ...idempotency, command_id: "before", result: "kept", expires_at: later }
    const again = run(accounts, [{ id: "c", steps: [], fences: [fence(9n)], idempotency }], { keys: [known] })
    assert.deepStrictEqual([told(again), written(again)], [["replayed"], nothing])
  })
  it("keeps the key free of a command that comes too late", () => {
    const idempotency = { tenant_id: "t", operation: "o", key: "k", fingerprint: "f" }
    assert.deepStrictEqual(run(accounts, [{ id: "c", steps: [], fences: [fence(9n)], idempotency }]).keys, [])
  })
})

const isInsufficient = (refusal: PostingRefused) => refusal._tag === "INSUFFICIENT_BALANCE"

describe("a refusal that is an outcome", () => {
  const broke: Command = { id: "c", steps: [transfer(1, 0, 5n)], concedes: isInsufficient }

  it("moves nothing and leaves one line of nothing, with the balances of the time", () => {
    const decision = run([account(0), account(1, { posted: 4n, held: 1n })], [broke])
    assert.deepStrictEqual(told(decision), ["kept INSUFFICIENT_BALANCE"])
    assert.deepStrictEqual(decision.movements, [
      {
        seq: 1n,
        command_id: "c",
        step: 0,
        kind: "refuse",
        debit: 2n,
        credit: 1n,
        amount: 0n,
        debit_posted: 4n,
        debit_held: 1n,
        credit_posted: 100n,
        hold_id: null,
        code: "test",
        created_at: at
      }
    ])
    for (const { held, id, posted } of decision.accounts) {
      assert.deepStrictEqual({ posted, held }, id === rich.id ? { posted: 100n, held: 0n } : { posted: 4n, held: 1n })
    }
  })
  it("stands when the command is posted again, although money has come meanwhile", () => {
    const { movements: posted } = run(accounts, [broke])
    const again = run([account(0), account(1, { posted: 1_000n })], [broke], { posted })
    assert.deepStrictEqual(told(again), ["replayed"])
    assert.deepStrictEqual(written(again), nothing)
    const [answer] = again.answers
    assert.isTrue(
      answer !== undefined &&
        Result.isSuccess(answer) &&
        answer.success.movements.every(({ kind }) => kind === "refuse")
    )
  })
  it("stands within its own group", () => {
    const fund = { id: "f", steps: [transfer(0, 1, 50n)] }
    assert.deepStrictEqual(told(run(accounts, [broke, fund, broke])), [
      "kept INSUFFICIENT_BALANCE",
      "posted",
      "replayed"
    ])
  })
  it("is only what the command concedes; any other leaves nothing", () => {
    const frozen = [account(0), account(1, { frozen: true })]
    for (const [given, command] of [
      [frozen, broke],
      [accounts, { ...broke, concedes: undefined }],
      [accounts, { ...broke, concedes: () => false }]
    ] as const) {
      const decision = run(given, [command])
      assert.match(told(decision)[0] ?? "", /^(WALLET_FROZEN|INSUFFICIENT_BALANCE)$/)
      assert.deepStrictEqual(written(decision), nothing)
    }
  })
  it("needs two accounts that exist and differ, because a line of the log has two sides", () => {
    const all = { id: "c", concedes: () => true }
    assert.deepStrictEqual(told(run(accounts, [{ ...all, steps: [transfer(0, 9, 1n)] }])), ["NOT_FOUND"])
    assert.deepStrictEqual(told(run(accounts, [{ ...all, steps: [transfer(9, 0, 1n)] }])), ["NOT_FOUND"])
    assert.deepStrictEqual(told(run(accounts, [{ ...all, steps: [transfer(0, 0, 1n)] }])), ["SAME_WALLET"])
    assert.deepStrictEqual(
      written(run(accounts, [{ ...all, steps: [transfer(0, 1, 1n), transfer(0, 9, 1n)] }])),
      nothing
    )
  })
  it("at the last of several steps undoes the first ones: money, hold, tally", () => {
    const tally = { scope: "endpoint", subject: "payer" }
    const steps = [
      { kind: "transfer" as const, ...between(0, 2), amount: 60n, tally },
      reserve("h", 0, 2, 10n),
      transfer(0, 1, 31n)
    ]
    const { answers, holds, keys, movements, tallies, ...rest } = run(accounts, [
      { id: "c", steps, concedes: isInsufficient }
    ])
    assert.deepStrictEqual({ holds, keys, tallies }, { holds: [], keys: [], tallies: [] })
    assert.deepStrictEqual(
      movements.map(({ amount, credit, kind, seq, step }) => ({ amount, credit, kind, seq, step })),
      [{ amount: 0n, credit: 2n, kind: "refuse", seq: 1n, step: 0 }]
    )
    assert.deepStrictEqual(
      rest.accounts.map(({ held, posted }) => ({ held, posted })),
      [
        { held: 0n, posted: 100n },
        { held: 0n, posted: 0n }
      ]
    )
    assert.strictEqual(answers.length, 1)
  })
  it("is what follows in the group sees: the money is still there", () => {
    const all = { id: "c", steps: [transfer(0, 1, 60n), transfer(0, 1, 60n)], concedes: isInsufficient }
    const decision = run(accounts, [all, { id: "d", steps: [transfer(0, 1, 100n)] }])
    assert.deepStrictEqual(told(decision), ["kept INSUFFICIENT_BALANCE", "posted"])
    assert.deepStrictEqual(
      decision.movements.map(({ seq }) => seq),
      [1n, 2n]
    )
  })
  it("takes its fences to the next version and keeps its key with what was answered", () => {
    const idempotency = { tenant_id: "t", operation: "o", key: "k", fingerprint: "f" }
    const command = {
      ...broke,
      fences: [fence(3n)],
      idempotency,
      result: ({ refused }: { refused?: unknown }) => refused
    }
    const { keys, tallies } = run(accounts, [command], { tallies: [at_(3n)] })
    assert.deepStrictEqual(tallies, [at_(1n)])
    assert.deepInclude(keys[0]?.result, { _tag: "INSUFFICIENT_BALANCE", required: "0.000005", available: "0.00" })
    const again = run([account(0), account(1)], [{ ...command, id: "other" }], { keys })
    assert.deepStrictEqual([told(again), written(again)], [["replayed"], nothing])
  })
})

describe("a tally", () => {
  it("is consulted only for a price that depends on it", () => {
    const tally = { scope: "s", subject: "payer" }
    const tiered = { base: 7n, tiers: [{ threshold: 1, amount: 5n }] }
    const ended = { ...between(0, 1), hold: "h", tally }
    const held = { kind: "hold" as const, ...ended, expires_at: later }
    const steps: ReadonlyArray<Step> = [
      { ...held, price: tiered },
      { ...held, price: flat(7n) },
      { kind: "capture", ...ended, price: tiered },
      { kind: "capture", ...ended, price: flat(7n) },
      { kind: "capture", ...ended },
      { kind: "count", ...between(0, 1), tally },
      { kind: "transfer", ...between(0, 1), amount: 7n, tally }
    ]
    assert.deepStrictEqual(
      steps.map((step) => consultedBy(step) === tally),
      [true, false, true, false, false, false, false]
    )
  })
  const counted = (subject: string, times = 1) =>
    run(
      accounts,
      Array.from({ length: times }, (_, index) => ({
        id: `c${index}`,
        steps: [{ kind: "transfer" as const, ...between(0, 1), amount: 7n, tally: { scope: "s", subject } }]
      }))
    ).tallies
  it("of one subject counts for everyone too", () => {
    assert.deepStrictEqual(counted("payer", 2), [
      { scope: "s", subject: "payer", count: 2n, amount: 14n },
      { scope: "s", subject: everyone, count: 2n, amount: 14n }
    ])
  })
  it("of everyone counts once", () => {
    assert.deepStrictEqual(counted(everyone, 2), [{ scope: "s", subject: everyone, count: 2n, amount: 14n }])
  })
  it("is a counter of its own beside the version of the same thing", () => {
    const tally = { scope: "s", subject: everyone }
    const { tallies } = run(accounts, [
      {
        id: "c",
        steps: [{ kind: "transfer", ...between(0, 1), amount: 7n, tally }],
        fences: [fence(0n, "s")]
      }
    ])
    assert.deepStrictEqual(tallies, [{ ...tally, count: 1n, amount: 7n }, at_(1n, "s")])
  })
  it("of a step that is refused is not raised, nor is that of a step before it", () => {
    const tally = { scope: "s", subject: "payer" }
    const steps = [{ kind: "count" as const, ...between(0, 1), tally }, transfer(0, 1, 101n)]
    assert.deepStrictEqual(run(accounts, [{ id: "c", steps }]).tallies, [])
    const hold = { id: "h", debit: 1n, credit: 2n, amount: 5n, captured: 0n, state: "open" as const, expires_at: later }
    const capture = { kind: "capture" as const, ...between(0, 1), hold: "h", price: flat(3n), tally }
    const late = run([account(0, { held: 5n }), poor], [{ id: "c", steps: [capture, transfer(0, 1, 101n)] }], {
      holds: [hold]
    })
    assert.deepStrictEqual(written(late), nothing)
  })
})
