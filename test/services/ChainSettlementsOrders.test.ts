import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Exit, Fiber, Layer, Logger, Option, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { transactionOf } from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { behind, whileOthersHave } from "./LockHarness.ts"
import { another, authorization, chain, order, testLayer, unattended } from "./ChainSettlementsHarness.ts"

const other = "0x3333333333333333333333333333333333333333"
/** The same id, and another receiver or amount. */
const others = (first: ReturnType<typeof order>) => {
  const changed = (change: Partial<Authorization>) => ({
    ...first,
    authorization: { ...first.authorization, ...change }
  })
  return [
    changed({ payTo: other }),
    changed({ asset: other }),
    changed({ payer: other }),
    changed({ nonce: `0x${"7".repeat(64)}` }),
    changed({ network: "base-mainnet" }),
    { ...first, amount: first.amount - 1n }
  ]
}
const paidTo = Effect.fnUntraced(function* (id: string) {
  return Option.getOrThrow(yield* (yield* ChainSettlements).get(id)).authorization.payTo
})

layer(testLayer(), { timeout: "30 seconds" })("under the id of a settlement", (it) => {
  it.effect("another order is refused at once, whatever is known of the first, and moves nothing", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      const unheard = yield* another(unattended)
      const first = order()
      // Kept, and its process died before it asked the chain.
      assert.strictEqual((yield* unheard.settle(first))._tag, "Pending")
      for (const behaviour of ["pending", "settle", "settle"] as const) {
        yield* chain.does(behaviour)
        for (const one of others(first)) {
          assert.strictEqual((yield* Effect.flip(settle(one)))._tag, "SettlesAnother")
        }
        yield* reconcileDue
        yield* TestClock.adjust("2 minutes")
      }
      assert.deepStrictEqual(yield* settle(first), { _tag: "Settled", transaction: transactionOf(first.id) })
      assert.strictEqual(yield* paidTo(first.id), first.authorization.payTo)
    })
  )

  it.effect("the same money signed in another way is the same order", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const { settle } = yield* ChainSettlements
      const first = order()
      const settled = yield* settle(first)
      const again = { ...first.authorization, protocol: "x402v1", validUntil: new Date(600_000), quote: "q" } as const
      assert.deepStrictEqual(yield* settle({ ...first, authorization: again }), settled)
    })
  )

  it.effect("of two orders at once from two processes one is settled, and the other is told so", () =>
    Effect.gen(function* () {
      yield* chain.does("settle")
      const scope = yield* Scope.make()
      const [here, there] = [yield* ChainSettlements, yield* Scope.provide(another(), scope)]
      for (let round = 0; round < 10; round++) {
        const signed = authorization()
        const first = order({ authorization: signed })
        const second = { ...first, authorization: { ...signed, payTo: other } }
        const [one, two] = yield* Effect.all([Effect.exit(here.settle(first)), Effect.exit(there.settle(second))], {
          concurrency: 2
        })
        assert.deepStrictEqual([one, two].filter(Exit.isSuccess).length, 1)
        assert.strictEqual(yield* paidTo(first.id), Exit.isSuccess(one) ? signed.payTo : other)
      }
      yield* Scope.close(scope, Exit.void)
    })
  )
})

layer(testLayer(unattended), { timeout: "30 seconds" })("a rail that is asked", (it) => {
  it.effect("hears whether it was before, what it named then, and since when money may have moved", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      const heard: Array<Settlement> = []
      const transaction = transactionOf("named")
      yield* chain.does((settlement) =>
        Effect.sync(() => {
          heard.push(settlement)
          return { _tag: "Pending", transaction: heard.length < 3 ? transaction : undefined }
        })
      )
      yield* TestClock.adjust("1 hour")
      const since = yield* DateTime.nowAsDate
      yield* settle(order())
      for (let turn = 0; turn < 4; turn++) {
        yield* TestClock.adjust("2 minutes")
        yield* reconcileDue
      }
      const again = { askedBefore: true, transaction, since }
      assert.deepStrictEqual(
        heard.map((one) => ({ askedBefore: one.askedBefore, transaction: one.transaction, since: one.since })),
        [{ askedBefore: false, transaction: undefined, since }, again, again, again]
      )
    })
  )

  it.effect(
    "and says late that money moved which is refused by then is reported; whoever repeats the refusal is not",
    () =>
      Effect.gen(function* () {
        const { get, reconcileDue, settle } = yield* ChainSettlements
        const sql = yield* SqlClient.SqlClient
        const saidLate = Effect.fnUntraced(function* (late: Outcome) {
          const answer = yield* Deferred.make<Outcome>()
          yield* chain.does(() => Deferred.await(answer))
          const wanted = order()
          yield* settle(wanted)
          const lines: Array<string> = []
          const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
          const slow = yield* Effect.forkChild(Effect.provide(reconcileDue, Logger.layer([logger])))
          yield* chain.asked(wanted.id)
          // The lease of a process that stands still ends without it.
          yield* sql`UPDATE chain_settlements SET due_at = 'epoch' WHERE id = ${wanted.id}`
          yield* chain.does("refuse")
          yield* reconcileDue
          yield* Deferred.succeed(answer, late)
          yield* Fiber.join(slow)
          assert.strictEqual(Option.getOrThrow(yield* get(wanted.id)).state, "refused")
          return lines.filter((line) => line.includes("ALERT: a rail contradicts") && line.includes(wanted.id)).length
        })
        assert.strictEqual(yield* saidLate({ _tag: "Settled", transaction: "0x1" }), 1)
        assert.strictEqual(yield* saidLate({ _tag: "Refused", reason: "expired" }), 0)
        assert.strictEqual(yield* saidLate({ _tag: "Pending", transaction: "0x1" }), 0)
      })
  )
})

layer(testLayer(unattended), { timeout: "30 seconds" })("a settlement that keeps the rail waiting", (it) => {
  it.effect("does not keep those waiting that come after it", () =>
    Effect.gen(function* () {
      const { get, settle } = yield* ChainSettlements
      const [hung, next] = [order(), order()]
      const settled = { _tag: "Settled", transaction: transactionOf(next.id) } as const
      yield* chain.does(({ id }) => (id === hung.id ? Effect.never : Effect.succeed(settled)))
      yield* settle(hung)
      yield* Layer.build(ChainSettlements.layerWorker)
      yield* chain.asked(hung.id)
      yield* settle(next)
      const state = Effect.map(get(next.id), (row) => Option.getOrThrow(row).state)
      // The rail is given up after a minute.
      yield* Effect.repeat(Effect.andThen(TestClock.adjust("1 second"), state), {
        until: (now) => now === "confirmed",
        times: 50
      })
      assert.strictEqual(yield* state, "confirmed")
    })
  )
})

layer(testLayer(), { timeout: "30 seconds" })("a caller whose settlement keeps the rail waiting", (it) => {
  it.effect("waits as long as callers do, not as long as the rail is given", () =>
    Effect.gen(function* () {
      yield* chain.does("hang")
      const { settle } = yield* ChainSettlements
      const wanted = order()
      const waiting = yield* Effect.forkChild(settle(wanted))
      yield* chain.asked(wanted.id)
      yield* TestClock.adjust("16 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Pending")
    })
  )
})

layer(testLayer(unattended), { timeout: "60 seconds" })("a settlement that another process has in hand", (it) => {
  it.effect("is left to it, and keeps nobody waiting", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { reconcileDue, settle } = yield* ChainSettlements
      yield* chain.does("settle")
      yield* settle(order())
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* whileOthersHave(sql`SELECT 1 FROM chain_settlements FOR UPDATE`, reconcileDue), 0)
      assert.strictEqual(yield* reconcileDue, 1)
    })
  )

  it.effect("stays as that has found it, whatever the chain says of it here", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, reconcileDue, settle } = yield* ChainSettlements
      const answer = yield* Deferred.make<Outcome>()
      const wanted = order()
      yield* chain.does(() => Deferred.await(answer))
      yield* settle(wanted)
      const asking = yield* Effect.forkChild(reconcileDue)
      yield* chain.asked(wanted.id)
      const confirmed = sql`UPDATE chain_settlements SET state = 'confirmed', transaction = '0x1', concluded_at = due_at
        WHERE id = ${wanted.id}`
      const refused = Deferred.succeed(answer, { _tag: "Refused", reason: "insufficient_funds" })
      const answered = Effect.andThen(refused, Fiber.join(asking))
      assert.isTrue((yield* behind(confirmed, answered)).waited)
      assert.strictEqual(Option.getOrThrow(yield* get(wanted.id)).state, "confirmed")
    })
  )
})
