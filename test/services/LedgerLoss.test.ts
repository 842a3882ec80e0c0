import { assert, layer } from "@effect/vitest"
import { Cause, Context, Deferred, Duration, Effect, Exit, Fiber, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { systemAccount } from "#domain/LedgerAccount.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { Ledger } from "#services/Ledger.ts"
import { LanePolicy } from "#services/Ledger/Lane.ts"
import { newUuid } from "#services/NewId.ts"

const policy = Layer.effectContext(
  Effect.map(LanePolicy, (defaults) =>
    Context.make(LanePolicy, {
      ...defaults,
      groupTimeout: Duration.millis(400),
      commandTimeout: Duration.millis(800),
      reconnect: Duration.millis(10)
    })
  )
)
// What is lost on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const Test = Layer.mergeAll(Ledger.layer, Doctor.layer).pipe(
  Layer.provide(policy),
  Layer.provideMerge(Layer.merge(Postgres.layerTest, quiet))
)

const funded = Effect.fn(function* (amount: bigint) {
  const { open, post } = yield* Ledger
  const id = newUuid()
  yield* open({ id, purpose: "wallet", currency: "USDC" })
  yield* post(transfer(systemAccount("issuance", "USDC"), id, amount))
  return id
})
const transfer = (debit: string, credit: string, amount: bigint) => ({
  id: newUuid(),
  steps: [{ kind: "transfer" as const, debit, credit, amount, currency: "USDC", code: "test" }]
})

// Connections are lost in real time.
layer(Test, { timeout: "60 seconds", excludeTestServices: true })("a ledger that loses its database", (it) => {
  it.effect("posts everything once although its connection is cut again and again", () =>
    Effect.gen(function* () {
      const { account, post } = yield* Ledger
      const { examine } = yield* Doctor
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* funded(1_000_000n), yield* funded(1n)]
      const finished = yield* Deferred.make<void>()
      const cutting = yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'turnpike-ledger' AND datname = current_database()`.pipe(
        Effect.andThen(Effect.timeoutOption(Deferred.await(finished), "15 millis")),
        Effect.repeat({ until: (done) => done._tag === "Some" }),
        Effect.forkChild
      )
      const exits = yield* Effect.forEach(
        Array.from({ length: 2_000 }),
        () => Effect.exit(post(transfer(payer, payee, 1n))),
        { concurrency: 40 }
      )
      yield* Deferred.succeed(finished, undefined)
      yield* Fiber.join(cutting)
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
      const cutting = yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'turnpike-ledger' AND datname = current_database()`.pipe(
        Effect.andThen(Effect.timeoutOption(Deferred.await(finished), "15 millis")),
        Effect.repeat({ until: (done) => done._tag === "Some" }),
        Effect.forkChild
      )
      // The payer has nothing; while 5 are asked of it, it receives 1,000, before or after.
      const rounds = yield* Effect.forEach(
        Array.from({ length: 300 }),
        () =>
          Effect.gen(function* () {
            const payer = newUuid()
            yield* (yield* Ledger).open({ id: payer, purpose: "wallet", currency: "USDC" })
            const command = { ...transfer(payer, payee, 5n), concedes: () => true }
            const [asked] = yield* Effect.all(
              [
                Effect.exit(post(command)),
                Effect.exit(post(transfer(systemAccount("issuance", "USDC"), payer, 1_000n)))
              ],
              { concurrency: 2 }
            )
            return { payer, command, asked }
          }),
        { concurrency: 20 }
      )
      yield* Deferred.succeed(finished, undefined)
      yield* Fiber.join(cutting)
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
      yield* post(transfer(payer, payee, 2n))
      assert.include([3n, 4n], (yield* account(payee)).posted)
    })
  )
})
