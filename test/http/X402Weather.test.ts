import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { Socket } from "node:net"
import { balance, openStream, send, server } from "./GatewayHarness.ts"
import { awaited } from "../services/LockHarness.ts"
import { baseSeller, callWith, decoded, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n

/** Until a call ended so. */
const ended = (status: string) =>
  Effect.repeat(
    Effect.map(send("/metrics"), ({ body }) =>
      new RegExp(`requests_total\\{(?=[^}]*route="/x402/\\*")[^}]*status="${status}"`).test(body)
    ),
    { until: (seen) => seen, schedule: Schedule.spaced("20 millis") }
  )
/** Until a call was answered and its connection is gone. */
const gone = ended("200")
/** Until a caller has left before there was an answer. */
const leaving = ended("499")

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a caller who signed", (it) => {
  it.effect(
    "and leaves while its streamed answer is charged is charged once, and has the answer when it asks again",
    () =>
      Effect.gen(function* () {
        const called = Promise.withResolvers<Socket>()
        const shop = yield* baseSeller(({ socket }) => called.resolve(socket))
        const { account, purse } = yield* signer(funds)
        const { header } = yield* signFor(account, shop.path)
        const call = yield* Effect.forkChild(openStream(shop.path, { "payment-signature": header }))
        const socket = yield* Effect.promise(() => called.promise)
        const sql = yield* SqlClient.SqlClient
        const leaves = Effect.gen(function* () {
          // The charge waits for whoever has the row.
          yield* sql`SELECT 1 FROM payments WHERE endpoint_id = ${shop.endpoint.id} FOR UPDATE`
          socket.write(
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst,\r\n"
          )
          const stream = yield* Fiber.join(call)
          assert.strictEqual(yield* stream.next, "first,")
          yield* awaited
          // The gateway closes the connection when it has the whole answer.
          yield* Effect.callback<void>((resume) => {
            socket.once("end", () => resume(Effect.void)).write("4\r\nlast\r\n0\r\n\r\n")
          })
          yield* stream.leave
          yield* gone
        })
        yield* sql.withTransaction(leaves)
        const again = yield* Effect.repeat(callWith(shop.path, header), { until: ({ status }) => status === 200 })
        assert.deepStrictEqual([again.body, again.headers["idempotency-replayed"]], ["first,last", "true"])
        assert.strictEqual(shop.backend.seen.length, 1)
        assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })(
  "a caller who signed and leaves before its origin is called",
  (it) => {
    it.effect("is what the payment failed of, and not the endpoint's `rateLimit`", () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => response.end())
        const { account, purse } = yield* signer(funds)
        const { header } = yield* signFor(account, shop.path)
        const sql = yield* SqlClient.SqlClient
        const leaves = Effect.gen(function* () {
          // The reservation waits for whoever has the head of the log.
          yield* sql`SELECT 1 FROM ledger_head FOR UPDATE`
          const call = yield* Effect.forkChild(callWith(shop.path, header))
          yield* awaited
          yield* Fiber.interrupt(call)
          yield* leaving
        })
        yield* sql.withTransaction(leaves)
        const payments = sql`SELECT state, failure FROM payments WHERE endpoint_id = ${shop.endpoint.id}`
        const end = Effect.repeat(payments, { until: ([payment]) => payment?.["state"] === "released" })
        assert.deepStrictEqual(yield* end, [{ state: "released", failure: "caller_gone" }])
        assert.deepStrictEqual([shop.backend.seen.length, yield* balance(purse)], [0, { posted: funds, held: 0n }])
      })
    )
  }
)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a caller whose connection breaks", (it) => {
  /** Leaves an answer that was charged before it was whole; what the origin goes on writing to. */
  const left = Effect.gen(function* () {
    const called = Promise.withResolvers<Socket>()
    const shop = yield* baseSeller(({ socket }) => called.resolve(socket))
    const { account, purse } = yield* signer(funds)
    const { header } = yield* signFor(account, shop.path)
    const call = yield* Effect.forkChild(openStream(shop.path, { "payment-signature": header }))
    const socket = yield* Effect.promise(() => called.promise)
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst,\r\n")
    const stream = yield* Fiber.join(call)
    assert.strictEqual(yield* stream.next, "first,")
    yield* stream.leave
    yield* gone
    return { header, purse, shop, socket }
  })

  it.effect("within an answer that was charged before it was whole has all of it when it asks again", () =>
    Effect.gen(function* () {
      const { header, purse, shop, socket } = yield* left
      const early = yield* callWith(shop.path, header)
      assert.deepStrictEqual([early.status, early.json.code], [409, "PAYMENT_IN_PROGRESS"])
      socket.write("4\r\nlast\r\n0\r\n\r\n")
      const again = yield* Effect.repeat(callWith(shop.path, header), { until: ({ status }) => status === 200 })
      assert.deepStrictEqual([again.body, again.headers["idempotency-replayed"]], ["first,last", "true"])
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  it.effect("within one that turns out too large to keep is told that its payment was used", () =>
    Effect.gen(function* () {
      const { header, purse, shop, socket } = yield* left
      socket.write(`11171\r\n${"x".repeat(70_001)}\r\n`)
      const told = yield* Effect.repeat(callWith(shop.path, header), {
        until: ({ json }) => json.code !== "PAYMENT_IN_PROGRESS"
      })
      assert.deepStrictEqual([told.status, told.json.code], [409, "PAYMENT_ALREADY_USED"])
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    }).pipe(Effect.timeout("10 seconds"))
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })(
  "an origin that misbehaves towards who signed",
  (it) => {
    it.effect("breaks off before its answer is charged: only the call that was charged counts", () =>
      Effect.gen(function* () {
        let calls = 0
        const shop = yield* baseSeller(({ socket }) => {
          if (++calls > 1) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n${"x".repeat(70_000)}`)
          else
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nfirst,\r\n", () =>
              socket.resetAndDestroy()
            )
        })
        const { account, purse } = yield* signer(funds)
        const { header } = yield* signFor(account, shop.path)
        assert.strictEqual((yield* callWith(shop.path, header)).status, 502)
        assert.strictEqual((yield* callWith(shop.path, header)).status, 200)
        // Longer than the first answer would have been waited for.
        const told = new Set<unknown>()
        const again = Effect.map(callWith(shop.path, header), ({ json }) => json.code)
        // The last byte of an answer is here before its call is over.
        told.add(yield* Effect.repeat(again, { until: (code) => code !== "PAYMENT_IN_PROGRESS" }))
        const andAgain = Effect.map(again, (code) => told.add(code))
        yield* Effect.repeat(andAgain, { schedule: Schedule.spaced("20 millis"), times: 15 })
        assert.deepStrictEqual([...told], ["PAYMENT_ALREADY_USED"])
        assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      })
    )

    it.effect("breaks off while its answer is charged: the caller is told, with the receipt", () =>
      Effect.gen(function* () {
        const called = Promise.withResolvers<Socket>()
        const shop = yield* baseSeller(({ socket }) => called.resolve(socket))
        const { account, purse } = yield* signer(funds)
        const { header } = yield* signFor(account, shop.path)
        const call = yield* Effect.forkChild(callWith(shop.path, header))
        const socket = yield* Effect.promise(() => called.promise)
        const sql = yield* SqlClient.SqlClient
        const breaks = Effect.gen(function* () {
          // The charge waits for whoever has the row.
          yield* sql`SELECT 1 FROM payments WHERE endpoint_id = ${shop.endpoint.id} FOR UPDATE`
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nthe beginning")
          yield* awaited
          yield* Effect.callback<void>((resume) => {
            socket.once("close", () => resume(Effect.void)).resetAndDestroy()
          })
          // The reset is under way by itself: it gets as long as so many looks take, which is longer where all is slow.
          yield* Effect.repeat(sql`SELECT 1`, { times: 50 })
        })
        yield* sql.withTransaction(breaks)
        const answer = yield* Fiber.join(call)
        assert.deepStrictEqual([answer.status, answer.json.code], [502, "ORIGIN_UNREACHABLE"])
        assert.strictEqual(decoded(answer.headers["payment-response"]).success, true)
        assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
      })
    )

    it.effect("tells caches to keep an answer that is not charged: they would show it to who is asked for money", () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => {
          response
            .setHeader("Cache-Control", "public, max-age=600")
            .setHeader("CDN-Cache-Control", "public, max-age=600")
            .setHeader("Expires", "Thu, 01 Jan 2099 00:00:00 GMT")
          response.writeHead(404).end("nothing here")
        })
        const { account } = yield* signer(funds)
        const { headers, status } = yield* callWith(shop.path, (yield* signFor(account, shop.path)).header)
        assert.deepStrictEqual([status, headers["cache-control"]], [404, "private, max-age=600"])
        assert.deepStrictEqual([headers["cdn-cache-control"], headers["expires"]], [undefined, undefined])
      })
    )

    it.effect(
      "lets nobody keep its answer, which is said to be private all the same, as MPP wants of what has a receipt",
      () =>
        Effect.gen(function* () {
          const shop = yield* baseSeller((_, response) => response.setHeader("Cache-Control", "no-store").end("served"))
          const { account } = yield* signer(funds)
          const { headers } = yield* callWith(shop.path, (yield* signFor(account, shop.path)).header)
          assert.strictEqual(headers["cache-control"], "private, no-store")
        })
    )

    it.effect("sets cookies under our names, policies for our host and orders for caches: none arrives", () =>
      Effect.gen(function* () {
        const shop = yield* baseSeller((_, response) => {
          response.setHeader("Set-Cookie", ["turnpike_session=x; Path=/", "__Host-turnpike=x", "theirs=1"])
          response.setHeader("NEL", "{}").setHeader("Report-To", "{}").setHeader("Accept-CH", "Width")
          response
            .setHeader("CDN-Cache-Control", "public, max-age=60")
            .setHeader("Expires", "Thu, 01 Jan 2099 00:00:00 GMT")
          response.end("served")
        })
        const { account } = yield* signer(funds)
        const { headers } = yield* callWith(shop.path, (yield* signFor(account, shop.path)).header)
        assert.deepStrictEqual(headers["set-cookie"], [`theirs=1; Path=${shop.path}`])
        for (const name of ["nel", "report-to", "accept-ch", "cdn-cache-control", "expires"]) {
          assert.isUndefined(headers[name], name)
        }
        assert.strictEqual(headers["cache-control"], "private, no-store")
      })
    )
  }
)
