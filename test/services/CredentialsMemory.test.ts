import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Credentials } from "#services/Credentials.ts"
import { credentialMemory, make } from "#services/Credentials/Memory.ts"
import {
  eventually,
  issue,
  locksWaitedFor,
  otherProcess,
  revokeQuietly,
  slowBus,
  tag,
  Test,
  tenant,
  whileLocked
} from "./CredentialsHarness.ts"
import { setClock } from "./SetClock.ts"

layer(Test, { timeout: "60 seconds" })("what Credentials remembers", (it) => {
  it.effect("an answer is remembered for ten seconds and not a moment longer", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const { key, key_id } = yield* tenant()
      yield* revokeQuietly(key_id)
      yield* TestClock.adjust("9999 millis")
      assert.strictEqual(yield* tag(authenticate(key)), "accepted")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(key)), "EXPIRED_API_KEY")
    })
  )

  it.effect("a refusal is made anew: one that was remembered would keep what was on the stack when it was made", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* otherProcess
      const { key, key_id } = yield* tenant()
      yield* revokeQuietly(key_id)
      const refused = Effect.flip(authenticate(key))
      const [first, second] = [yield* refused, yield* refused]
      assert.strictEqual(first._tag, "EXPIRED_API_KEY")
      assert.strictEqual(second._tag, "EXPIRED_API_KEY")
      assert.notStrictEqual(first, second)
    })
  )

  it.effect("being asked again and again does not keep an answer alive", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const { key, key_id } = yield* tenant()
      yield* revokeQuietly(key_id)
      const answers: Array<string> = []
      for (let second = 0; second < 12; second++) {
        yield* TestClock.adjust("1 second")
        answers.push(yield* tag(authenticate(key)))
      }
      assert.strictEqual(answers.indexOf("EXPIRED_API_KEY"), 9)
    })
  )

  it.effect("an answer is remembered for no longer where the time is set back", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      const { key, key_id } = yield* tenant()
      yield* Effect.gen(function* () {
        const { authenticate } = yield* otherProcess
        assert.strictEqual(yield* tag(authenticate(key)), "accepted")
        yield* revokeQuietly(key_id)
        set.by = -3_600_000
        yield* TestClock.adjust("10 seconds")
        assert.strictEqual(yield* tag(authenticate(key)), "EXPIRED_API_KEY")
      }).pipe(Effect.provideService(Clock.Clock, clock))
    })
  )

  it.effect("an answer that took its time is as old as the question", () =>
    Effect.gen(function* () {
      const { key, key_id } = yield* tenant()
      const { authenticate } = yield* otherProcess
      const call = yield* whileLocked(
        Effect.gen(function* () {
          const call = yield* Effect.forkScoped(authenticate(key))
          yield* eventually(locksWaitedFor, (n) => n === 1)
          yield* TestClock.adjust("6 seconds")
          return call
        })
      )
      yield* Fiber.join(call)
      yield* revokeQuietly(key_id)
      yield* TestClock.adjust("3999 millis")
      assert.strictEqual(yield* tag(authenticate(key)), "accepted")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* tag(authenticate(key)), "EXPIRED_API_KEY")
    })
  )

  it.effect("a remembered key, and a refused one, cost no database", () =>
    Effect.gen(function* () {
      const { authenticate } = yield* Credentials
      const { key } = yield* tenant()
      const unknown = `pk_test_${"0".repeat(32)}`
      yield* tag(authenticate(unknown))
      yield* whileLocked(
        Effect.gen(function* () {
          const answers = yield* Effect.all(
            Array.from({ length: 100 }, () => tag(authenticate(key))),
            { concurrency: 100 }
          )
          assert.deepStrictEqual([...new Set(answers)], ["accepted"])
          assert.strictEqual(yield* tag(authenticate(unknown)), "INVALID_API_KEY")
        })
      )
    })
  )

  it.effect("many calls with one new token ask the database once", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* tenant()
      const { authenticate } = yield* otherProcess
      const calls = yield* whileLocked(
        Effect.gen(function* () {
          const calls = yield* Effect.forkScoped(
            Effect.all(
              Array.from({ length: 50 }, () => authenticate(key)),
              { concurrency: 50 }
            )
          )
          yield* eventually(locksWaitedFor, (n) => n !== 0)
          yield* sql`SELECT pg_sleep(0.1)`
          assert.strictEqual(yield* locksWaitedFor, 1)
          return calls
        })
      )
      assert.strictEqual(new Set(yield* Fiber.join(calls)).size, 1)
    })
  )

  it.effect("a revocation is announced though its caller hangs up", () =>
    Effect.gen(function* () {
      const { hangUp, layer: bus } = yield* slowBus
      const { id, key_id } = yield* tenant()
      const built = yield* Layer.build(Layer.fresh(Credentials.layer.pipe(Layer.provide(bus))))
      const { revoke } = yield* Effect.provideContext(Credentials, built)
      assert.strictEqual((yield* hangUp(revoke(id, key_id))).length, 1)
    })
  )

  it.effect("a revocation takes effect here before it is answered, and on another process without waiting", () =>
    Effect.gen(function* () {
      const here = yield* Credentials
      const there = yield* otherProcess
      const { id, key, key_id } = yield* tenant()
      const { key: kept } = yield* issue(id)
      assert.strictEqual(yield* tag(there.authenticate(key)), "accepted")
      yield* here.revoke(id, key_id)
      assert.strictEqual(yield* tag(here.authenticate(key)), "EXPIRED_API_KEY")
      yield* eventually(tag(there.authenticate(key)), (answer) => answer === "EXPIRED_API_KEY")
      assert.strictEqual(yield* tag(there.authenticate(key)), "EXPIRED_API_KEY")
      assert.strictEqual(yield* tag(there.authenticate(kept)), "accepted")
    })
  )

  it.effect("a revocation that was missed while the bus was away is seen when it is back", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const there = yield* otherProcess
      const { key, key_id } = yield* tenant()
      assert.strictEqual(yield* tag(there.authenticate(key)), "accepted")
      yield* revokeQuietly(key_id)
      yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'turnpike-bus' AND datname = current_database()`
      const lapse = Effect.andThen(TestClock.adjust("1 millis"), tag(there.authenticate(key)))
      yield* eventually(lapse, (answer) => answer === "EXPIRED_API_KEY")
      assert.strictEqual(yield* tag(there.authenticate(key)), "EXPIRED_API_KEY")
    })
  )

  it.effect("when the database does not answer nothing is remembered", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { authenticate } = yield* otherProcess
      const { key } = yield* tenant()
      yield* sql`ALTER TABLE credentials RENAME TO elsewhere`
      const broken = yield* Effect.exit(authenticate(key))
      yield* sql`ALTER TABLE elsewhere RENAME TO credentials`
      assert.strictEqual(broken._tag, "Failure")
      assert.strictEqual(yield* tag(authenticate(key)), "accepted")
    })
  )
})

describe("tokens that are nobody's", () => {
  const { capacity, strangers } = credentialMemory

  it.effect("push out none of those that somebody has, and are forgotten for one another", () =>
    Effect.gen(function* () {
      const asked = new Map<string, number>()
      const memory = yield* make((hex) =>
        Effect.sync(() => {
          asked.set(hex, (asked.get(hex) ?? 0) + 1)
          return hex.startsWith("known") ? "somebody" : undefined
        })
      )
      const ask = (kind: string, many: number) =>
        Effect.forEach(
          Array.from({ length: many }, (_, number) => `${kind} ${number}`),
          memory.get,
          { discard: true }
        )
      yield* ask("known", capacity)
      yield* ask("made up", 2 * strangers)
      yield* ask("known", capacity)
      assert.strictEqual(asked.get("known 0"), 1)
      assert.strictEqual(Math.max(...asked.values()), 1)
      yield* memory.get(`made up ${2 * strangers - 1}`)
      assert.strictEqual(asked.get(`made up ${2 * strangers - 1}`), 1)
      yield* memory.get("made up 0")
      assert.strictEqual(asked.get("made up 0"), 2)
    })
  )

  it.effect("are nobody's for ten seconds, and are never remembered as somebody's", () =>
    Effect.gen(function* () {
      let asked = 0
      const memory = yield* make(() => Effect.sync(() => void asked++))
      yield* memory.get("made up")
      yield* TestClock.adjust("9999 millis")
      yield* memory.get("made up")
      assert.deepStrictEqual([asked, yield* memory.has("made up")], [1, false])
      yield* TestClock.adjust("1 millis")
      yield* memory.get("made up")
      assert.strictEqual(asked, 2)
    })
  )
})
