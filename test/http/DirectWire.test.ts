import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import * as Harness from "./PlatformHarness.ts"
import { options, serverOf, withWallet } from "./WalletsServer.ts"

const server = serverOf("sandbox").pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")))

/** A payer with 10.00, and requests for a transfer of 1.00 as they go over the wire. */
const wire = Effect.gen(function* () {
  const { call, fund, id, tenant } = yield* withWallet
  yield* fund({ amount: "10.00", currency: "USDC" })
  const { body: payee } = yield* call("POST", "/v1/wallets", {})
  const { key } = yield* (yield* Credentials).issue({
    tenant_id: tenant.id,
    kind: "api_key",
    name: "test",
    scopes: ["*:*"]
  })
  const port = Number(new URL((yield* Deployment).publicUrl).port)
  const body = JSON.stringify({ from_wallet_id: id, to_wallet_id: payee.id, amount: "1.00", currency: "USDC" })
  const head = (more = "", authorization = `Authorization: Bearer ${key}\r\n`) =>
    `POST /v1/transfers HTTP/1.1\r\nHost: a\r\n${authorization}${more}` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
  const received = Effect.map(call("GET", `/v1/wallets/${payee.id}`), (answer): string => answer.body.balance_available)
  return { port, body, head, received }
})

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
const closes = (text: string) => /^connection: close/im.test(text)

layer(server, options)("a plain request", (it) => {
  it.effect("is answered in its turn when several come at once", () =>
    Effect.gen(function* () {
      const { body, head, port, received } = yield* wire
      const text = yield* Harness.raw(port, (head() + body).repeat(3), 3)
      assert.deepStrictEqual(statuses(text), ["201", "201", "201"])
      assert.strictEqual(yield* received, "3.00")
    })
  )

  it.effect("that is refused before its body was read takes no other request from it", () =>
    Effect.gen(function* () {
      const { body, head, port, received } = yield* wire
      const text = yield* Harness.raw(port, head("", "") + head() + body)
      assert.deepStrictEqual(statuses(text), ["401"])
      assert.isTrue(closes(text))
      assert.strictEqual(yield* received, "0.00")
    })
  )

  it.effect("that was done hears so, although what follows it on the connection is no request", () =>
    Effect.gen(function* () {
      const { body, head, port, received } = yield* wire
      const text = yield* Harness.raw(port, `${head() + body}this is no request\r\n\r\n`)
      assert.deepStrictEqual(statuses(text), ["201"])
      assert.isTrue(closes(text))
      assert.strictEqual(yield* received, "1.00")
    })
  )

  it.effect("whose body does not come is a request that did not arrive, on every way through the server", () =>
    Effect.gen(function* () {
      const { body, head, port, received } = yield* wire
      const texts = yield* Effect.forEach(
        ["", "Origin: https://a.test\r\n"],
        (more) => Harness.raw(port, head(more) + body.slice(0, 20)),
        { concurrency: 2 }
      )
      for (const text of texts) {
        assert.deepStrictEqual(statuses(text), ["408"])
        assert.isTrue(closes(text))
      }
      assert.strictEqual(yield* received, "0.00")
    })
  )

  it.effect("that broke before its body came does not keep the connection", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { body, head, port } = yield* wire
      const [locked, over] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holder = yield* sql`LOCK TABLE credentials IN ACCESS EXCLUSIVE MODE`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Deferred.await(over)),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      const unknown = `Authorization: Bearer pk_test_${"a".repeat(32)}\r\n`
      const text = yield* Harness.raw(port, head("", unknown) + body.slice(0, 20))
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(holder)
      assert.deepStrictEqual(statuses(text), ["503"])
      assert.isTrue(closes(text), text)
    })
  )
})
