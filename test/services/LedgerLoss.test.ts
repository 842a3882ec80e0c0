import { assert, layer } from "@effect/vitest"
import { Cause, type Context, Deferred, Duration, Effect, Exit, Fiber, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { newUuid } from "#services/NewId.ts"
import { cutting, issuance, transfer } from "./LedgerHarness.ts"

// What is lost on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const test = (changed: Partial<Context.Service.Shape<typeof LanePolicy>>) =>
  Layer.mergeAll(Ledger.layer, Doctor.layer).pipe(
    Layer.provide(Layer.succeed(LanePolicy, { ...LanePolicy.defaultValue(), ...changed })),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, quiet))
  )
const reconnect = Duration.millis(10)

/** Posts until there is an answer: what nobody holds up may be late as well. */
const answered = (command: ReturnType<typeof transfer>) =>
  Effect.flatMap(Ledger, ({ post }) => Effect.repeat(Effect.exit(post(command)), { until: Exit.isSuccess }))
const funded = Effect.fn(function* (amount: bigint) {
  const id = newUuid()
  yield* (yield* Ledger).open({ id, purpose: "wallet", currency: "USDC" })
  yield* answered(transfer(issuance, id, amount))
  return id
})

// Connections are lost in real time.
layer(test({ reconnect }), { timeout: "60 seconds", excludeTestServices: true })(
  "a ledger that loses its database",
  (it) => {
    it.effect("posts everything once although its connection is cut again and again", () =>
      Effect.gen(function* () {
        const { account, post } = yield* Ledger
        const { examine } = yield* Doctor
        const [payer, payee] = [yield* funded(1_000_000n), yield* funded(1n)]
        const finished = yield* Deferred.make<void>()
        const cut = yield* Effect.forkChild(cutting(finished, "15 millis"))
        const exits = yield* Effect.forEach(
          Array.from({ length: 2_000 }),
          () => Effect.exit(post(transfer(payer, payee, 1n))),
          { concurrency: 40 }
        )
        yield* Deferred.succeed(finished, undefined)
        yield* Fiber.join(cut)
        const acknowledged = exits.filter(Exit.isSuccess).length
        const { posted } = yield* account(payee)
        // An unanswered command may have been posted; an answered one must be, and none twice.
        assert.isAtLeast(Number(posted - 1n), acknowledged)
        assert.isAtMost(Number(posted - 1n), exits.length)
        assert.isAbove(acknowledged, 1_000)
        assert.deepStrictEqual(
          (yield* examine).flatMap((finding) => finding.broken),
          []
        )
      })
    )

    it.effect("keeps a refusal that was an outcome, although money has come before the command is posted again", () =>
      Effect.gen(function* () {
        const { account, post } = yield* Ledger
        const sql = yield* SqlClient.SqlClient
        const payee = yield* funded(1n)
        const finished = yield* Deferred.make<void>()
        const cut = yield* Effect.forkChild(cutting(finished, "15 millis"))
        // The payer has nothing; while 5 are asked of it, it receives 1,000, before or after.
        const rounds = yield* Effect.forEach(
          Array.from({ length: 300 }),
          () =>
            Effect.gen(function* () {
              const payer = newUuid()
              yield* (yield* Ledger).open({ id: payer, purpose: "wallet", currency: "USDC" })
              const command = { ...transfer(payer, payee, 5n), concedes: () => true }
              const [asked] = yield* Effect.all(
                [Effect.exit(post(command)), Effect.exit(post(transfer(issuance, payer, 1_000n)))],
                { concurrency: 2 }
              )
              return { payer, command, asked }
            }),
          { concurrency: 20 }
        )
        yield* Deferred.succeed(finished, undefined)
        yield* Fiber.join(cut)
        let kept = 0
        for (const { asked, command, payer } of rounds) {
          const lines = yield* sql`SELECT kind FROM movements WHERE command_id = ${command.id}`
          const again = yield* post(command)
          if (lines.length > 0) assert.isTrue(again.replayed)
          if (!Exit.isSuccess(asked)) continue
          // Whether it was answered at once or after the connection was lost: what the log says stands.
          const { movements } = asked.value
          const refused = movements[0]?.kind === "refuse"
          assert.deepStrictEqual(lines, [{ kind: refused ? "refuse" : "transfer" }])
          assert.deepStrictEqual(again.movements, movements)
          assert.include(refused ? [0n, 1_000n] : [995n], (yield* account(payer)).posted)
          if (refused) kept++
        }
        assert.isAbove(kept, 50)
      })
    )
  }
)

const hasty = { reconnect, groupTimeout: Duration.seconds(1), commandTimeout: Duration.seconds(2) }
layer(test(hasty), { timeout: "60 seconds", excludeTestServices: true })("a ledger that may not write", (it) => {
  it.effect("waits a bounded time for a lock that somebody else keeps, and says unavailable, not insufficient", () =>
    Effect.gen(function* () {
      const { account, post } = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* funded(10n), yield* funded(1n)]
      const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* sql`SELECT 1 FROM ledger_head FOR UPDATE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(release)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      const exit = yield* Effect.exit(post(transfer(payer, payee, 1n)))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
      yield* answered(transfer(payer, payee, 2n))
      assert.include([3n, 4n], (yield* account(payee)).posted)
    })
  )
})
