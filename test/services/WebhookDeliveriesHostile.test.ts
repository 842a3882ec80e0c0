import { assert, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { afterAll } from "vitest"
import { gzipSync } from "node:zlib"
import type { DeliveryFailure } from "#domain/Delivery.ts"
import { WebhookDeliveries } from "#services/WebhookDeliveries.ts"
import { eventually } from "./CredentialsHarness.ts"
import { closeAll, tcpOrigin, tlsOrigin } from "./PublicHttpHarness.ts"
import {
  type Answer,
  answering,
  attempts,
  expandAll,
  happen,
  otherProcess,
  receiver,
  subscribe,
  testLayer,
  until
} from "./WebhookDeliveriesHarness.ts"

afterAll(closeAll)

const bytes = (behave: (socket: Socket) => void) =>
  Effect.map(
    Effect.promise(() => tcpOrigin(behave)),
    ({ port }) => `http://127.0.0.1:${port}/`
  )
const says = (text: string) => bytes((socket) => socket.end(text))
const listens = (answer: Answer) => Effect.map(receiver(answer), ({ url }) => url)

/** Keeps writing until the other side has enough. */
const forever = (
  socket: { write: (chunk: string) => boolean; on: (event: "close", then: () => void) => unknown },
  chunk: string,
  millis: number
) => {
  const timer = setInterval(() => socket.write(chunk), millis)
  socket.on("close", () => clearInterval(timer))
}

type Outcome = readonly ["delivered", number] | readonly ["failed", DeliveryFailure, number | null]

const kilobyte = "x".repeat(1024)
const bomb = gzipSync(Buffer.alloc(50_000_000))
const hostile: ReadonlyArray<readonly [name: string, url: Effect.Effect<string>, outcome: Outcome]> = [
  ["takes the call and says nothing", bytes(() => {}), ["failed", "timeout", null]],
  [
    "drips its headers",
    bytes((socket) =>
      forever(
        socket.on("error", () => {}),
        "H",
        30
      )
    ),
    ["failed", "bad_response", null]
  ],
  [
    "sends its headers at once and drips the body",
    listens((_, response) => forever(response.writeHead(200), "a", 30)),
    ["failed", "timeout", 200]
  ],
  [
    "sends a body without an end",
    listens((_, response) => forever(response.writeHead(200), kilobyte.repeat(64), 1)),
    ["delivered", 200]
  ],
  ["sends ten megabytes", listens((_, response) => response.end(kilobyte.repeat(10_240))), ["delivered", 200]],
  [
    "sends a gzip bomb",
    listens((_, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb)),
    ["delivered", 200]
  ],
  [
    "redirects to a private address",
    listens(answering(302, { location: "http://10.0.0.1/latest" })),
    ["failed", "status", 302]
  ],
  [
    "cuts the connection in the middle of its answer",
    bytes((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", () => socket.resetAndDestroy())
    }),
    ["failed", "reset", null]
  ],
  ["closes before it answers", bytes((socket) => void socket.destroy()), ["failed", "reset", null]],
  ["speaks no HTTP", says("SSH-2.0-OpenSSH_9.2\r\n"), ["failed", "bad_response", null]],
  [
    "permits what nobody asked for",
    says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ["failed", "bad_response", null]
  ],
  [
    "has signed its certificate itself",
    Effect.map(
      Effect.promise(() => tlsOrigin((_, response) => void response.end())),
      (port) => `https://127.0.0.1:${port}/`
    ),
    ["failed", "tls", null]
  ],
  [
    "takes the connection and never begins TLS",
    Effect.map(
      Effect.promise(() => tcpOrigin(() => {})),
      ({ port }) => `https://127.0.0.1:${port}/`
    ),
    ["failed", "timeout", null]
  ],
  ["is not there", Effect.succeed("http://127.0.0.1:1/"), ["failed", "refused", null]],
  ["says 199", says("HTTP/1.1 199 Odd\r\n\r\n"), ["failed", "reset", null]],
  ["says 200", says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), ["delivered", 200]],
  ["says 204", listens(answering(204)), ["delivered", 204]],
  ["says 299", listens(answering(299)), ["delivered", 299]],
  ["says 300", listens(answering(300)), ["failed", "status", 300]],
  ["says 400", listens(answering(400)), ["failed", "status", 400]],
  ["says 500", listens(answering(500)), ["failed", "status", 500]],
  ["says 599", listens(answering(599)), ["failed", "status", 599]]
]

const isSilent = (outcome: Outcome) => outcome[1] === "timeout"

/** A fact for each receiver that behaves so, on its way to it. */
const toEach = Effect.fnUntraced(function* (cases: typeof hostile) {
  const subscribed = yield* Effect.forEach(cases, ([name, url, outcome]) =>
    Effect.map(Effect.flatMap(url, subscribe), (webhook) => ({ ...webhook, name, outcome }))
  )
  for (const { caller } of subscribed) yield* happen(caller)
  yield* expandAll
  return subscribed
})
type Subscribed = Effect.Success<ReturnType<typeof toEach>>

/** Each first attempt came to what it should, and what failed is tried again. */
const haveTheirOutcomes = Effect.fnUntraced(function* (subscribed: Subscribed) {
  const seen: Record<string, unknown> = {}
  const expected: Record<string, unknown> = {}
  for (const { caller, id, name, outcome } of subscribed) {
    const [first, second] = yield* attempts(caller, id)
    const status = first?.response?.status ?? null
    seen[name] =
      first?.status === "delivered"
        ? ["delivered", status]
        : ["failed", first?.failure, name.startsWith("cuts") ? null : status]
    expected[name] = outcome
    assert.strictEqual(second?.status, first?.status === "delivered" ? undefined : "pending", name)
    assert.isAtMost(Buffer.byteLength(first?.response?.body ?? ""), 3 * 16_384)
  }
  assert.deepStrictEqual(seen, expected)
})

layer(testLayer(), { timeout: "60 seconds" })("a receiver", (it) => {
  it.effect("may behave as it likes: each has its outcome, and one that is silent keeps no other from its own", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const subscribed = yield* toEach(hostile)
      yield* Effect.forkScoped((yield* WebhookDeliveries).deliverDue)
      const silent = subscribed.filter(({ outcome }) => isSilent(outcome))
      const underWay = sql`SELECT webhook_id FROM webhook_deliveries WHERE attempt = 1 AND status IN ('pending', 'sending')`
      const left = yield* eventually(underWay, (found) => found.length === silent.length)
      assert.sameMembers(
        left.map((row) => row["webhook_id"]),
        silent.map(({ id }) => id)
      )
      yield* haveTheirOutcomes(subscribed.filter(({ outcome }) => !isSilent(outcome)))
      const long = subscribed.find(({ name }) => name === "sends ten megabytes")
      if (long === undefined) return
      const [delivery] = yield* attempts(long.caller, long.id)
      assert.deepInclude(delivery?.response, { body: kilobyte.repeat(16), truncated: true })
    })
  )

  it.effect("that is silent is given up when its time is over", () =>
    Effect.gen(function* () {
      const subscribed = yield* toEach(hostile.filter(([, , outcome]) => isSilent(outcome)))
      const hasty = yield* otherProcess({ timeout: Duration.seconds(1.5) })
      assert.strictEqual(yield* hasty.deliverDue, subscribed.length)
      yield* haveTheirOutcomes(subscribed)
    })
  )

  it.effect("that hangs keeps another waiting neither for its answer nor behind its attempts", () =>
    Effect.gen(function* () {
      let hanging = 0
      const dead = yield* receiver(() => {
        hanging++
      })
      const healthy = yield* receiver()
      const { deliverDue, expand } = yield* otherProcess()
      const bad = yield* subscribe(dead.url)
      const { caller } = yield* subscribe(healthy.url)
      yield* happen(
        bad.caller,
        Array.from({ length: 50 }, () => "transfer.created" as const)
      )
      yield* happen(
        caller,
        Array.from({ length: 50 }, () => "transfer.created" as const)
      )
      yield* expand
      yield* Effect.forkScoped(deliverDue)
      yield* until(() => healthy.received.length === 50 && hanging >= 6)
      assert.strictEqual(healthy.received.length, 50)
      // Six are in flight to it, as many as may be, and none has ended.
      assert.strictEqual(hanging, 6)
    })
  )

  it.effect("that answers one of six calls gets one more", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const waiting: Array<ServerResponse> = []
      const { url } = yield* receiver((_, response) => void waiting.push(response))
      const { deliverDue, expand } = yield* otherProcess()
      const { caller, id } = yield* subscribe(url)
      yield* happen(
        caller,
        Array.from({ length: 20 }, () => "transfer.created" as const)
      )
      yield* expand
      yield* Effect.forkScoped(deliverDue)
      yield* until(() => waiting.length === 6)
      waiting[0]?.end()
      yield* until(() => waiting.length > 6)
      const sending = yield* sql`SELECT 1 FROM webhook_deliveries WHERE webhook_id = ${id} AND status = 'sending'`
      assert.strictEqual(sending.length, 6)
    })
  )
})
