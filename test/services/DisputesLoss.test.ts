import { assert, layer } from "@effect/vitest"
import { Cause, Deferred, Duration, Effect, Exit, Fiber, Layer, References } from "effect"
import { TestClock } from "effect/testing"
import * as Postgres from "#layers/Postgres.ts"
import { Disputes } from "#services/Disputes.ts"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { Refunds } from "#services/Refunds.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { cutting } from "./LedgerHarness.ts"
import { available, disputeOf, empty, hundred, paid, refundOf, sound } from "./RefundsHarness.ts"

const piece = { type: "a", description: "b" }
const verdict = { resolution: "full_refund", refund_amount: undefined, notes: null } as const

const policy = Layer.succeed(LanePolicy, { ...LanePolicy.defaultValue(), reconnect: Duration.millis(10) })
// What is lost on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const Test = Layer.mergeAll(Refunds.layer, Disputes.layer, Transfers.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(Ledger.layer.pipe(Layer.provide(policy))),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, quiet))
)

/** A ledger whose first answer to every fenced command is lost: it posts again by itself, as after a connection that was cut. */
const forgetful = Layer.effect(
  Ledger,
  Effect.map(Ledger, (ledger) => {
    const post = (command: LedgerCommand) =>
      command.fences === undefined
        ? ledger.post(command)
        : Effect.andThen(Effect.exit(ledger.post(command)), ledger.post(command))
    return Ledger.of({
      ...ledger,
      post: post as Ledger["Service"]["post"]
    })
  })
)
const Forgetful = Layer.mergeAll(Refunds.layer, Disputes.layer, Transfers.layer).pipe(
  Layer.provideMerge(Wallets.layer),
  Layer.provideMerge(forgetful.pipe(Layer.provide(Ledger.layer))),
  Layer.provideMerge(Postgres.layerTest)
)

layer(Forgetful, { timeout: "60 seconds" })("disputes and refunds whose answer is lost on its way", (it) => {
  for (const key of [undefined, "k"]) {
    it.effect(`are made once, and answered as what they are (${key === undefined ? "no key" : "with keys"})`, () =>
      Effect.gen(function* () {
        const disputes = yield* Disputes
        const refunds = yield* Refunds
        const { caller, id, payer, receiver } = yield* paid
        const claim = (operation: string) =>
          key && { tenant_id: caller.tenant_id, operation, key, fingerprint: operation }
        const first = yield* refunds.create(caller, refundOf(id, 1n), claim("refund") || undefined)
        assert.deepStrictEqual(first, { refund: yield* refunds.get(caller, first.refund.id), replayed: false })
        const opened = yield* disputes.open(caller, disputeOf(id), claim("open") || undefined)
        const { id: dp } = opened.dispute
        assert.deepStrictEqual(opened, { dispute: yield* disputes.get(caller, dp), replayed: false })
        const added = yield* disputes.addEvidence(caller, dp, [piece], claim("evidence") || undefined)
        assert.deepStrictEqual(added, { dispute: yield* disputes.get(caller, dp), replayed: false })
        const answer = { response: "no", counter_evidence: [] }
        const answered = yield* disputes.respond(caller, dp, answer, claim("respond") || undefined)
        assert.deepStrictEqual(answered, { dispute: yield* disputes.get(caller, dp), replayed: false })
        assert.strictEqual(answered.dispute.status, "under_review")
        const escalated = yield* disputes.escalate(caller, dp, null, claim("escalate") || undefined)
        assert.deepStrictEqual(escalated, { dispute: yield* disputes.get(caller, dp), replayed: false })
        assert.strictEqual(escalated.dispute.status, "escalated")
        const giveBack = yield* empty(caller, receiver)
        const lacking = yield* Effect.flip(disputes.resolve(caller, dp, verdict))
        assert.strictEqual(lacking._tag, "INSUFFICIENT_BALANCE")
        yield* giveBack(hundred - 1n)
        const ended = yield* disputes.resolve(caller, dp, verdict, claim("resolve") || undefined)
        assert.deepStrictEqual(ended, { dispute: yield* disputes.get(caller, dp), replayed: false })
        assert.strictEqual(ended.dispute.evidence.length, 1)
        assert.strictEqual(yield* available(caller, payer), hundred)
        yield* sound
      })
    )
  }

  it.effect("are resolved by themselves once, and a refund that cannot be paid is kept once and paid once", () =>
    Effect.gen(function* () {
      const disputes = yield* Disputes
      const refunds = yield* Refunds
      const { caller, id, payer, receiver } = yield* paid
      const { dispute } = yield* disputes.open(caller, disputeOf(id))
      const giveBack = yield* empty(caller, receiver)
      yield* TestClock.adjust("30 days")
      yield* disputes.resolveDue
      const ended = yield* disputes.get(caller, dispute.id)
      assert.deepInclude(ended, { status: "resolved", resolution: "full_refund" })
      yield* giveBack(hundred)
      yield* TestClock.adjust("1 hour")
      yield* refunds.retryDue
      const kept = yield* refunds.list(caller, {}, { limit: 10 })
      assert.deepStrictEqual(
        kept.map(({ id, status }) => [id, status]),
        [[ended.refund_id, "completed"]]
      )
      assert.strictEqual(yield* available(caller, payer), hundred)
      yield* sound
    })
  )
})

// Connections are lost in real time.
layer(Test, { timeout: "60 seconds", excludeTestServices: true })(
  "disputes and refunds on a connection that is cut",
  (it) => {
    it.effect("know what they have done: no step is refused because it was made before, and none is made twice", () =>
      Effect.gen(function* () {
        const disputes = yield* Disputes
        const refunds = yield* Refunds
        const bought = yield* Effect.all(
          Array.from({ length: 40 }, () => paid),
          { concurrency: 20 }
        )
        const finished = yield* Deferred.make<void>()
        const cut = yield* Effect.forkChild(cutting(finished, "70 millis"))
        const story = Effect.fnUntraced(function* ({ caller, id }: (typeof bought)[number]) {
          yield* refunds.create(caller, refundOf(id, 1n))
          const { dispute } = yield* disputes.open(caller, disputeOf(id))
          yield* disputes.addEvidence(caller, dispute.id, [piece])
          yield* disputes.respond(caller, dispute.id, { response: "no", counter_evidence: [] })
          yield* disputes.escalate(caller, dispute.id, null)
          return (yield* disputes.resolve(caller, dispute.id, verdict)).dispute
        })
        const exits = yield* Effect.forEach(bought, (one) => Effect.exit(story(one)), { concurrency: 20 })
        yield* Deferred.succeed(finished, undefined)
        yield* Fiber.join(cut)
        for (const [index, exit] of exits.entries()) {
          if (Exit.isFailure(exit)) {
            // Who got no answer does not know; nobody is told that it was not possible.
            assert.isFalse(Cause.hasFails(exit.cause), Cause.pretty(exit.cause))
            continue
          }
          assert.strictEqual(exit.value.evidence.length, 1)
          const { caller, payer } = bought[index]!
          assert.strictEqual(yield* available(caller, payer), hundred)
        }
        assert.isAbove(exits.filter(Exit.isSuccess).length, 10)
        yield* sound
      })
    )
  }
)
