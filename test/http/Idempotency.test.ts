import { createHash } from "node:crypto"
import { connect } from "node:net"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Deployment } from "#services/Deployment.ts"
import { fieldsOf, type Operation, operationOf, operations } from "./Description.ts"
import { fingerprint } from "#http/Idempotency.ts"
import { type Answer, server } from "./GatewayHarness.ts"
import { noise } from "./Nonsense.ts"
import { type World, world } from "./World.ts"

/**
 * Every operation that takes an idempotency key: new ones are covered by being described. All that is administered is so by one tenant,
 * whose keys would be used already: it is in Administration.test.ts.
 */
const keyed = operations.filter(
  ({ headers, id }) => headers.includes("idempotency-key") && !id.startsWith("administration.")
)

/**
 * How many movements of money there have been, promises of some and changes of those, and changes of disputes and of streams that moved
 * none; and how many things there are that can be made under a key. Scans, tests and batches are counted by the movement of their credits.
 */
const deeds = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] =
    yield* sql`SELECT ((SELECT count(*) FROM movements) + (SELECT coalesce(sum(1 + version), 0) FROM scheduled_transfers)
      + (SELECT coalesce(sum(version), 0) FROM streams)
      - (SELECT count(*) FROM transfers WHERE stream_id IS NOT NULL AND protocol_metadata ->> 'action' <> 'start')
      + (SELECT coalesce(sum(1 + version - num_nonnulls(refund_id)), 0) FROM disputes) + (SELECT count(*) FROM wallets)
      + (SELECT count(*) FROM accounts) + (SELECT count(*) FROM endpoints) + (SELECT count(*) FROM quotes)
      + (SELECT count(DISTINCT (webhook_id, created_at)) FROM webhook_deliveries WHERE cause = 'replay'))::int AS count`
  return Number(row?.["count"])
})

const replayed = ({ headers }: Answer) => headers["idempotency-replayed"] === "true"

/** The status of the operation's answer when it has done its work. */
const done = ({ responses }: Operation) => Number(Object.keys(responses).find((status) => status.startsWith("2")))

/** How many of them one request makes. */
const made = (body: Record<string, unknown> | undefined): number => {
  const items = body?.["transfers"]
  return Array.isArray(items) ? items.length : 1
}

/** The body that the description shows, but for a replay, where that asks for what failed: nothing did. */
const good = (teller: World, operation: Operation) =>
  Effect.map(teller.bodyOf(operation), (body) =>
    body !== undefined && "only_failed" in body ? { ...body, only_failed: false } : body
  )

/** Whether nothing of a request can vary but what it is about. */
const isBare = (operation: Operation) => Object.keys(fieldsOf(operation)).join() === "idempotency_key"

/** The same request with another amount, which is as good, or about another thing. */
const varied = Effect.fnUntraced(function* (teller: World, operation: Operation, body?: Record<string, unknown>) {
  return isBare(operation) ? { body, id: yield* teller.otherOf(operation) } : { body: variedBody(operation, body) }
})
const variedBody = (operation: Operation, body: Record<string, unknown> | undefined) => {
  const items = body?.["transfers"]
  if (Array.isArray(items)) return { ...body, transfers: items.map((item) => ({ ...item, amount: "1.25" })) }
  const varying = ["amount", "max_amount", "amount_disputed", "refund_amount", "initial_deposit", "flow_rate", "memo"]
  const field = [...varying, "response", "reason", "name", "merchant_name"].find((name) => name in fieldsOf(operation))
  if (field !== undefined) return { ...body, [field]: "1.25" }
  const pieces = body?.["evidence"]
  if (Array.isArray(pieces)) return { ...body, evidence: pieces.map((piece) => ({ ...piece, description: "1.25" })) }
  if (Array.isArray(body?.["types"])) return { ...body, types: ["*"] }
  if (body !== undefined && "test_type" in body) return { ...body, test_type: "search" }
  return assert.fail(`say here how a body of ${operation.id} can differ and still be good`)
}

/** Sends requests, each on a connection that is cut as soon as it is written. */
const dropped = Effect.fnUntraced(function* (
  times: number,
  operation: Operation,
  path: string,
  lines: string,
  body: string
) {
  const port = Number(new URL((yield* Deployment).publicUrl).port)
  const text =
    `${operation.method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${lines}` +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const once = Effect.callback<void>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text, () => socket.destroy()))
    socket.on("error", () => socket.destroy())
    socket.on("close", () => resume(Effect.void))
  })
  yield* Effect.all(
    Array.from({ length: times }, () => once),
    { concurrency: 10 }
  )
})

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

describe("what a key is for", () => {
  it("is the parameters that are there, in any order, as versions before wrote them down", () => {
    const at = new Date(0)
    const stored = sha256(`{"amount":"5","at":"${at.toISOString()}","items":[{"a":1},"b"],"metadata":{}}`)
    const items = [{ a: 1, b: undefined }, "b"]
    assert.strictEqual(fingerprint({ metadata: {}, memo: null, items, at, amount: 5n }), stored)
  })

  it("is not the same with something null inside of a parameter", () => {
    assert.notStrictEqual(fingerprint({ metadata: { a: null } }), fingerprint({ metadata: {} }))
    assert.notStrictEqual(fingerprint({ items: [{ a: [{ b: null }] }] }), fingerprint({ items: [{ a: [{}] }] }))
  })
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("one idempotency key", (it) => {
  it.effect("is taken by the operations that move money, and by those that make what no secret is shown of", () =>
    Effect.sync(() => {
      const visits = ["scans.scan", "shopping_tests.run"]
      const things = ["wallets", "accounts", "endpoints", "quotes", "scan_batches"].map((group) => `${group}.create`)
      assert.includeMembers(
        keyed.map(({ id }) => id),
        ["wallets.fund", "payments.pay", "transfers.cancel", ...things, "webhooks.replayAll", ...visits]
      )
    })
  )

  it.effect("is of the same thing, whether its defaults are written out or left out", () =>
    Effect.gen(function* () {
      const teller = yield* world
      const endpoint = { name: "Weather", path: "/a", method: "GET" }
      const defaults = { basePrice: 0.01, currency: "USDC", volumeDiscounts: [], timeoutMs: 30_000, schemes: ["exact"] }
      const quote = { from_currency: "USDC", to_currency: "EURC", amount: "1.00" }
      const [since, domain] = ["2026-01-01T00:00:00Z", "shop.example.com"]
      const site = Object(yield* teller.bodyOf(operationOf("scans.scan"))).domain
      const pairs: ReadonlyArray<[id: string, short: object, long: object]> = [
        [
          "wallets.create",
          {},
          { owner_id: teller.own["owner_id"], network: "solana-devnet", name: null, metadata: {} }
        ],
        ["accounts.create", { name: "A" }, { name: "A", type: "business", country: null, metadata: {} }],
        [
          "endpoints.create",
          endpoint,
          { ...endpoint, ...defaults, chargeOn: "success", mpp: true, forwardHeaders: {} }
        ],
        ["quotes.create", quote, { ...quote, amount_side: "send" }],
        ["scan_batches.create", { targets: [{ domain }] }, { domains: [{ domain, skip_if_fresh: false }], name: null }],
        ["scans.scan", { domain: site }, { domain: site, merchant_name: null, skip_if_fresh: false }],
        ["webhooks.replayAll", { since }, { since, types: ["*"], only_failed: false }]
      ]
      for (const [id, short, long] of pairs) {
        const operation = operationOf(id)
        const first = yield* teller.call(operation, { body: short, headers: { "idempotency-key": "once" } })
        const again = yield* teller.call(operation, { body: long, headers: { "idempotency-key": "once" } })
        assert.deepStrictEqual([first.status, again.body, replayed(again)], [done(operation), first.body, true], id)
      }
    })
  )

  for (const operation of keyed) {
    const { id } = operation
    const headers = { "idempotency-key": "once" }

    it.effect(`${id}: under 100 requests at once is done once, and every answer is the first one's`, () =>
      Effect.gen(function* () {
        const teller = yield* world
        const body = yield* good(teller, operation)
        const before = yield* deeds
        const answers = yield* Effect.all(
          Array.from({ length: 100 }, () => teller.call(operation, { body, headers })),
          { concurrency: 100 }
        )
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [done(operation)])
        assert.strictEqual(new Set(answers.map((answer) => answer.body)).size, 1)
        assert.strictEqual(answers.filter(replayed).length, 99)
        assert.strictEqual((yield* deeds) - before, made(body))
      })
    )

    it.effect(`${id}: under two requests that differ, at once, does one of them; the other is 409`, () =>
      Effect.gen(function* () {
        const teller = yield* world
        const body = yield* good(teller, operation)
        const other = yield* varied(teller, operation, body)
        const before = yield* deeds
        const answers = yield* Effect.all(
          Array.from({ length: 40 }, (_, index) =>
            teller.call(operation, { ...(index % 2 ? { body } : other), headers })
          ),
          { concurrency: 40 }
        )
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [
          ...Array(20).fill(done(operation)),
          ...Array(20).fill(409)
        ])
        const refusals = answers.filter(({ status }) => status === 409)
        assert.deepStrictEqual([...new Set(refusals.map(({ json }) => json.code))], ["IDEMPOTENCY_KEY_REUSED"])
        assert.strictEqual((yield* deeds) - before, made(body))
      })
    )

    it.effect(`${id}: whose callers hang up right after sending, 50 times, is done once`, () =>
      Effect.gen(function* () {
        const teller = yield* world
        const body = yield* good(teller, operation)
        const path = operation.path.replace("{id}", () => teller.idOf(operation))
        const before = yield* deeds
        const lines = `Authorization: Bearer ${teller.key}\r\nIdempotency-Key: once\r\n`
        yield* dropped(50, operation, path, lines, JSON.stringify(body))
        const last = yield* teller.call(operation, { body, headers })
        assert.strictEqual(last.status, done(operation))
        const again = yield* teller.call(operation, { body, headers })
        assert.deepStrictEqual([again.body, replayed(again)], [last.body, true])
        assert.strictEqual((yield* deeds) - before, made(body))
      })
    )

    it.effect(`${id}: is another key for another tenant and for another operation`, () =>
      Effect.gen(function* () {
        for (const teller of [yield* world, yield* world]) {
          for (const each of keyed) {
            const answer = yield* teller.call(each, { body: yield* good(teller, each), headers })
            assert.deepStrictEqual([answer.status, replayed(answer)], [done(each), false], each.id)
          }
        }
      })
    )

    it.effect(`${id}: of a request that was refused is free`, () =>
      Effect.gen(function* () {
        const teller = yield* world
        const body = yield* good(teller, operation)
        const other = yield* varied(teller, operation, body)
        const refused = [
          yield* teller.call(operation, { body: "{", headers }),
          yield* teller.call(operation, { body: { ...body, "no such field": 1 }, headers }),
          yield* teller.call(operation, { body: { ...other.body, amount: "-1", max_amount: "-1" }, headers })
        ]
        for (const { status } of refused) assert.include([400, 422], status)
        const answer = yield* teller.call(operation, { body, headers })
        assert.deepStrictEqual([answer.status, replayed(answer)], [done(operation), false])
      })
    )

    it.effect(
      `${id}: is the same in either header and in the body, in any script, on every way through the server`,
      () =>
        Effect.gen(function* () {
          const teller = yield* world
          const body = yield* good(teller, operation)
          const before = yield* deeds
          const key = `ß 🔑 ${"ключ".repeat(60)}`
          const sent = Buffer.from(key).toString("latin1")
          const [origin, named] = [{ origin: "https://a.test" }, { ...body, idempotency_key: key }]
          const answers = [
            yield* teller.call(operation, { body, headers: { "idempotency-key": sent } }),
            yield* teller.call(operation, { body, headers: { "x-idempotency-key": sent, ...origin } }),
            yield* teller.call(operation, { body: named }),
            yield* teller.call(operation, { body: named, headers: { "idempotency-key": sent, ...origin } })
          ]
          assert.deepStrictEqual(
            answers.map((answer) => [answer.status, answer.body, replayed(answer)]),
            [false, true, true, true].map((again) => [done(operation), answers[0]?.body, again])
          )
          for (const headers of [{ "idempotency-key": "k\xe9" }, { "x-idempotency-key": "\xff", ...origin }]) {
            const refused = yield* teller.call(operation, { body, headers })
            assert.deepStrictEqual([refused.status, refused.json.code], [400, "INVALID_REQUEST"])
          }
          assert.strictEqual((yield* deeds) - before, made(body))
        })
    )

    it.effect(`${id}: has 1 to 255 printable characters, wherever it stands`, () =>
      Effect.gen(function* () {
        const teller = yield* world
        const body = yield* good(teller, operation)
        const before = yield* deeds
        for (const key of ["k".repeat(256), noise.slice(0, 9_000)]) {
          for (const name of ["idempotency-key", "x-idempotency-key"]) {
            const answer = yield* teller.call(operation, { body, headers: { [name]: key } })
            assert.deepStrictEqual([answer.status, answer.json.code], [400, "INVALID_REQUEST"], name)
          }
        }
        for (const key of ["", "k".repeat(256), noise, "a\u0000b", "a\nb", "\ud800", 7, null, ["k"], {}]) {
          const answer = yield* teller.call(operation, { body: { ...body, idempotency_key: key } })
          assert.deepStrictEqual(
            [answer.status, answer.json.code],
            [400, "INVALID_REQUEST"],
            JSON.stringify(key).slice(0, 20)
          )
        }
        assert.strictEqual(yield* deeds, before)
        assert.strictEqual(
          (yield* teller.call(operation, { body, headers: { "idempotency-key": "k".repeat(255) } })).status,
          done(operation)
        )
      })
    )
  }
})
