import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { version } from "#domain/LedgerAccount.ts"
import type { PostingRefused } from "#domain/PostingRefused.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Doctor } from "#services/Doctor.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import { columnar } from "#services/Ledger/Companion.ts"
import { OID } from "#services/Database/Pipeline.ts"
import { newUuid } from "#services/NewId.ts"
import { balance, issuance, transfer, wallet } from "./LedgerHarness.ts"

/** A second process over the same database. */
class Other extends Context.Service<Other, Ledger["Service"]>()("turnpike/test/services/LedgerFences.test/Other") {}
const other = Layer.effect(
  Other,
  Effect.map(Layer.build(Layer.fresh(Ledger.layer)), (context) => Context.get(context, Ledger))
)
const Test = Layer.mergeAll(Ledger.layer, other, EventLog.layer, Doctor.layer).pipe(
  Layer.provideMerge(Postgres.layerTest)
)

const isInsufficient = (refusal: PostingRefused) => refusal._tag === "INSUFFICIENT_BALANCE"
const winners = columnar<{ scope: string; winner: string }>(
  [
    ["scope", OID.uuidArray],
    ["winner", OID.textArray]
  ],
  (rows, names) => `INSERT INTO winners (${names}) SELECT * FROM ${rows}`
)
const winnersTable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS winners (scope uuid, winner text)`
})

layer(Test, { timeout: "60 seconds" })("fences", (it) => {
  it.effect("let one of two processes through, 200 times, with its row and its event", () =>
    Effect.gen(function* () {
      yield* winnersTable
      const sql = yield* SqlClient.SqlClient
      const processes = [
        ["one", yield* Ledger],
        ["other", yield* Other]
      ] as const
      const { tally } = yield* Ledger
      const [payer, payee] = [yield* wallet(1_000n), yield* wallet()]
      const tenant_id = newUuid()
      const rounds = yield* Effect.forEach(
        Array.from({ length: 200 }, () => newUuid()),
        (scope) =>
          Effect.forEach(
            processes,
            ([winner, { post }]) =>
              Effect.result(
                post({
                  ...transfer(payer, payee, 1n),
                  fences: [{ scope, expected: 0n }],
                  rows: () => [winners.of({ scope, winner })],
                  events: () => [{ tenant_id, type: "x402.endpoint.updated" as const, data: { winner } }]
                })
              ),
            { concurrency: 2 }
          ),
        { concurrency: 8 }
      )
      for (const answers of rounds) {
        const lost = answers.filter(Result.isFailure).map(({ failure }) => failure._tag)
        assert.deepStrictEqual(lost, ["SUPERSEDED"])
      }
      assert.deepStrictEqual(yield* balance(payee), { posted: 200n, held: 0n })
      assert.deepStrictEqual(
        yield* sql`SELECT count(*)::int AS rows, count(DISTINCT scope)::int AS scopes FROM winners`,
        [{ rows: 200, scopes: 200 }]
      )
      assert.deepStrictEqual(yield* sql`SELECT count(*)::int AS n FROM events WHERE tenant_id = ${tenant_id}`, [
        { n: 200 }
      ])
      const scopes = yield* sql`SELECT scope FROM winners LIMIT 1`
      assert.strictEqual((yield* tally(String(scopes[0]?.["scope"]), version)).count, 1n)
    })
  )

  it.effect("count every change once when two processes read, decide and try again", () =>
    Effect.gen(function* () {
      const processes = [yield* Ledger, yield* Other]
      const scope = newUuid()
      const change = (ledger: Ledger["Service"]): Effect.Effect<number, PostingRefused> =>
        Effect.gen(function* () {
          const { count } = yield* ledger.tally(scope, version)
          const done = yield* Effect.result(
            ledger.post({ id: newUuid(), steps: [], fences: [{ scope, expected: count }] })
          )
          if (Result.isSuccess(done)) return 0
          return done.failure._tag === "SUPERSEDED" ? 1 + (yield* change(ledger)) : yield* Effect.fail(done.failure)
        })
      yield* Effect.forEach(Array.from({ length: 20 }, () => processes).flat(), change, { concurrency: 4 })
      assert.strictEqual((yield* (yield* Ledger).tally(scope, version)).count, 40n)
    })
  )

  it.effect("without steps write their rows and events once", () =>
    Effect.gen(function* () {
      yield* winnersTable
      const { post } = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const [scope, tenant_id] = [newUuid(), newUuid()]
      const pause = {
        id: newUuid(),
        steps: [],
        fences: [{ scope, expected: 0n }],
        rows: () => [winners.of({ scope, winner: "pause" })],
        events: () => [{ tenant_id, type: "x402.endpoint.updated" as const, data: {} }]
      }
      yield* post(pause)
      assert.strictEqual((yield* Effect.flip(post(pause)))._tag, "SUPERSEDED")
      assert.strictEqual((yield* sql`SELECT 1 FROM winners WHERE scope = ${scope}`).length, 1)
      assert.strictEqual((yield* sql`SELECT 1 FROM events WHERE tenant_id = ${tenant_id}`).length, 1)
    })
  )
})

layer(Test, { timeout: "60 seconds" })("refusals that are outcomes", (it) => {
  it.effect("stay so, in every process, although money has come meanwhile", () =>
    Effect.gen(function* () {
      const [{ post }, second] = [yield* Ledger, yield* Other]
      const [payer, payee] = [yield* wallet(4n), yield* wallet()]
      const command = { ...transfer(payer, payee, 5n), concedes: isInsufficient }
      const { movements, refused } = yield* post(command)
      assert.deepStrictEqual([refused?._tag, movements.map(({ kind }) => kind)], ["INSUFFICIENT_BALANCE", ["refuse"]])
      yield* post(transfer(issuance, payer, 100n))
      for (const again of [yield* post(command), yield* second.post(command)]) {
        assert.deepInclude(again, { replayed: true, movements })
      }
      assert.deepStrictEqual(yield* balance(payer), { posted: 104n, held: 0n })
    })
  )

  it.effect("commit their rows and events; those of other refusals do not exist", () =>
    Effect.gen(function* () {
      yield* winnersTable
      const { post, setFrozen } = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* wallet(4n), yield* wallet()]
      const [scope, tenant_id] = [newUuid(), newUuid()]
      const command = () => ({
        ...transfer(payer, payee, 5n),
        concedes: isInsufficient,
        fences: [{ scope, expected: 0n }],
        rows: () => [winners.of({ scope, winner: "failed" })],
        events: () => [{ tenant_id, type: "x402.endpoint.updated" as const, data: {} }]
      })
      const stored = Effect.all([
        sql`SELECT 1 AS one FROM winners WHERE scope = ${scope}`,
        sql`SELECT 1 AS one FROM events WHERE tenant_id = ${tenant_id}`,
        sql`SELECT 1 AS one FROM tallies WHERE scope = ${scope}`
      ])
      yield* setFrozen(payer, true)
      const frozen = command()
      assert.strictEqual((yield* Effect.flip(post(frozen)))._tag, "WALLET_FROZEN")
      assert.deepStrictEqual(yield* stored, [[], [], []])
      assert.deepStrictEqual(yield* sql`SELECT 1 AS one FROM movements WHERE command_id = ${frozen.id}`, [])
      yield* setFrozen(payer, false)
      yield* post(command())
      assert.deepStrictEqual(yield* stored, [[{ one: 1 }], [{ one: 1 }], [{ one: 1 }]])
    })
  )
})

layer(Test, { timeout: "60 seconds" })("a command of 1,000 commands", (it) => {
  const thousand = (payer: string, payee: string, tenant_id: string, scope: string) => ({
    id: newUuid(),
    steps: [],
    fences: [{ scope, expected: 0n }],
    items: Array.from({ length: 1_000 }, (_, index) => ({
      ...(index % 10 === 9 ? transfer(payee, newUuid(), 1n) : transfer(payer, payee, BigInt(index + 1))),
      concedes: isInsufficient,
      events: () => [{ tenant_id, type: "x402.endpoint.updated" as const, data: { index } }]
    })),
    events: () => [{ tenant_id, type: "x402.endpoint.updated" as const, data: {} }]
  })
  /** What 1 + 2 + … comes to without every tenth. */
  const sum = Array.from({ length: 1_000 }, (_, index) => index + 1)
    .filter((amount) => amount % 10 !== 0)
    .reduce((total, amount) => total + amount, 0)

  it.effect("is one group: what can be done is done in order, what cannot fails alone, events in order", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const sql = yield* SqlClient.SqlClient
      const [payer, payee] = [yield* wallet(BigInt(sum)), yield* wallet()]
      const tenant_id = newUuid()
      const { items = [] } = yield* post(thousand(payer, payee, tenant_id, newUuid()))
      const tags = items.map((item) => (Result.isSuccess(item) ? "posted" : item.failure._tag))
      assert.deepStrictEqual(
        tags,
        tags.map((_, index) => (index % 10 === 9 ? "NOT_FOUND" : "posted"))
      )
      assert.deepStrictEqual(yield* balance(payer), { posted: 0n, held: 0n })
      const events = yield* sql`SELECT type, (data ->> 'index')::int AS index FROM events
        WHERE tenant_id = ${tenant_id} ORDER BY seq`
      assert.deepStrictEqual(
        events.map(({ index }) => index),
        [...tags.flatMap((tag, index) => (tag === "posted" ? [index] : [])), null]
      )
    })
  )

  it.effect("of which the money covers some keeps the others as refused", () =>
    Effect.gen(function* () {
      const { post } = yield* Ledger
      const [payer, payee] = [yield* wallet(10n), yield* wallet()]
      const { items = [] } = yield* post(thousand(payer, payee, newUuid(), newUuid()))
      const kept = items.filter((item) => Result.isSuccess(item) && item.success.refused !== undefined)
      assert.deepStrictEqual([items.length, kept.length], [1_000, 896])
      assert.deepStrictEqual(yield* balance(payer), { posted: 0n, held: 0n })
    })
  )

  it.effect("at once in two processes is done once", () =>
    Effect.gen(function* () {
      const [{ post }, second] = [yield* Ledger, yield* Other]
      const [payer, payee] = [yield* wallet(BigInt(2 * sum)), yield* wallet()]
      const command = thousand(payer, payee, newUuid(), newUuid())
      const exits = yield* Effect.all(
        [post, second.post, post, second.post].map((one) => Effect.exit(one(command))),
        { concurrency: 4 }
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.deepStrictEqual(yield* balance(payee), { posted: BigInt(sum), held: 0n })
    })
  )

  it.effect("leaves books that the doctor finds in order", () =>
    Effect.gen(function* () {
      const found = yield* (yield* Doctor).examine
      assert.deepStrictEqual(
        found.filter(({ broken }) => broken.length > 0),
        []
      )
    })
  )
})
