import { assert, layer } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { request as httpRequest } from "node:http"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { fromTypeId } from "#domain/Ids.ts"
import * as Http from "#http/Http.ts"
import { LastPatience } from "#http/Gateway/UnderWay.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { buyer, listener, pay, seller } from "./GatewayHarness.ts"

const nearOrigins = Layer.effect(
  PublicHttpPolicy,
  Effect.map(PublicHttpPolicy, (policy) => ({ ...policy, allowLoopback: true }))
)

/** A server that ends before its database does. */
const server = Layer.fresh(
  Http.layer.pipe(
    Layer.provideMerge(Platform.layer),
    Layer.provideMerge(listener({ HOST: "127.0.0.1" })),
    Layer.provide(nearOrigins),
    // However slow the machine is.
    Layer.provide(Layer.succeed(LastPatience, Duration.minutes(10)))
  )
)

/** A payment for a shop that has the calls of its customers arrive, and has them answered by nobody. */
const payment = Effect.gen(function* () {
  const arrived = Promise.withResolvers<void>()
  const shop = yield* seller(() => arrived.resolve(), { method: "POST" })
  const agent = yield* buyer(1_000_000n)
  const paid = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
  const proof = String(paid.json.proof)
  return { id: fromTypeId("pay", paid.json.id), proof, path: shop.path, arrived: Effect.promise(() => arrived.promise) }
})

/** Statements that wait for what this transaction has locked; it would be told again and again what it was told first. */
const waiters = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT pg_stat_clear_snapshot()`
  return yield* sql`SELECT 1 FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))`
})

/** A call whose body does not end. */
const upload = (url: string, path: string, proof: string) => {
  const call = httpRequest(`${url}${path}`, { method: "POST", headers: { "x-payment-proof": proof } })
  call.on("error", () => undefined).write("a beginning")
  return call
}

layer(Layer.merge(Postgres.layerTest, BusMemory.layer), { timeout: "60 seconds" })("a server that stops", (it) => {
  it.effect("has given the money back of a call that it cut off, when it has stopped", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(server, scope)
      const { publicUrl } = Context.get(context, Deployment)
      const { arrived, id, path, proof } = yield* Effect.provideContext(payment, context)
      const call = upload(publicUrl, path, proof)
      yield* arrived

      const { stopping } = Context.get(context, HttpListener)
      const sql = yield* SqlClient.SqlClient
      const stop = yield* Effect.gen(function* () {
        yield* sql`SELECT 1 FROM payments WHERE id = ${id} FOR UPDATE`
        const stop = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        const isOver = () => stop.pollUnsafe() !== undefined
        yield* Effect.repeat(Effect.yieldNow, { until: stopping })
        yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => call.destroyed })
        yield* Effect.repeat(waiters, { until: ({ length }) => length > 0 || isOver() })
        yield* Effect.repeat(waiters, { until: isOver, times: 300 })
        assert.isFalse(isOver(), "while the money is given back")
        return stop
      }).pipe(sql.withTransaction)
      yield* Fiber.join(stop)
      const rows = yield* sql`SELECT state FROM payments WHERE id = ${id}`
      assert.deepStrictEqual(rows, [{ state: "released" }])
    })
  )
})

layer(Layer.merge(Postgres.layerTest, BusMemory.layer), { timeout: "60 seconds", excludeTestServices: true })(
  "a server that stops",
  (it) => {
    it.effect("waits for nobody who had left before it knew the endpoint", () =>
      Effect.gen(function* () {
        const first = yield* Scope.make()
        const { id, path, proof } = yield* Effect.provideContext(payment, yield* Layer.buildWithScope(server, first))
        yield* Scope.close(first, Exit.void)
        // Another process, which has not heard of the endpoint yet.
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(server, scope)
        const { server: listening } = Context.get(context, HttpListener)
        const connections = Effect.callback<number>((resume) => {
          listening.getConnections((_, count) => resume(Effect.succeed(count)))
        })
        const sql = yield* SqlClient.SqlClient
        yield* Effect.gen(function* () {
          yield* sql`LOCK TABLE endpoints IN ACCESS EXCLUSIVE MODE`
          const call = upload(Context.get(context, Deployment).publicUrl, path, proof)
          yield* Effect.repeat(waiters, { until: ({ length }) => length > 0 })
          call.destroy()
          yield* Effect.repeat(connections, { until: (count) => count === 0 })
        }).pipe(sql.withTransaction)
        const served = sql`SELECT 1 FROM payments WHERE id = ${id} AND request_fingerprint IS NOT NULL`
        yield* Effect.repeat(served, { until: ({ length }) => length > 0 })
        yield* Scope.close(scope, Exit.void)
      })
    )
  }
)
