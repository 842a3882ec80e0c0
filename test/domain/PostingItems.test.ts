import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Command, Decision, Posted } from "#domain/Command.ts"
import { version } from "#domain/LedgerAccount.ts"
import { account, later, run, transfer } from "./PostingHarness.ts"

const accounts = [account(0), account(1, { posted: 0n }), account(2, { posted: 0n })]
const item = (id: string, from: number, to: number, amount: bigint, over: Partial<Command> = {}): Command => ({
  id,
  steps: [transfer(from, to, amount)],
  ...over
})
const batch = (items: ReadonlyArray<Command>, over: Partial<Command> = {}): Command => ({
  id: "batch",
  steps: [],
  items,
  ...over
})
const word = (answer: Decision["answers"][number]): string => {
  if (Result.isFailure(answer)) return answer.failure._tag
  const { refused, replayed } = answer.success
  return refused === undefined ? (replayed ? "replayed" : "posted") : `kept ${refused._tag}`
}
/** What became of the group, and of each of its items. */
const told = ({ answers: [answer] }: Decision) => {
  assert.isDefined(answer)
  return [word(answer!), Result.isSuccess(answer!) ? (answer.success.items ?? []).map(word) : []]
}
const nothing = { movements: [], accounts: [], holds: [], tallies: [], keys: [] }
const written = ({ answers: _, ...rest }: Decision) => rest
const claim = (key: string, fingerprint = "f") => ({ tenant_id: "t", operation: "o", key, fingerprint })
const ids = ({ command_id, items = [] }: Posted) => ({
  command_id,
  items: items.map((one) => (Result.isSuccess(one) ? one.success.command_id : one.failure._tag))
})

describe("commands in a command", () => {
  it("succeed and fail each for itself", () => {
    const decision = run(accounts, [
      batch([
        item("a", 0, 1, 60n),
        item("b", 0, 1, 60n),
        item("c", 0, 9, 1n),
        item("d", 0, 0, 1n),
        item("e", 0, 1, 40n)
      ])
    ])
    assert.deepStrictEqual(told(decision), [
      "posted",
      ["posted", "INSUFFICIENT_BALANCE", "NOT_FOUND", "SAME_WALLET", "posted"]
    ])
    assert.deepStrictEqual(
      decision.movements.map(({ amount, command_id, seq }) => [seq, command_id, amount]),
      [
        [1n, "a", 60n],
        [2n, "e", 40n]
      ]
    )
  })
  it("see in order what those before them did", () => {
    const decision = run(accounts, [batch([item("a", 0, 1, 10n), item("b", 1, 2, 10n), item("c", 2, 0, 10n)])])
    assert.deepStrictEqual(told(decision), ["posted", ["posted", "posted", "posted"]])
    assert.deepStrictEqual(
      decision.accounts.map(({ posted }) => posted),
      [100n, 0n, 0n]
    )
    const turned = run(accounts, [batch([item("b", 1, 2, 10n), item("a", 0, 1, 10n)])])
    assert.deepStrictEqual(told(turned), ["posted", ["INSUFFICIENT_BALANCE", "posted"]])
  })
  it("are seen by the commands of the group after it", () => {
    const { answers } = run(accounts, [batch([item("a", 0, 1, 90n)]), item("b", 0, 1, 11n), item("c", 1, 2, 90n)])
    assert.deepStrictEqual(answers.map(word), ["posted", "INSUFFICIENT_BALANCE", "posted"])
  })
  it("with several steps leave nothing when the last is refused", () => {
    const steps = [transfer(0, 1, 10n), transfer(0, 1, 91n)]
    assert.deepStrictEqual(written(run(accounts, [batch([{ id: "a", steps }])])), { ...nothing })
  })
  it("may keep their refusals: the line takes its place among the others", () => {
    const concedes = () => true
    const decision = run(accounts, [
      batch([item("a", 0, 1, 1n), item("b", 1, 0, 5n, { concedes }), item("c", 0, 1, 2n)])
    ])
    assert.deepStrictEqual(told(decision), ["posted", ["posted", "kept INSUFFICIENT_BALANCE", "posted"]])
    assert.deepStrictEqual(
      decision.movements.map(({ kind, seq }) => [seq, kind]),
      [
        [1n, "transfer"],
        [2n, "refuse"],
        [3n, "transfer"]
      ]
    )
  })
  it("come after the steps of the whole, and are not begun when it is refused", () => {
    const items = [item("a", 1, 2, 30n), item("b", 0, 1, 71n)]
    const done = run(accounts, [batch(items, { steps: [transfer(0, 1, 30n)] })])
    assert.deepStrictEqual(told(done), ["posted", ["posted", "INSUFFICIENT_BALANCE"]])
    assert.deepStrictEqual(
      done.movements.map(({ command_id, seq }) => [seq, command_id]),
      [
        [1n, "batch"],
        [2n, "a"]
      ]
    )
    const refused = run(accounts, [batch(items, { steps: [transfer(0, 1, 101n)] })])
    assert.deepStrictEqual([told(refused), written(refused)], [["INSUFFICIENT_BALANCE", []], nothing])
    const kept = run(accounts, [batch(items, { steps: [transfer(0, 1, 101n)], concedes: () => true })])
    assert.deepStrictEqual(told(kept), ["kept INSUFFICIENT_BALANCE", []])
    assert.deepStrictEqual(
      kept.movements.map(({ kind }) => kind),
      ["refuse"]
    )
  })
  it("show the result of the whole the accounts after all of them", () => {
    const result = (_: Posted, after: (id: string) => { readonly posted: bigint } | undefined) =>
      String(after("account 0")?.posted)
    const steps = [transfer(0, 1, 30n)]
    const { answers } = run(accounts, [batch([item("a", 0, 2, 5n)], { steps, result })])
    const [answer] = answers
    assert.strictEqual(answer !== undefined && Result.isSuccess(answer) ? answer.success.result : "", "65")
  })
  it("of which there are none is a command that did nothing, and no replay", () => {
    assert.deepStrictEqual(told(run(accounts, [batch([])])), ["posted", []])
  })
})

describe("a command of commands that is posted again", () => {
  const concedes = () => true
  const items = [item("a", 0, 1, 10n), item("b", 1, 0, 500n, { concedes })]
  it("by id is a replay, item by item, and moves nothing", () => {
    const { movements: posted } = run(accounts, [batch(items)])
    const again = run([account(0), account(1, { posted: 1_000n })], [batch(items)], { posted })
    assert.deepStrictEqual(told(again), ["replayed", ["replayed", "replayed"]])
    assert.deepStrictEqual(written(again), nothing)
  })
  it("with anything new in it is none, be it an item or a step of its own", () => {
    const { movements: posted } = run(accounts, [batch(items)])
    const more = run(accounts, [batch([...items, item("c", 0, 1, 1n)])], { posted })
    assert.deepStrictEqual(told(more), ["posted", ["replayed", "replayed", "posted"]])
    const begun = run(accounts, [batch(items, { steps: [transfer(0, 1, 1n)] })], { posted })
    assert.deepStrictEqual(told(begun), ["posted", ["replayed", "replayed"]])
  })
  it("under its fence is superseded, so that what an item could do by now is not tried", () => {
    const fenced = batch([...items, item("c", 1, 0, 500n)], { fences: [{ scope: "batch", expected: 0n }] })
    const { movements: posted, tallies } = run(accounts, [fenced])
    assert.deepStrictEqual(tallies, [{ scope: "batch", subject: version, count: 1n, amount: 0n }])
    const again = run([account(0), account(1, { posted: 1_000n })], [fenced], { posted, tallies })
    assert.deepStrictEqual([told(again), written(again)], [["SUPERSEDED", []], nothing])
  })
  it("under its key is answered what was answered, without a look at any item", () => {
    const keyed = batch(items, { idempotency: claim("k"), result: ids })
    const { keys } = run(accounts, [keyed])
    assert.deepStrictEqual(keys[0]?.result, { command_id: "batch", items: ["a", "b"] })
    const other = { ...keyed, id: "other", items: items.map((one) => ({ ...one, id: `other ${one.id}` })) }
    const again = run([account(0), account(1, { posted: 1_000n })], [other], { keys })
    assert.deepStrictEqual([told(again), written(again)], [["replayed", []], nothing])
    assert.deepInclude(
      again.answers[0] !== undefined && Result.isSuccess(again.answers[0]) ? again.answers[0].success : {},
      {
        command_id: "batch",
        result: keys[0]?.result
      }
    )
  })
  it("under its key with other parameters is refused, and no item is tried", () => {
    const { keys } = run(accounts, [batch(items, { idempotency: claim("k") })])
    const other = batch([item("z", 0, 1, 1n)], { id: "other", idempotency: claim("k", "g") })
    const decision = run(accounts, [other], { keys })
    assert.deepStrictEqual([told(decision), written(decision)], [["IDEMPOTENCY_KEY_REUSED", []], nothing])
  })
  it("under a key whose time is over does everything anew", () => {
    const known = { ...claim("k"), command_id: "before", result: null, expires_at: new Date(0) }
    const decision = run(accounts, [batch(items, { idempotency: claim("k") })], { keys: [known] })
    assert.deepStrictEqual(told(decision), ["posted", ["posted", "kept INSUFFICIENT_BALANCE"]])
    assert.deepInclude(decision.keys[0], { command_id: "batch", expires_at: later })
  })
})

describe("keys of the items of a command", () => {
  it("make a second item of the same key the first one again", () => {
    const decision = run(accounts, [
      batch([
        item("a", 0, 1, 10n, { idempotency: claim("k"), result: ids }),
        item("b", 0, 1, 10n, { idempotency: claim("k"), result: ids })
      ])
    ])
    assert.deepStrictEqual(told(decision), ["posted", ["posted", "replayed"]])
    assert.strictEqual(decision.movements.length, 1)
    assert.deepStrictEqual(decision.keys[0]?.result, { command_id: "a", items: [] })
  })
  it("fail the second item alone when it is another under the same key", () => {
    const decision = run(accounts, [
      batch([
        item("a", 0, 1, 10n, { idempotency: claim("k") }),
        item("b", 0, 1, 11n, { idempotency: claim("k", "g") }),
        item("c", 0, 1, 12n)
      ])
    ])
    assert.deepStrictEqual(told(decision), ["posted", ["posted", "IDEMPOTENCY_KEY_REUSED", "posted"]])
  })
  it("are free again after a refusal, for an item behind it too", () => {
    const decision = run(accounts, [
      batch([
        item("a", 0, 1, 101n, { idempotency: claim("k", "g") }),
        item("b", 0, 1, 11n, { idempotency: claim("k", "f") })
      ])
    ])
    assert.deepStrictEqual(told(decision), ["posted", ["INSUFFICIENT_BALANCE", "posted"]])
    assert.deepStrictEqual(
      decision.keys.map(({ command_id, fingerprint }) => [command_id, fingerprint]),
      [["b", "f"]]
    )
  })
  it("are taken by a refusal that is kept", () => {
    const concedes = () => true
    const decision = run(accounts, [
      batch([
        item("a", 1, 0, 5n, { idempotency: claim("k"), concedes }),
        item("b", 0, 1, 50n),
        item("c", 1, 0, 5n, { idempotency: claim("k"), concedes })
      ])
    ])
    assert.deepStrictEqual(told(decision), ["posted", ["kept INSUFFICIENT_BALANCE", "posted", "replayed"]])
  })
  it("of an earlier command answer for the item, whose group is none the less new", () => {
    const known = { ...claim("k"), command_id: "before", result: "kept", expires_at: later }
    const decision = run(accounts, [batch([item("a", 0, 1, 10n, { idempotency: claim("k") })])], { keys: [known] })
    assert.deepStrictEqual(told(decision), ["posted", ["replayed"]])
    assert.deepStrictEqual(decision.movements, [])
  })
})

describe("fences of the items of a command", () => {
  it("supersede the item alone", () => {
    const fences = [{ scope: "thing", expected: 0n }]
    const decision = run(accounts, [batch([item("a", 0, 1, 1n, { fences }), item("b", 0, 1, 1n, { fences })])])
    assert.deepStrictEqual(told(decision), ["posted", ["posted", "SUPERSEDED"]])
  })
})
