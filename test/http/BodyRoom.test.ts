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
    const takes = (owner: string, bytes: number) => enter(owner).take(bytes)
    const first = enter("a")
    assert.isTrue(first.take(mebibyte))
    for (const owner of ["b", "c", "d"]) assert.isTrue(takes(owner, mebibyte), owner)
    for (const owner of ["a", "b"]) assert.isFalse(takes(owner, 100_000), owner)
    // Each of the four had its first 16 KiB for nothing.
    assert.isTrue(takes("e", 5 * 16_384))
    assert.isFalse(takes("f", 16_385))
    assert.isTrue(takes("f", 16_384))
    first.leave()
    first.leave()
    assert.isTrue(takes("f", mebibyte))
    assert.isFalse(takes("g", 16_385))
  })

  it("is taken by what arrives, whatever was announced", () => {
    const place = make(4 * mebibyte)("a")
    for (let mark = 0; mark < 65; mark++) assert.isTrue(place.take(16_384), String(mark))
    assert.isFalse(place.take(1))
  })
})

const room = make(4 * mebibyte)
const sent = 1_000_000
/** Are told when all that is sent of a large body has taken its room, and when it left. */
const watched = { taken: Deferred.makeUnsafe<void>(), left: Deferred.makeUnsafe<void>() }
const enter: Enter = (owner) => {
  const { leave, take } = room(owner)
  let arrived = 0
  return {
    take: (bytes) => {
      arrived += bytes
      if (arrived === sent) Deferred.doneUnsafe(watched.taken, Effect.void)
      return take(bytes)
    },
    leave: () => {
      leave()
      if (arrived === sent) Deferred.doneUnsafe(watched.left, Effect.void)
    }
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
            socket.write(head + " ".repeat(sent))
            yield* Deferred.await(watched.taken)
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

const small = make(400_000)
let owner = ""
const smallServer = Harness.layer().pipe(
  Layer.provideMerge(
    Layer.succeed(BodyRoom, (asked) => {
      owner = asked
      return small(asked)
    })
  ),
  Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
)

layer(smallServer, { timeout: "60 seconds", excludeTestServices: true })("a list", (it) => {
  it.effect("that finds no room is asked for again, or in smaller pages, and what was done is answered", () =>
    Effect.gen(function* () {
      const { base, key } = yield* Harness.entrance
      const authorization = `Bearer ${key}`
      const makes = (characters = 12_000) => {
        const body = JSON.stringify({ currency: "USDC", metadata: { note: "n".repeat(characters) } })
        const headers = { authorization, "content-type": "application/json" }
        return Harness.ask(`${base}/v1/wallets`, { method: "POST", headers, body })
      }
      const page = (limit: number) => Harness.ask(`${base}/v1/wallets?limit=${limit}`, { headers: { authorization } })
      for (let made = 0; made < 12; made++) assert.strictEqual((yield* makes()).status, 201)
      // Larger than what one tenant may have, but nothing else of it is waiting.
      assert.strictEqual((yield* page(12)).status, 200)
      const unread = small(owner)
      assert.isTrue(unread.take(16_384 + 100_000))
      const refused = yield* page(12)
      assert.deepStrictEqual([refused.status, refused.body["code"]], [503, "SERVICE_UNAVAILABLE"])
      assert.strictEqual((yield* page(1)).status, 200)
      const made = yield* makes(16_200)
      assert.strictEqual(made.status, 201)
      assert.isAbove(JSON.stringify(made.body).length, 16_384)
      unread.leave()
      assert.strictEqual((yield* page(12)).status, 200)
    })
  )
})
