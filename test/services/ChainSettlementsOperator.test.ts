import { assert, layer } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Console, Effect, Exit, Logger, Metric, Option, Redacted, Ref, References } from "effect"
import { SqlClient } from "effect/sql"
import { Command } from "effect/cli"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import { ChainSettlements, type Concluded, unresolved as gauge } from "#services/ChainSettlements.ts"
import { UnresolvedOnChain } from "#services/ChainSettlements/UnresolvedOnChain.ts"
import { Database } from "#services/Database.ts"
import { newUuid } from "#services/NewId.ts"
import { settlement } from "../../src/cli/Settlements.ts"
import { authorization, chain, order, testLayer, unattended } from "./ChainSettlementsHarness.ts"

const transaction = `0x${"ab".repeat(32)}`

/** What the operator types after `turnpike settlement`, and the lines that are answered. */
const turnpike = Effect.fnUntraced(function* (...words: ReadonlyArray<string>) {
  const { config } = yield* Database
  const settings = ConfigProvider.fromUnknown({
    DATABASE_URL: config.url === undefined ? "" : Redacted.value(config.url)
  })
  const lines: Array<string> = []
  const log = (...line: ReadonlyArray<unknown>) => void lines.push(line.join(" "))
  const exit = yield* Command.runWith(settlement, { version: "test" })(words).pipe(
    Effect.provideService(Console.Console, { ...globalThis.console, log, error: () => undefined }),
    Effect.provide([NodeServices.layer, ConfigProvider.layer(settings)]),
    Effect.exit
  )
  return { done: Exit.isSuccess(exit), lines }
})

const stateOf = Effect.fnUntraced(function* (id: string) {
  return Option.getOrThrow(yield* (yield* ChainSettlements).get(id)).state
})

/** A settlement that is asked about for an hour of this, and what the log says meanwhile. */
const anHourOf = Effect.fnUntraced(function* (behaviour: "silent" | "unavailable") {
  const { reconcileDue, settle } = yield* ChainSettlements
  const lines: Array<string> = []
  const hearing = Logger.make(({ fiber, message }) => {
    lines.push(JSON.stringify([message, fiber.getRef(References.CurrentLogAnnotations)]))
  })
  yield* chain.does(behaviour)
  const wanted = order()
  const minute = Effect.andThen(TestClock.adjust("1 minute"), reconcileDue)
  yield* Effect.andThen(settle(wanted), Effect.repeat(minute, { times: 59 })).pipe(
    Effect.provideService(Logger.CurrentLoggers, new Set([hearing]))
  )
  return { id: wanted.id, lines }
})

layer(testLayer(unattended), { timeout: "60 seconds" })("a settlement on a chain that nobody answers for", (it) => {
  it.effect("is left to the operator a day after its authorisation ended, and ends with the operator's word", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      const { conclude, resume } = yield* UnresolvedOnChain
      yield* chain.does("silent")
      const wanted = order()
      yield* settle(wanted)
      yield* reconcileDue
      yield* TestClock.adjust("2 days")
      yield* reconcileDue
      assert.strictEqual(yield* stateOf(wanted.id), "unresolved")
      yield* TestClock.adjust("2 days")
      assert.strictEqual(yield* reconcileDue, 0)

      assert.isTrue(yield* resume(wanted.id))
      assert.strictEqual(yield* reconcileDue, 1)
      assert.strictEqual(yield* stateOf(wanted.id), "unknown")
      yield* TestClock.adjust("2 days")
      yield* reconcileDue
      assert.isTrue(yield* conclude(wanted.id, { _tag: "Settled", transaction: "0xabc" }))
      assert.deepStrictEqual(yield* settle(wanted), { _tag: "Settled", transaction: "0xabc" })
      assert.isFalse(yield* conclude(wanted.id, { _tag: "Refused", reason: "changed my mind" }))
      assert.strictEqual(yield* stateOf(wanted.id), "confirmed")
      assert.isFalse(yield* conclude(newUuid(), { _tag: "Refused", reason: "nobody knows it" }))
    })
  )

  it.effect("is told of in the log some ten minutes apart", () =>
    Effect.gen(function* () {
      const { id, lines } = yield* anHourOf("silent")
      const told = lines.filter((line) => new RegExp(`no outcome yet.*"id":"${id}"`).test(line))
      assert.strictEqual(told.length, 6)
    })
  )

  it.effect("is named by every line about a rail that is away", () =>
    Effect.gen(function* () {
      const { id, lines } = yield* anHourOf("unavailable")
      const away = lines.filter((line) => line.includes("The settlement rail gave no answer"))
      assert.isAbove(away.filter((line) => line.includes(`"settlement":"${id}"`)).length, 50)
      assert.deepStrictEqual(
        away.filter((line) => !line.includes('"settlement":')),
        []
      )
    })
  )

  it.effect("is left to the operator after a week, however long its authorisation is valid", () =>
    Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      yield* chain.does("silent")
      for (const validUntil of [new Date(4_102_444_800_000), new Date(253_402_300_799_000)]) {
        const wanted = order({ authorization: authorization({ validUntil }) })
        yield* settle(wanted)
        yield* TestClock.adjust("6 days")
        yield* reconcileDue
        assert.strictEqual(yield* stateOf(wanted.id), "unknown")
        yield* TestClock.adjust("1 day")
        yield* reconcileDue
        assert.strictEqual(yield* stateOf(wanted.id), "unresolved")
      }
    })
  )
})

layer(testLayer(unattended), { timeout: "60 seconds" })(
  "a settlement on a chain that no rail could answer for",
  (it) => {
    const unresolved = Effect.gen(function* () {
      const { reconcileDue, settle } = yield* ChainSettlements
      yield* chain.does("silent")
      const wanted = order()
      yield* settle(wanted)
      yield* reconcileDue
      yield* TestClock.adjust("2 days")
      yield* reconcileDue
      assert.strictEqual(yield* stateOf(wanted.id), "unresolved")
      return wanted
    })

    it.effect("is listed for the operator, who can end it or have it asked again", () =>
      Effect.gen(function* () {
        const [one, two, three] = [yield* unresolved, yield* unresolved, yield* unresolved]
        const { lines } = yield* turnpike("list")
        for (const { id, payment_id } of [one, two, three]) {
          const line = lines.find((text) => text.startsWith(id))
          assert.include(line, `0.01 USDC  `)
          assert.include(line, toTypeId("pay", payment_id ?? ""))
        }
        assert.isFalse((yield* turnpike("complete", one.id, "--reference", "wire 7")).done, "it is no transaction")
        assert.strictEqual(yield* stateOf(one.id), "unresolved")
        assert.isTrue((yield* turnpike("complete", one.id, "--reference", transaction)).done)
        assert.isTrue((yield* turnpike("reject", two.id, "--reason", "rail_error")).done)
        assert.isTrue((yield* turnpike("resume", three.id)).done)
        assert.isFalse((yield* turnpike("resume", three.id)).done)
        assert.isFalse((yield* turnpike("complete", two.id, "--reference", transaction)).done)
        assert.isFalse((yield* turnpike("complete", newUuid(), "--reference", transaction)).done)
        assert.deepInclude(Option.getOrThrow(yield* (yield* ChainSettlements).get(one.id)), {
          state: "confirmed",
          transaction
        })
        assert.deepStrictEqual([yield* stateOf(two.id), yield* stateOf(three.id)], ["refused", "unknown"])
        // The command takes the time from the database; here it is another.
        yield* (yield* SqlClient.SqlClient)`DELETE FROM chain_settlements`
      })
    )

    it.effect("is booked by a server once the operator has ended it", () =>
      Effect.gen(function* () {
        const { id } = yield* unresolved
        assert.isTrue(yield* (yield* UnresolvedOnChain).conclude(id, { _tag: "Settled", transaction }))
        yield* TestClock.adjust("6 seconds")
        const booked = yield* Ref.make<ReadonlyArray<Concluded>>([])
        yield* (yield* ChainSettlements).deliverDue((concluded) => Ref.update(booked, (all) => [...all, concluded]))
        assert.deepStrictEqual(
          (yield* Ref.get(booked)).map(({ id, outcome }) => [id, outcome]),
          [[id, { _tag: "Settled", transaction }]]
        )
      })
    )

    it.effect("is counted for whoever watches", () =>
      Effect.gen(function* () {
        const { countUnresolved } = yield* ChainSettlements
        yield* unresolved
        const { id } = yield* unresolved
        yield* countUnresolved
        assert.strictEqual((yield* Metric.value(gauge)).value, 2)
        yield* (yield* UnresolvedOnChain).resume(id)
        yield* countUnresolved
        assert.strictEqual((yield* Metric.value(gauge)).value, 1)
      })
    )
  }
)
