import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { IncomingMessage, RequestListener } from "node:http"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { fromTypeId } from "#domain/Ids.ts"
import { balance, buyer, charged, openStream, pay, seller, send, server } from "./GatewayHarness.ts"
import { baseSeller, callWith, signer, signFor } from "./X402Harness.ts"

const funds = 1_000_000n

/** Longer than a stream is waited for before it is charged. */
const dawdle = 1_300

const written = (text: string) => (request: IncomingMessage) => void request.socket.write(text)
const diesAfter =
  (millis: number, text: string): RequestListener =>
  (request) => {
    written(text)(request)
    setTimeout(() => request.socket.destroy(), millis)
  }
const head = (...fields: ReadonlyArray<string>) => `HTTP/1.1 200 OK\r\n${fields.join("\r\n")}\r\n\r\n`

/** What the seller's list says of the endpoint's payments. */
const listOf = Effect.fnUntraced(function* ({ endpoint, key }: Effect.Success<ReturnType<typeof seller>>) {
  const path = `/v1/x402/endpoints/${endpoint.id}/payments`
  const { json } = yield* send(path, { headers: { authorization: `Bearer ${key}` } })
  return json.data.map(({ charged, failure, status }: Record<string, unknown>) => [status, charged, failure])
})

/** Waits until the row of a payment is in this state. */
const reaches = Effect.fnUntraced(function* (id: string, state: string) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.repeat(sql`SELECT 1 FROM payments WHERE id = ${fromTypeId("pay", id)} AND state = ${state}`, {
    until: (rows) => rows.length === 1,
    schedule: Schedule.spaced("20 millis")
  })
})

/** A buyer with a proof for this shop. */
const proofFor = Effect.fnUntraced(function* (shop: Effect.Success<ReturnType<typeof seller>>) {
  const agent = yield* buyer(funds)
  const { json } = yield* pay(agent.key, { url: shop.endpoint.gatewayUrl, from_wallet_id: agent.purse })
  return { ...agent, id: String(json.id), headers: { "x-payment-proof": String(json.proof) } }
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })(
  "an origin that sends no body, or half of one",
  (it) => {
    const rows: ReadonlyArray<[string, RequestListener, number, string, string, Partial<NewEndpoint>]> = [
      [
        "announced a short one, and dies late",
        diesAfter(dawdle, head("Content-Length: 50")),
        502,
        "ORIGIN_UNREACHABLE",
        "origin_unreachable",
        {}
      ],
      [
        "announced a long one, and dies",
        diesAfter(300, head("Content-Length: 200000")),
        502,
        "ORIGIN_UNREACHABLE",
        "origin_unreachable",
        {}
      ],
      [
        "announced one and said that it closes",
        diesAfter(0, head("Content-Length: 50", "Connection: close")),
        502,
        "ORIGIN_UNREACHABLE",
        "origin_unreachable",
        {}
      ],
      [
        "ends before its first chunk",
        (request) => request.socket.end(head("Transfer-Encoding: chunked")),
        502,
        "ORIGIN_UNREACHABLE",
        "origin_unreachable",
        {}
      ],
      [
        "sends a first chunk that is none",
        written(`${head("Transfer-Encoding: chunked")}nonsense\r\n`),
        502,
        "ORIGIN_BAD_ANSWER",
        "origin_bad_answer",
        {}
      ],
      [
        "sends half of a short one, and dies late",
        diesAfter(dawdle, `${head("Content-Length: 10")}half`),
        502,
        "ORIGIN_UNREACHABLE",
        "origin_unreachable",
        {}
      ],
      [
        "sends a second chunk that is none",
        written(`${head("Transfer-Encoding: chunked")}4\r\nhalf\r\nnonsense\r\n`),
        502,
        "ORIGIN_BAD_ANSWER",
        "origin_bad_answer",
        {}
      ],
      [
        "falls silent after its head",
        written(head("Content-Length: 50")),
        504,
        "ORIGIN_TIMEOUT",
        "origin_timeout",
        { timeoutMs: dawdle }
      ]
    ]
    for (const [name, listener, status, code, failure, endpoint] of rows) {
      it.effect(`and ${name}, is not paid, and its caller tries again with the same proof`, () =>
        Effect.gen(function* () {
          let broken = true
          const shop = yield* seller(
            (request, response) => (broken ? listener(request, response) : response.end("served")),
            endpoint
          )
          const { headers, purse } = yield* proofFor(shop)
          const answer = yield* send(shop.path, { headers })
          assert.deepStrictEqual([answer.status, answer.json.code], [status, code], answer.body)
          assert.isUndefined(answer.headers["payment-response"])
          assert.deepStrictEqual(yield* listOf(shop), [["released", null, failure]])
          assert.deepStrictEqual(yield* balance(purse), { posted: funds, held: 0n })
          broken = false
          const again = yield* send(shop.path, { headers })
          assert.deepStrictEqual([again.status, again.body], [200, "served"])
          assert.strictEqual(yield* charged(purse, funds), 10_000n)
        })
      )
    }

    it.effect("but the head of an event stream, with every byte of its fields", () =>
      Effect.gen(function* () {
        const stream = head("Content-Type: text/event-stream", "X-Name: caf\u00e9 \u00ff")
        const shop = yield* seller(({ socket }) => void socket.write(stream, "latin1"))
        const { headers } = yield* proofFor(shop)
        const { headers: got, leave } = yield* openStream(shop.path, headers)
        assert.strictEqual(got["x-name"], "caf\u00e9 \u00ff")
        yield* leave
      })
    )

    it.effect("but the head of an event stream: the caller is cut off, and is not charged", () =>
      Effect.gen(function* () {
        const origins: Array<IncomingMessage> = []
        const shop = yield* seller((request, response) => {
          origins.push(request)
          response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
        })
        const { headers, id, purse } = yield* proofFor(shop)
        const stream = yield* openStream(shop.path, headers)
        assert.strictEqual(stream.headers["x-payment-id"], id)
        assert.deepStrictEqual(yield* listOf(shop), [["in_flight", null, null]])
        origins[0]?.socket.destroy()
        assert.isFalse(yield* stream.ended)
        yield* reaches(id, "released")
        assert.deepStrictEqual(yield* listOf(shop), [["released", null, "origin_unreachable"]])
        assert.deepStrictEqual(yield* balance(purse), { posted: funds, held: 0n })
      })
    )
  }
)

layer(server, { timeout: "60 seconds", excludeTestServices: true })("the charge of an answer", (it) => {
  it.effect("is not for an answer that says no: that arrives whole, however late its end is, and takes nothing", () =>
    Effect.gen(function* () {
      const half = "x".repeat(50_000)
      const shop = yield* baseSeller((_, response) => {
        response.writeHead(500, { "content-length": 2 * half.length }).write(half)
        setTimeout(() => response.end(half), dawdle)
      })
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      for (const _ of [1, 2]) {
        const { body, status } = yield* callWith(shop.path, header)
        assert.deepStrictEqual([status, body.length], [500, 2 * half.length])
        assert.deepStrictEqual(yield* balance(purse), { posted: funds, held: 0n })
      }
    })
  )

  it.effect("that streams events begins with the first of them, which arrives at once", () =>
    Effect.gen(function* () {
      let event = (_: string) => {}
      const shop = yield* seller((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
        event = (text) => void response.write(text)
      })
      const { headers, id, purse } = yield* proofFor(shop)
      const stream = yield* openStream(shop.path, headers)
      assert.deepStrictEqual(yield* listOf(shop), [["in_flight", null, null]])
      event("data: one\n\n")
      assert.strictEqual(yield* stream.next, "data: one\n\n")
      yield* reaches(id, "captured")
      yield* stream.leave
      assert.strictEqual(yield* charged(purse, funds), 10_000n)
    })
  )

  it.effect("that broke off after it was charged stays, and the caller is cut off", () =>
    Effect.gen(function* () {
      const shop = yield* seller(diesAfter(dawdle, `${head("Transfer-Encoding: chunked")}4\r\nhalf\r\n`))
      const { headers, id, purse } = yield* proofFor(shop)
      const stream = yield* openStream(shop.path, headers)
      assert.strictEqual(yield* stream.next, "half")
      assert.isFalse(yield* stream.ended)
      yield* reaches(id, "captured")
      assert.strictEqual(yield* charged(purse, funds), 10_000n)
    })
  )

  it.effect("whose caller left in the middle of it stays, and the same request is given all of it", () =>
    Effect.gen(function* () {
      let end = () => {}
      const shop = yield* seller((_, response) => {
        response.write("one ")
        end = () => void response.end("two")
      })
      const { headers, purse } = yield* proofFor(shop)
      const stream = yield* openStream(shop.path, headers)
      assert.strictEqual(yield* stream.next, "one ")
      yield* stream.leave
      end()
      const again = yield* Effect.repeat(send(shop.path, { headers }), {
        until: ({ json }) => json?.code !== "PAYMENT_IN_PROGRESS"
      })
      assert.deepStrictEqual([again.status, again.body, shop.backend.seen.length], [200, "one two", 1])
      assert.strictEqual(yield* charged(purse, funds), 10_000n)
    })
  )

  it.effect("waits for a small body that is late in coming: it is kept whole, for its payer to ask for again", () =>
    Effect.gen(function* () {
      const shop = yield* baseSeller((_, response) => {
        response.writeHead(200, { "content-length": 6 }).write("ser")
        setTimeout(() => response.end("ved"), dawdle)
      })
      const { account, purse } = yield* signer(funds)
      const { header } = yield* signFor(account, shop.path)
      for (const answer of [yield* callWith(shop.path, header), yield* callWith(shop.path, header)]) {
        assert.deepStrictEqual([answer.status, answer.body], [200, "served"])
      }
      assert.strictEqual(shop.backend.seen.length, 1)
      assert.deepStrictEqual(yield* balance(purse), { posted: funds - 10_000n, held: 0n })
    })
  )

  for (const [name, answer] of [
    ["of no length", head("Content-Length: 0")],
    ["of no chunk", `${head("Transfer-Encoding: chunked")}0\r\n\r\n`],
    ["of none by its status", "HTTP/1.1 204 No Content\r\n\r\n"]
  ] as const) {
    it.effect(`comes with the end of a body ${name}`, () =>
      Effect.gen(function* () {
        const shop = yield* seller(written(answer))
        const { headers, purse } = yield* proofFor(shop)
        const { headers: got } = yield* send(shop.path, { headers })
        assert.isDefined(got["payment-response"])
        assert.deepStrictEqual(yield* listOf(shop), [["captured", "0.01", null]])
        assert.strictEqual(yield* charged(purse, funds), 10_000n)
      })
    )
  }
})
