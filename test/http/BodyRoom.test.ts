import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, References } from "effect"
import { type Socket, connect } from "node:net"
import { BodyRoom, type Enter, make } from "#http/BodyRoom.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Tenants } from "#services/Tenants.ts"
import * as Harness from "./PlatformHarness.ts"

const mebibyte = 1_048_576

describe("room for bodies", () => {
  it("is a quarter of it one owner's at most, and all of it everybody's, but for small ones", () => {
    const enter = make(4 * mebibyte)
    const first = enter("a", mebibyte)
    for (const owner of ["b", "c", "d"]) assert.isDefined(enter(owner, mebibyte), owner)
    for (const owner of ["a", "b"]) assert.isUndefined(enter(owner, 50_000), owner)
    assert.isUndefined(enter("e", mebibyte))
    for (const owner of ["a", "e"]) assert.isDefined(enter(owner, 16_384), owner)
    first?.()
    first?.()
    assert.isDefined(enter("e", mebibyte))
    assert.isUndefined(enter("f", mebibyte))
  })
})

const room = make(4 * mebibyte)
/** Are told when a large body came to the room, and when it left. */
const watched = { entered: Deferred.makeUnsafe<void>(), left: Deferred.makeUnsafe<void>() }
const enter: Enter = (owner, bytes) => {
  const leave = room(owner, bytes)
  if (bytes < mebibyte || leave === undefined) return leave
  Deferred.doneUnsafe(watched.entered, Effect.void)
  return () => {
    leave()
    Deferred.doneUnsafe(watched.left, Effect.void)
  }
}
const server = Harness.layer().pipe(
  Layer.provideMerge(Layer.succeed(BodyRoom, enter)),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a body that does not come to its end", (it) => {
  it.effect("takes the room of its tenant alone, and until its caller leaves", () =>
    Effect.gen(function* () {
      const { base, key, port } = yield* Harness.entrance
      const other = yield* (yield* Bootstrap).issueKeys((yield* (yield* Tenants).create({ name: "Other" })).id)
      const asks = (as: string, padding: number) =>
        Harness.ask(`${base}/v1/accounts`, {
          method: "POST",
          headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
          body: `{"name":"A"${" ".repeat(padding)}}`
        })
      const head =
        `POST /v1/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${mebibyte}\r\n\r\n`
      yield* Effect.acquireUseRelease(
        Effect.sync((): Socket => connect(port, "127.0.0.1").on("error", () => {})),
        (socket) =>
          Effect.gen(function* () {
            socket.write(head)
            yield* Deferred.await(watched.entered)
            const refused = yield* asks(key, 100_000)
            assert.deepStrictEqual([refused.status, refused.body["code"]], [503, "SERVICE_UNAVAILABLE"])
            assert.strictEqual(refused.headers.get("retry-after"), "1")
            assert.strictEqual((yield* asks(key, 1000)).status, 201)
            assert.strictEqual((yield* asks(other.api_key, 100_000)).status, 201)
          }),
        (socket) => Effect.sync(() => socket.destroy())
      )
      yield* Deferred.await(watched.left)
      assert.strictEqual((yield* asks(key, 100_000)).status, 201)
    })
  )
})
