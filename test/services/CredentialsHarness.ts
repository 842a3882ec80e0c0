import { assert } from "@effect/vitest"
import { Effect, Fiber, Latch, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import type { KeyId, TenantId } from "#domain/Ids.ts"
import * as BusPostgres from "#layers/BusPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { EventBus } from "#services/EventBus.ts"
import { Ledger } from "#services/Ledger.ts"
import { Tenants } from "#services/Tenants.ts"

export const deployment = (environment: "sandbox" | "live") =>
  Layer.succeed(Deployment, { environment, publicUrl: "http://localhost:4020", scannerUrl: "http://localhost:4020" })

export const Test = Layer.mergeAll(Credentials.layer, Tenants.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, BusPostgres.layer)),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, deployment("sandbox")))
)

export const tenant = Effect.fn(function* (scopes: ReadonlyArray<string> = ["*:*"]) {
  const { id } = yield* (yield* Tenants).create({ name: "Acme" })
  const issued = yield* issue(id, scopes)
  return { id, ...issued }
})

export const issue = Effect.fn(function* (tenant_id: TenantId, scopes: ReadonlyArray<string> = ["*:*"]) {
  const credentials = yield* Credentials
  const { id: key_id, key } = yield* credentials.issue({ tenant_id, kind: "api_key", name: "k", scopes })
  return { key_id, key, by: yield* credentials.authenticate(key) }
})

/** A revocation behind the service's back, which no bus announces. */
export const revokeQuietly = (id: KeyId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE credentials SET revoked_at = now() WHERE id = ${id}`)

export const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => (Result.isSuccess(result) ? "accepted" : result.failure._tag))

/** Another process on the same database. */
export const otherProcess = Effect.map(
  Layer.build(Layer.fresh(Credentials.layer.pipe(Layer.provide(BusPostgres.layer)))),
  (context) => Effect.provideContext(Credentials, context)
).pipe(Effect.flatten)

/** Looks again until it is so, which it must be; every look asks the database, so real time passes while the test's clock stands still. */
export const eventually = <A, E, R>(look: Effect.Effect<A, E, R>, until: (a: A) => boolean) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.andThen(sql`SELECT pg_sleep(0.002)`, look).pipe(
      Effect.repeat({ until, times: 2_000 }),
      Effect.tap((seen) => Effect.sync(() => assert.isTrue(until(seen), "it has never come to be so")))
    )
  )

/** A bus that is slow to tell, and a caller who hangs up while it does: what was told in the end. */
export const slowBus = Effect.map(EventBus, (bus) => {
  const [telling, goOn] = [Latch.makeUnsafe(false), Latch.makeUnsafe(false)]
  const told: Array<string> = []
  const publish = (_: string, message: string) =>
    Effect.gen(function* () {
      yield* telling.open
      yield* goOn.await
      told.push(message)
    })
  const hangUp = Effect.fnUntraced(function* <A, E, R>(call: Effect.Effect<A, E, R>) {
    const caller = yield* Effect.forkScoped(call)
    yield* telling.await
    const hangingUp = yield* Effect.forkScoped(Fiber.interrupt(caller))
    yield* Effect.yieldNow
    yield* goOn.open
    yield* Fiber.join(hangingUp)
    return told
  })
  return { hangUp, layer: Layer.succeed(EventBus, EventBus.of({ ...bus, publish })) }
})

/** Nobody gets at the credentials in the database meanwhile: whoever asks for them waits. */
export const whileLocked = Effect.fn(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const [locked, done] = [yield* Latch.make(false), yield* Latch.make(false)]
  const lock = Effect.gen(function* () {
    yield* sql`LOCK TABLE credentials IN ACCESS EXCLUSIVE MODE`
    yield* locked.open
    yield* done.await
  }).pipe(sql.withTransaction)
  const holder = yield* Effect.forkScoped(lock)
  yield* locked.await
  const result = yield* Effect.ensuring(effect, done.open)
  yield* Fiber.join(holder)
  return result
})

export const locksWaitedFor = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
).pipe(Effect.map(([row]) => row?.n))
