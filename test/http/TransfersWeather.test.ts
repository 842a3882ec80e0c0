import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Duration, Effect, Fiber, Layer, References } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { connect } from "node:net"
import { fromTypeId } from "#domain/Ids.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { Doctor } from "#services/Doctor.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { newcomer, options, serverOf } from "./WalletsServer.ts"

/** The bounds of the ledger, shorter than usual. */
const patience = Layer.effectContext(
  Effect.map(LanePolicy, (defaults) =>
    Context.make(LanePolicy, {
      ...defaults,
      groupTimeout: Duration.millis(600),
      commandTimeout: Duration.millis(800),
      reconnect: Duration.millis(10)
    })
  )
)
// What is lost on purpose need not be reported.
const quiet = Layer.succeed(References.MinimumLogLevel, "None")
const impatient = serverOf("sandbox").pipe(Layer.provide([patience, quiet]))
const usual = serverOf("sandbox").pipe(Layer.provide(quiet))

/** A payer with 10.00 and a receiver, and how money goes from one to the other. */
const pair = Effect.gen(function* () {
  const { call, tenant } = yield* newcomer
  const walletOf = Effect.map(call("POST", "/v1/wallets", {}), ({ body }) => String(body.id))
  const [payer, receiver] = [yield* walletOf, yield* walletOf]
  const money = { amount: "10.00", currency: "USDC" }
  const fund = call("POST", `/v1/wallets/${payer}/fund`, money, { "idempotency-key": payer })
  yield* Effect.repeat(fund, { until: ({ status }) => status === 201 })
  const order = { from_wallet_id: payer, to_wallet_id: receiver, amount: "1.00", currency: "USDC" }
  const transfer = (name: string) => call("POST", "/v1/transfers", order, { "idempotency-key": name })
  /** What a careful client does: the same request until there is a definite answer. */
  const insist = (name: string) => Effect.repeat(transfer(name), { until: ({ status }) => status !== 503 })
  const balance = (id: string) => Effect.map(call("GET", `/v1/wallets/${id}`), ({ body }) => body.balance_available)
  const balances = Effect.all([balance(payer), balance(receiver)])
  return { call, tenant, payer, receiver, order, transfer, insist, balances }
})

/** Everything the books promise, and how many transfers this wallet made by them. */
const made = Effect.fnUntraced(function* (payer: string) {
  const sql = yield* SqlClient.SqlClient
  const findings = yield* (yield* Doctor).examine
  assert.deepStrictEqual(
    findings.filter(({ broken }) => broken.length > 0),
    []
  )
  const [row] = yield* sql`SELECT count(*)::int AS made FROM transfers
    WHERE from_wallet_id = ${fromTypeId("wal", payer) ?? payer}`
  return row?.["made"]
})

/** Holds a lock of the database while something is done. */
const whileLocked = Effect.fnUntraced(function* <A, E, R>(
  lock: Effect.Effect<unknown, SqlError.SqlError>,
  work: Effect.Effect<A, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const locked = yield* Deferred.make<void>()
  const over = yield* Deferred.make<void>()
  const holder = yield* lock.pipe(
    Effect.andThen(Deferred.succeed(locked, undefined)),
    Effect.andThen(Deferred.await(over)),
    sql.withTransaction,
    Effect.forkChild
  )
  yield* Deferred.await(locked)
  const answer = yield* work
  yield* Deferred.succeed(over, undefined)
  yield* Fiber.join(holder)
  return answer
})

layer(impatient, options)("a transfer that must not wait any longer", (it) => {
  for (const what of ["the log's head", "the payer's account", "the receiver's account"] as const) {
    it.effect(`${what} is locked by somebody else: 503 in bounded time, and the retry happens once`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { balances, insist, payer, receiver, transfer } = yield* pair
        const account = what === "the payer's account" ? payer : receiver
        const lock =
          what === "the log's head"
            ? sql`SELECT 1 FROM ledger_head FOR UPDATE`
            : sql`SELECT 1 FROM ledger_accounts WHERE id = ${fromTypeId("wal", account) ?? account} FOR UPDATE`
        const names = ["one", "two", "three", "four", "five", "six"]
        const meanwhile = yield* whileLocked(lock, Effect.forEach(names, transfer, { concurrency: "unbounded" }))
        for (const { body, headers, status } of meanwhile) {
          assert.deepStrictEqual([status, body.code], [503, "SERVICE_UNAVAILABLE"])
          assert.isNotNull(headers.get("retry-after"))
        }
        const again = yield* Effect.forEach([...names, ...names], insist, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          again.map(({ body, status }) => [status, body.status]),
          again.map(() => [201, "completed"])
        )
        assert.deepStrictEqual(yield* balances, ["4.00", "6.00"])
        assert.strictEqual(yield* made(payer), 6)
      })
    )
  }

  it.effect(
    "a transfer is locked by somebody else: its refund is 503 in bounded time, and the retry happens once",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { balances, call, insist, payer, receiver } = yield* pair
        const { body: paid } = yield* insist("paid")
        const refund = call(
          "POST",
          "/v1/refunds",
          { transfer_id: paid.id, amount: "0.40", reason: "customer_request" },
          { "idempotency-key": "refund" }
        )
        const lock = sql`SELECT 1 FROM transfers WHERE id = ${fromTypeId("tx", paid.id) ?? ""} FOR UPDATE`
        const meanwhile = yield* whileLocked(lock, refund)
        assert.deepStrictEqual([meanwhile.status, meanwhile.body.code], [503, "SERVICE_UNAVAILABLE"])
        assert.isNotNull(meanwhile.headers.get("retry-after"))
        const definite = Effect.repeat(refund, { until: ({ status }) => status !== 503 })
        const [first, again] = [yield* definite, yield* definite]
        assert.deepStrictEqual([first.status, first.body.status], [201, "completed"])
        assert.deepStrictEqual([again.status, again.body], [201, first.body])
        assert.deepStrictEqual(yield* balances, ["9.40", "0.60"])
        assert.strictEqual(yield* made(receiver), 1)
        assert.strictEqual(yield* made(payer), 1)
      })
  )

  it.effect("a payer with too little is told so only when that is known", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { balances, call, order, payer } = yield* pair
      const tooMuch = call("POST", "/v1/transfers", { ...order, amount: "10.01" }, { "idempotency-key": "too much" })
      const blind = yield* whileLocked(sql`SELECT 1 FROM ledger_head FOR UPDATE`, tooMuch)
      assert.deepStrictEqual([blind.status, blind.body.code], [503, "SERVICE_UNAVAILABLE"])
      const known = yield* Effect.repeat(tooMuch, { until: ({ status }) => status !== 503 })
      assert.deepStrictEqual(
        [known.status, known.body.status, known.body.failure_reason],
        [201, "failed", "insufficient_funds"]
      )
      assert.deepStrictEqual(yield* balances, ["10.00", "0.00"])
      assert.strictEqual(yield* made(payer), 1)
    })
  )
})

layer(usual, options)("a transfer in bad weather", (it) => {
  it.effect("a lock that is gone in time is only waited for", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { balances, payer, transfer } = yield* pair
      const waiting = sql`SELECT 1 FROM pg_stat_activity
        WHERE application_name = 'turnpike-ledger' AND datname = current_database() AND wait_event_type = 'Lock'`
      const answer = yield* whileLocked(
        sql`SELECT 1 FROM ledger_head FOR UPDATE`,
        Effect.andThen(Effect.forkChild(transfer("waits")), (fiber) =>
          Effect.as(Effect.repeat(waiting, { until: (rows) => rows.length > 0 }), fiber)
        )
      ).pipe(Effect.flatMap(Fiber.join))
      assert.deepStrictEqual([answer.status, answer.body.status], [201, "completed"])
      assert.deepStrictEqual(yield* balances, ["9.00", "1.00"])
      assert.strictEqual(yield* made(payer), 1)
    })
  )

  it.effect("a lock on another transfer is nobody else's business", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { balances, payer, transfer } = yield* pair
      const { body: first } = yield* transfer("first")
      const lock = sql`SELECT 1 FROM transfers WHERE id = ${fromTypeId("tx", first.id) ?? ""} FOR UPDATE`
      const [again, second] = yield* whileLocked(lock, Effect.all([transfer("first"), transfer("second")]))
      assert.deepStrictEqual([again.status, again.body], [201, first])
      assert.deepStrictEqual([second.status, second.body.status], [201, "completed"])
      assert.deepStrictEqual(yield* balances, ["8.00", "2.00"])
      assert.strictEqual(yield* made(payer), 2)
    })
  )

  it.effect("a client that hangs up right after asking, 50 times with one key: one effect", () =>
    Effect.gen(function* () {
      const { balances, order, payer, tenant, transfer } = yield* pair
      const { publicUrl } = yield* Deployment
      const { key } = yield* (yield* Credentials).issue({
        tenant_id: tenant.id,
        kind: "api_key",
        name: "in a hurry",
        scopes: ["*:*"]
      })
      yield* Effect.promise(() => Promise.all(Array.from({ length: 50 }, () => askAndHangUp(publicUrl, key, order))))
      const { body, status } = yield* transfer("storm")
      assert.deepStrictEqual([status, body.status], [201, "completed"])
      assert.deepStrictEqual((yield* transfer("storm")).body, body)
      assert.deepStrictEqual(yield* balances, ["9.00", "1.00"])
      assert.strictEqual(yield* made(payer), 1)
    })
  )

  it.effect("the ledger's connection is cut under every transfer: each happens once, and nobody notices", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { balances, payer, transfer } = yield* pair
      const cut = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'turnpike-ledger' AND datname = current_database()`
      for (let index = 0; index < 10; index++) {
        const [answer] = yield* Effect.all([transfer(`cut ${index}`), cut], { concurrency: 2 })
        assert.deepStrictEqual([answer.status, answer.body.status], [201, "completed"])
      }
      assert.deepStrictEqual(yield* balances, ["0.00", "10.00"])
      assert.strictEqual(yield* made(payer), 10)
    })
  )
})

/** Sends a whole request and closes the connection without reading. */
const askAndHangUp = (base: string, key: string, order: object) => {
  const { hostname, port } = new URL(base)
  const body = JSON.stringify(order)
  return new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /v1/transfers HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${key}\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\nidempotency-key: storm\r\n\r\n${body}`,
        () => socket.destroy()
      )
    })
    socket.once("error", reject)
    socket.once("close", () => resolve())
  })
}
