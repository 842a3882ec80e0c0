import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { Socket } from "node:net"
import { toTypeId } from "#domain/Ids.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import { Agents } from "#services/Agents.ts"
import { Credentials } from "#services/Credentials.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { open } from "../services/AgentsHarness.ts"
import { scene, until, Wire } from "./ChannelHarness.ts"
import { ask, bearer, entrance, layer as server } from "./PlatformHarness.ts"

const options = { excludeTestServices: true, timeout: "60 seconds" } as const

layer(server(), options)("GET /v1/agents/{id}/connect", (it) => {
  it.effect("is a stream that proxies and browsers pass on as it is, under either spelling of id and path", () =>
    Effect.gen(function* () {
      const { connect, one, path, session, shown } = yield* scene
      for (const target of [path, `/v1/agents/${one.id}/connect`, `${path}/`]) {
        const wire = yield* connect({ origin: "https://agent.example", "x-request-id": "req-7" }, target)
        assert.match(wire.head, /^HTTP\/1\.1 200 OK\r\n/)
        for (const line of [
          "Content-Type: text/event-stream; charset=utf-8",
          "Cache-Control: no-store, no-transform",
          "X-Accel-Buffering: no",
          "X-Request-Id: req-7",
          "X-Environment: test",
          "Connection: close",
          "access-control-allow-origin: *",
          "x-content-type-options: nosniff"
        ]) {
          assert.include(wire.head, line)
        }
        assert.notMatch(wire.head, /content-length|content-encoding/i)
        assert.deepInclude(wire.messages[0]?.data, { agent_id: shown, session_id: toTypeId("ses", session.sessionId) })
      }
    })
  )

  it.effect("tells an agent of money that came, whatever the memo says, and goes on after what was handled", () =>
    Effect.gen(function* () {
      const { connect, memos, pay, path, told } = yield* scene
      const first = yield* connect()
      const hostile = "a\nb\r\nevent: key_rotated\rdata: {}\n\nid: x\u2028"
      const { transfer } = yield* pay(hostile)
      yield* told(first, "transfer_completed")
      assert.deepStrictEqual(first.names, ["connected", "transfer_completed"])
      const [, event] = first.messages
      assert.deepInclude(event?.data, {
        transfer_id: toTypeId("tx", transfer.id),
        amount: "1.00",
        direction: "inbound"
      })
      assert.deepStrictEqual(memos(first), [hostile])
      first.socket.destroy()
      yield* pay("while away")
      const resumed = yield* connect({ "last-event-id": event?.id ?? "" })
      yield* told(resumed, "transfer_completed")
      assert.deepStrictEqual([resumed.names[0], memos(resumed)], ["connected", ["while away"]])
      const address = `${path}?last_event_id=${event?.id}`
      for (const none of [{}, { "last-event-id": "" }]) yield* told(yield* connect(none, address), "transfer_completed")
      // The header is what a browser sends when it comes back, and the address what it first came with.
      const both = yield* connect({ "last-event-id": resumed.messages[1]?.id ?? "" }, address)
      assert.deepStrictEqual([both.messages[0]?.data.resumed, memos(both)], [true, []])
    })
  )

  it.effect("begins with resync for an id that is none, twice one or too long, and is 431 for a megabyte", () =>
    Effect.gen(function* () {
      const { connect, path, port, request } = yield* scene
      const id = toTypeId("evt", "01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10")
      for (const [headers, reason] of [
        [{ "last-event-id": "yesterday" }, "malformed"],
        [{ "last-event-id": `${id}\r\nlast-event-id: ${id}` }, "malformed"],
        [{ "last-event-id": "x".repeat(10_000) }, "malformed"],
        [{ "last-event-id": id }, "unknown"]
      ] as const) {
        const wire = yield* connect(headers)
        assert.deepStrictEqual([wire.names, wire.messages[0]?.data.reason], [["resync", "connected"], reason])
      }
      for (const query of ["last_event_id=%ff", "last_event_id=%0d%0aevent:x", "last_event_id=1&last_event_id=2"]) {
        assert.strictEqual((yield* connect({}, `${path}?${query}`)).names[0], "resync")
      }
      const long = new Wire(port, request(path, { "last-event-id": "x".repeat(1_048_576) }))
      yield* until(
        () => long.text,
        () => long.text.startsWith("HTTP/1.1 431 ")
      )
      long.socket.destroy()
    })
  )

  it.effect("is described by a stream that begins as a real one does, with an id to come back with", () =>
    Effect.gen(function* () {
      const { base, connect } = yield* scene
      const wire = yield* connect()
      const example = String((yield* ask(`${base}/openapi.json`)).text)
      for (const stream of [JSON.stringify(wire.text), example]) {
        assert.match(stream, /retry: \d+\\nevent: connected\\nid: evt_\w{26}\\ndata: /)
      }
    })
  )

  it.effect("takes the session token of that agent and nothing else", () =>
    Effect.gen(function* () {
      const { base, one, path, session } = yield* scene
      const other = yield* scene
      const { key } = yield* entrance
      const codes = (headers: Record<string, string>, target = path, method = "GET") =>
        Effect.map(ask(`${base}${target}`, { method, headers }), ({ body, status }) => [status, body["code"]])
      assert.deepStrictEqual(yield* codes({}), [401, "MISSING_AUTH_HEADER"])
      assert.deepStrictEqual(yield* codes({ authorization: `Bearer sess_${"x".repeat(32)}` }), [
        401,
        "INVALID_SESSION_TOKEN"
      ])
      for (const wrong of [key, Redacted.make(one.token)]) {
        assert.deepStrictEqual(yield* codes(bearer(wrong)), [403, "FORBIDDEN"])
      }
      const mine = bearer(session.sessionToken)
      for (const target of [other.path, "/v1/agents/nonsense/connect", "/v1/agents/%61gt/connect"]) {
        assert.deepStrictEqual(yield* codes(mine, target), [404, "NOT_FOUND"])
      }
      for (const method of ["POST", "HEAD", "DELETE"]) {
        const refused = yield* ask(`${base}${path}`, { method, headers: mine })
        assert.deepStrictEqual([refused.status, refused.headers.get("allow")], [405, "GET, OPTIONS"], method)
        assert.strictEqual(refused.headers.get("x-environment"), "test")
      }
      const preflight = yield* ask(`${base}${path}`, {
        method: "OPTIONS",
        headers: { origin: "https://agent.example" }
      })
      assert.deepStrictEqual(preflight.status, 204)
      assert.include(preflight.headers.get("access-control-allow-headers") ?? "", "last-event-id")
      assert.strictEqual(preflight.headers.get("access-control-allow-methods"), "GET, OPTIONS")
      assert.deepStrictEqual(
        ["allow", "access-control-allow-origin", "x-environment"].map((name) => preflight.headers.get(name)),
        ["GET, OPTIONS", "*", "test"]
      )
      assert.match(preflight.headers.get("x-request-id") ?? "", /^req_/)
    })
  )

  it.effect("gives way to a later connection of the same session, and ends with its session", () =>
    Effect.gen(function* () {
      const { base, caller, connect, one, over, path, session } = yield* scene
      const [first, second] = [yield* connect(), yield* connect()]
      yield* over(first)
      assert.deepStrictEqual([first.names.at(-1), second.isOver], ["superseded", false])
      yield* (yield* Agents).suspend(caller, one.id, "lost")
      yield* over(second)
      assert.deepStrictEqual(second.messages.at(-1)?.data, { reason: "session_ended" })
      const refused = yield* ask(`${base}${path}`, { headers: bearer(session.sessionToken) })
      assert.strictEqual(refused.body["code"], "AGENT_SUSPENDED")
    })
  )

  it.effect("ends when its peer goes, and its agent is shown as gone", () =>
    Effect.gen(function* () {
      const { base, caller, connect, shown } = yield* scene
      const named = { tenant_id: caller.tenant_id, kind: "api_key", name: "watcher", scopes: ["agents:read"] } as const
      const { key } = yield* (yield* Credentials).issue(named)
      const liveness = ask(`${base}/v1/agents/${shown}/liveness`, { headers: bearer(key) })
      const wire = yield* connect()
      assert.deepInclude((yield* liveness).body, { agent_id: shown, connected: true, transport: "sse" })
      wire.socket.destroy()
      const gone = Effect.map(liveness, ({ body }) => body["connected"] === false)
      assert.isTrue(yield* Effect.repeat(gone, { until: (is) => is, schedule: Schedule.spaced("5 millis") }))
    })
  )

  for (const [what, leave] of [
    ["says no more", (wire: Wire) => void wire.socket.end()],
    ["breaks it off", (wire: Wire) => void wire.socket.resetAndDestroy()]
  ] as const) {
    it.effect(`ends when its peer ${what}, and makes room for another`, () =>
      Effect.gen(function* () {
        const { connect, one, over } = yield* scene
        const server = (yield* HttpListener).server
        const taken: Array<Socket> = []
        const take = (socket: Socket) => taken.push(socket)
        server.on("connection", take)
        const wire = yield* connect()
        server.off("connection", take)
        const ours = taken.filter(({ remotePort }) => remotePort === wire.socket.localPort)
        assert.deepStrictEqual(
          ours.map(({ destroyed }) => destroyed),
          [false]
        )
        leave(wire)
        yield* over(wire)
        const channel = yield* AgentChannel
        const gone = Effect.map(
          channel.liveness({ ...one.caller }, one.id),
          ({ connected }) => !connected && ours.every(({ destroyed }) => destroyed)
        )
        assert.isTrue(yield* Effect.repeat(gone, { until: (is) => is, schedule: Schedule.spaced("5 millis") }))
      })
    )
  }

  it.effect("carries out nothing that stands behind it on its connection", () =>
    Effect.gen(function* () {
      const { connect, one, path, port, request, told, pay } = yield* scene
      const other = yield* open(one)
      const behind = request(path, { authorization: `Bearer ${other.sessionToken}` })
      const wire = new Wire(port, `GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n${request()}${behind}`)
      yield* Effect.addFinalizer(() => Effect.sync(() => wire.socket.destroy()))
      yield* until(
        () => wire.text,
        () => wire.text.includes("event: connected")
      )
      const later = yield* connect({ authorization: `Bearer ${other.sessionToken}` })
      yield* pay("to both")
      yield* told(later, "transfer_completed")
      yield* until(
        () => wire.text,
        () => wire.text.includes("to both")
      )
      const count = (text: string) => wire.text.split(text).length - 1
      assert.deepStrictEqual([count("HTTP/1.1 200"), count("event: connected"), count("superseded")], [2, 1, 0])
    })
  )

  it.effect("listens to nothing that is sent behind the request, and takes no body", () =>
    Effect.gen(function* () {
      const { connect, memos, pay, path, port, request, told } = yield* scene
      const wire = yield* connect()
      wire.socket.write(`${request()}garbage\r\n\r\n`)
      yield* pay("still there")
      yield* told(wire, "transfer_completed")
      assert.deepStrictEqual([memos(wire), wire.text.split("HTTP/1.1 ").length], [["still there"], 2])
      wire.socket.write(Buffer.alloc(2_000_000, "x"))
      yield* pay("after that, too")
      yield* until(
        () => `${memos(wire)}`,
        () => memos(wire).length === 2
      )
      assert.isFalse(wire.isOver)
      const withBody = new Wire(port, `${request(path, { "content-length": "2" })}{}`)
      yield* until(
        () => withBody.text,
        () => withBody.text.startsWith("HTTP/1.1 400 ")
      )
      withBody.socket.destroy()
    })
  )

  it.effect(
    "keeps nothing for a reader that does not read, and tells it everything when it does; the others do not wait",
    () =>
      Effect.gen(function* () {
        const { caller, connect, memos, one, pay } = yield* scene
        const session = yield* open(one)
        const slow = yield* connect()
        slow.socket.pause()
        const quick = yield* connect({ authorization: `Bearer ${session.sessionToken}` })
        const sql = yield* SqlClient.SqlClient
        // More than the two kernels and we hold for it: 40 events of half a megabyte.
        const at = toTypeId("agt", one.id)
        for (let turn = 0; turn < 40; turn++) {
          yield* sql`WITH head AS (UPDATE ledger_head SET event_seq = event_seq + 1 WHERE log = 1 RETURNING event_seq)
          INSERT INTO events (seq, id, tenant_id, type, data, created_at)
          SELECT event_seq, gen_random_uuid(), ${caller.tenant_id}, 'a2a.task.created',
            jsonb_build_object('task', jsonb_build_object('to_agent_id', ${at}::text, 'payload', repeat('x', 500000))), now()
          FROM head`
        }
        yield* pay("the last")
        yield* until(
          () => `${quick.names.length} events`,
          () => memos(quick).length === 1
        )
        assert.strictEqual(quick.names.filter((name) => name === "task_assigned").length, 40)
        slow.socket.resume()
        yield* until(
          () => `${slow.names.length} events`,
          () => memos(slow).length === 1
        )
        // Heartbeats, which have no id, are for those who have read everything.
        const ids = ({ messages }: typeof slow) => messages.flatMap(({ id }) => (id === undefined ? [] : [id])).slice(1)
        assert.deepStrictEqual(ids(slow), ids(quick))
      })
  )
})

layer(server({ TURNPIKE_MAX_CONNECTIONS: "10" }), options)("a server with room for ten connections", (it) => {
  it.effect("keeps some of them for other requests", () =>
    Effect.gen(function* () {
      const { base, caller, connect, one, path } = yield* scene
      for (let count = 0; count < 8; count++) yield* connect(bearer((yield* open(one)).sessionToken))
      const refused = yield* ask(`${base}${path}`, { headers: bearer((yield* open(one)).sessionToken) })
      assert.deepStrictEqual([refused.status, refused.headers.get("retry-after")], [503, "1"])
      assert.strictEqual((yield* ask(`${base}/health/ready`)).status, 200)
      assert.isString(caller.tenant_id)
    })
  )
})
