import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { formatRate } from "#domain/Rate.ts"
import { setClock } from "../services/SetClock.ts"
import type { Answer } from "./Answering.ts"
import { ratesServer, sourceOf } from "./RateSourceHarness.ts"

/** The moment that virtual time has reached after so many seconds. */
const at = (seconds: number) => new Date(seconds * 1000).toISOString()
const rates = (seconds: number, changed: Record<string, unknown> = {}) => ({
  body: { base: "USD", as_of: at(seconds), rates: { EUR: "0.92", EURC: "0.92", USDC: "1", ...changed } }
})
/** A live server's rates that this server tells, and what was logged. */
const live = Effect.fnUntraced(function* (answers: ReadonlyArray<Answer>, env: Record<string, string> = {}) {
  const server = yield* ratesServer(...answers)
  const source = yield* sourceOf("live", { TURNPIKE_RATES_URL: server.url, ...env })
  const shown = Effect.map(source.mid("USD", "EUR"), formatRate)
  const refused = Effect.map(Effect.flip(source.mid("USD", "EUR")), ({ _tag }) => _tag)
  return { ...server, source, shown, refused }
})

describe("rates of a server by its URL", () => {
  it.effect("are asked for with a GET and the credential, and crossed by way of the dollar", () =>
    Effect.gen(function* () {
      const { source, state } = yield* live([rates(0, { GBP: 0.79 })], { TURNPIKE_RATES_AUTHORIZATION: "Bearer mine" })
      assert.strictEqual(formatRate(yield* source.mid("EUR", "GBP")), "0.85869565")
      assert.strictEqual(formatRate(yield* source.mid("USD", "EURC")), "0.92000000")
      const [question] = state.questions
      assert.strictEqual(`${question?.method} ${question?.path}`, "GET /v1/latest?key=secret")
      assert.strictEqual(question?.headers.authorization, "Bearer mine")
    })
  )

  it.effect("are asked for with the credential as a file of secrets has it, and with none that is no header", () =>
    Effect.gen(function* () {
      const { shown, state, url } = yield* live([rates(0)], { TURNPIKE_RATES_AUTHORIZATION: "Bearer mine\r\n" })
      assert.strictEqual(yield* shown, "0.92000000")
      assert.strictEqual(state.questions[0]?.headers.authorization, "Bearer mine")
      const env = { TURNPIKE_RATES_URL: url, TURNPIKE_RATES_AUTHORIZATION: "Bearer mine\nof today" }
      const refused = String(yield* Effect.flip(sourceOf("live", env)))
      assert.include(refused, "TURNPIKE_RATES_AUTHORIZATION")
      assert.notInclude(refused, "mine")
    })
  )

  it.effect("are asked for once by all who wait, and again after 5 seconds", () =>
    Effect.gen(function* () {
      const { shown, state } = yield* live([rates(0), rates(5, { EUR: "0.93" })])
      const all = yield* Effect.all(
        Array.from({ length: 50 }, () => shown),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(all), new Set(["0.92000000"]))
      yield* TestClock.adjust("4.9 seconds")
      assert.strictEqual(yield* shown, "0.92000000")
      assert.strictEqual(state.questions.length, 1)
      yield* TestClock.adjust("0.2 seconds")
      assert.strictEqual(yield* shown, "0.93000000")
      assert.strictEqual(state.questions.length, 2)
    })
  )

  it.effect("are asked for again after 5 seconds, though the time is set back meanwhile", () =>
    Effect.gen(function* () {
      const { clock, set } = yield* setClock
      set.by = 3_600_000
      yield* Effect.gen(function* () {
        const { refused, shown, state } = yield* live([rates(0), rates(5, { EUR: "0.93" })])
        assert.strictEqual(yield* refused, "RATE_UNAVAILABLE", "by a clock that is an hour ahead they are old")
        set.by = 0
        yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* shown, "0.93000000")
        assert.strictEqual(state.questions.length, 2)
      }).pipe(Effect.provideService(Clock.Clock, clock))
    })
  )

  it.effect("promise nothing when they are older than a minute, or of the future", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      for (const [seconds, usable] of [
        [3540, true],
        [3539.999, false],
        [3660, true],
        [3660.001, false]
      ] as const) {
        const { refused, shown } = yield* live([rates(seconds)])
        assert.strictEqual(yield* usable ? shown : refused, usable ? "0.92000000" : "RATE_UNAVAILABLE", String(seconds))
      }
    })
  )

  it.effect("are as old as the operator allows", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      const env = { TURNPIKE_RATES_MAX_AGE: "10 minutes" }
      assert.strictEqual(yield* (yield* live([rates(3000)], env)).shown, "0.92000000")
      assert.strictEqual(yield* (yield* live([rates(2999)], env)).refused, "RATE_UNAVAILABLE")
    })
  )

  it.effect("count until they are too old while the server is away, and come back with it", () =>
    Effect.gen(function* () {
      const { refused, shown, state } = yield* live([rates(0), { status: 503, body: "busy" }])
      assert.strictEqual(yield* shown, "0.92000000")
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* shown, "0.92000000")
      assert.strictEqual(state.questions.length, 2)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* refused, "RATE_UNAVAILABLE")
      assert.strictEqual(yield* refused, "RATE_UNAVAILABLE")
      assert.strictEqual(state.questions.length, 3, "and it is given its 5 seconds all the same")
      state.answers = [rates(70, { EUR: "0.95" })]
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* shown, "0.95000000")
    })
  )

  it.effect("that never come are given up after 3 seconds", () =>
    Effect.gen(function* () {
      const { asked, refused } = yield* live([{ body: "hang" }])
      const waiting = yield* Effect.forkChild(refused)
      yield* asked
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(yield* Fiber.join(waiting), "RATE_UNAVAILABLE")
    })
  )

  it.effect("that somebody stopped waiting for are there for the next", () =>
    Effect.gen(function* () {
      const { asked, shown, state } = yield* live([{ body: "hang" }, rates(0)])
      const impatient = yield* Effect.forkChild(shown)
      yield* asked
      yield* Fiber.interrupt(impatient)
      assert.strictEqual(yield* shown, "0.92000000")
      assert.strictEqual(state.questions.length, 2)
    })
  )

  const absurd: ReadonlyArray<readonly [string, Answer]> = [
    ["a page", { body: "<html>Welcome</html>" }],
    ["nothing", { body: "" }],
    ["null", { body: "null" }],
    ["a cut connection", { body: "cut" }],
    ["an error with rates", { ...rates(0), status: 500 }],
    ["a redirect", { status: 302, headers: { location: "http://169.254.169.254/" }, body: "" }],
    ["more than fits", { body: { ...rates(0).body, padding: "x".repeat(1_100_000) } }],
    ["another base", { body: { ...rates(0).body, base: "EUR" } }],
    ["no time", { body: { base: "USD", rates: { EUR: "0.92" } } }],
    ["a time without a zone", { body: { ...rates(0).body, as_of: "1970-01-01T00:00:00" } }],
    ["a day that is none", { body: { ...rates(0).body, as_of: "1970-02-30T99:00:00Z" } }],
    ["a time in seconds", { body: { ...rates(0).body, as_of: 0 } }],
    ["rates in a list", { body: { ...rates(0).body, rates: ["0.92"] } }],
    ["none of the currency", rates(0, { EUR: undefined })],
    ["zero", rates(0, { EUR: "0" })],
    ["less than nothing", rates(0, { EUR: -0.92 })],
    ["a number that JSON does not know", { body: JSON.stringify(rates(0).body).replace('"0.92"', "NaN") }],
    ["infinity", { body: JSON.stringify(rates(0).body).replace('"0.92"', "1e999") }],
    ["a rate a thousand times off", rates(0, { EUR: "920000" })],
    ["a rate that is no number", rates(0, { EUR: "about one" })],
    ["an object", rates(0, { EUR: { rate: "0.92" } })],
    ["null for a rate", rates(0, { EUR: null })],
    ["an absurd rate of another currency", rates(0, { BRL: "0" })],
    ["a dollar that is worth two", rates(0, { USD: "2" })]
  ]
  for (const [name, answer] of absurd) {
    it.effect(`are unavailable when the answer is ${name}, and no log shows the address`, () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        const logger = Logger.layer([Logger.make(({ message }) => void lines.push(JSON.stringify(message)))])
        const { refused } = yield* live([answer])
        assert.strictEqual(yield* Effect.provide(refused, logger), "RATE_UNAVAILABLE")
        assert.notMatch(lines.join(), /127\.0\.0\.1|secret|http/)
      })
    )
  }

  it.effect("that are not ours are left out", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* (yield* live([rates(0, { XAU: null, JPY: "157", USD: 1 })])).shown, "0.92000000")
    })
  )
})

describe("where rates come from", () => {
  it.effect("is a table in the sandbox, whatever is set", () =>
    Effect.gen(function* () {
      for (const env of [{}, { TURNPIKE_RATES_URL: "https://rates.example" }]) {
        const source = yield* sourceOf("sandbox", env)
        assert.strictEqual(formatRate(yield* source.mid("USDC", "MXN")), "18.50000000")
      }
    })
  )

  it.effect("is nowhere on a live server that nobody told, which starts all the same", () =>
    Effect.gen(function* () {
      const source = yield* sourceOf("live", {})
      assert.strictEqual((yield* Effect.flip(source.mid("USD", "EUR")))._tag, "RATES_NOT_CONFIGURED")
    })
  )

  it.effect("must be an address that can be asked", () =>
    Effect.gen(function* () {
      for (const url of ["file:///etc/passwd", "rates.example", "ftp://rates.example", "https://me:mine@a.example"]) {
        const refused = yield* Effect.flip(sourceOf("live", { TURNPIKE_RATES_URL: url }))
        assert.include(JSON.stringify(refused), "TURNPIKE_RATES_URL")
        assert.notInclude(JSON.stringify(refused), "mine")
      }
      yield* Effect.flip(sourceOf("live", { TURNPIKE_RATES_URL: "https://a.example", TURNPIKE_RATES_MAX_AGE: "soon" }))
    })
  )
})
