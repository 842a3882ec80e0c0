import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { maxReplayedAtOnce } from "#domain/Delivery.ts"
import { EventType } from "#domain/Event.ts"
import { Credentials } from "#services/Credentials.ts"
import { EventLog } from "#services/EventLog.ts"
import { newUuid } from "#services/NewId.ts"
import { operations } from "./Description.ts"
import { type Answer, origin, send, server, tenant } from "./GatewayHarness.ts"
import { world } from "./World.ts"

/** A new tenant's way to call. */
const client = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  const ask = (method: string, path: string, body?: unknown, bearer = key) =>
    send(`/v1/webhooks${path}`, {
      method,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  const subscribe = Effect.fnUntraced(function* (more: object = {}) {
    const made = yield* ask("POST", "", { url: "https://example.com/hooks", events: ["transfer.*"], ...more })
    assert.strictEqual(made.status, 201, made.body)
    return made.json
  })
  return { ask, principal, subscribe }
})

const whatIsWrong = ({ json, status }: Answer) => [status, json.code, json.details?.errors?.[0]?.path]

layer(server, { timeout: "60 seconds", excludeTestServices: true })("webhooks over HTTP", (it) => {
  it.effect("a subscription is made, shown, changed and deleted", () =>
    Effect.gen(function* () {
      const { ask, subscribe } = yield* client
      const { secret, ...made } = yield* subscribe({ description: "Books" })
      assert.match(made.id, /^wh_[0-9a-z]{26}$/)
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/)
      assert.deepInclude(made, { status: "active", status_reason: null, failures: 0, failing_since: null })
      assert.deepStrictEqual((yield* ask("GET", `/${made.id}`)).json, made)
      const listed = yield* ask("GET", "?limit=10&status=active")
      assert.deepStrictEqual(listed.json, {
        data: [made],
        pagination: { page: 1, limit: 10, total: 1, totalPages: 1 }
      })
      const changed = yield* ask("PATCH", `/${made.id}`, { status: "paused", description: null })
      assert.deepInclude(changed.json, { status: "paused", status_reason: "requested", description: null })
      assert.deepStrictEqual((yield* ask("GET", "?status=active")).json.data, [])
      const gone = yield* ask("DELETE", `/${made.id}`)
      assert.deepStrictEqual([gone.status, gone.body], [204, ""])
      for (const [method, path] of [
        ["GET", ""],
        ["DELETE", ""],
        ["PATCH", ""],
        ["POST", "/test"],
        ["POST", "/rotate-secret"],
        ["GET", "/deliveries"]
      ] as const) {
        const answer = yield* ask(method, `/${made.id}${path}`, method === "PATCH" ? {} : undefined)
        assert.deepStrictEqual([answer.status, answer.json.code], [404, "NOT_FOUND"], path)
      }
    })
  )

  it.effect("the secret is in the answers to creation and rotation, and in no other", () =>
    Effect.gen(function* () {
      const { call } = yield* world
      const about = operations.filter(({ id }) => id.startsWith("webhooks.") && id !== "webhooks.remove")
      const showing: Array<string> = []
      for (const operation of about) {
        const answer = yield* call(operation)
        assert.strictEqual(Math.floor(answer.status / 100), 2, `${operation.id}: ${answer.body}`)
        if (/whsec_|"secret"/.test(answer.body)) showing.push(operation.id)
      }
      assert.deepStrictEqual(showing.sort(), ["webhooks.create", "webhooks.rotateSecret"])
    })
  )

  it.effect("what is no subscription is refused at the field that is wrong", () =>
    Effect.gen(function* () {
      const { ask, subscribe } = yield* client
      const good = { url: "https://example.com/", events: ["*"] }
      for (const [body, path] of [
        [{ ...good, events: ["*", "transfer.vanished"] }, "events.1"],
        [{ ...good, events: [] }, "events"],
        [{ ...good, events: ["*", "*"] }, "events"],
        [{ ...good, events: "*" }, "events"],
        [{ events: ["*"] }, "url"],
        [{ ...good, url: 1 }, "url"],
        [{ ...good, description: "x".repeat(1001) }, "description"],
        [{ ...good, secret: "whsec_mine" }, "secret"],
        [{ ...good, status: "active" }, "status"]
      ] as const) {
        assert.deepStrictEqual(whatIsWrong(yield* ask("POST", "", body)), [400, "INVALID_REQUEST", path])
      }
      const unknown = yield* ask("POST", "", { ...good, events: ["transfer.vanished"] })
      assert.include(unknown.body, String.raw`\"transfer.vanished\" is no type of event`)
      const { id } = yield* subscribe()
      for (const [body, path] of [
        [{ status: "disabled" }, "status"],
        [{ events: ["vanished"] }, "events.0"],
        [{ secret: "x" }, "secret"]
      ] as const) {
        assert.deepStrictEqual(whatIsWrong(yield* ask("PATCH", `/${id}`, body)), [400, "INVALID_REQUEST", path])
      }
      for (const overlap_seconds of [-1, 604_801, 1.5, "60"]) {
        const refused = yield* ask("POST", `/${id}/rotate-secret`, { overlap_seconds })
        assert.deepStrictEqual(whatIsWrong(refused), [400, "INVALID_REQUEST", "overlap_seconds"])
      }
      assert.deepStrictEqual(whatIsWrong(yield* ask("POST", `/${id}/test`, { type: "transfer.*" })).slice(0, 2), [
        400,
        "INVALID_REQUEST"
      ])
      for (const since of [undefined, "yesterday", "2026-01-01"]) {
        assert.deepStrictEqual(whatIsWrong(yield* ask("POST", `/${id}/replay`, { since })), [
          400,
          "INVALID_REQUEST",
          "since"
        ])
      }
      for (const cursor of ["x", "MA", 1]) {
        const refused = yield* ask("POST", `/${id}/replay`, { since: "2026-01-01T00:00:00Z", cursor })
        assert.deepStrictEqual(whatIsWrong(refused), [400, "INVALID_REQUEST", "cursor"])
      }
      for (const query of ["status=gone", "event_type=transfer.*", "since=yesterday", "until=tomorrow", "cursor=x"]) {
        assert.strictEqual((yield* ask("GET", `/${id}/deliveries?${query}`)).status, 400, query)
      }
    })
  )

  it.effect("an address that must not be called is 422 with its reason, also when a webhook is moved to it", () =>
    Effect.gen(function* () {
      const { ask, subscribe } = yield* client
      const { id } = yield* subscribe()
      for (const [url, reason] of [
        ["http://example.com/", "SchemeNotAllowed"],
        ["https://169.254.169.254/", "AddressNotPublic"],
        ["https://[::ffff:a9fe:a9fe]/", "AddressNotPublic"],
        ["https://0xa9fea9fe/", "AddressNotPublic"],
        ["https://user:pw@example.com/", "UserInfo"],
        [`https://example.com/${"x".repeat(2048)}`, "TooLong"]
      ] as const) {
        for (const refused of [
          yield* ask("POST", "", { url, events: ["*"] }),
          yield* ask("PATCH", `/${id}`, { url })
        ]) {
          assert.deepStrictEqual(
            [refused.status, refused.json.code, refused.json.details],
            [422, "ORIGIN_NOT_ALLOWED", { field: "url", reason }]
          )
          assert.match(refused.json.detail, /^url: (?:must|has) /)
        }
      }
      const receiver = yield* origin((_, response) => response.end())
      assert.strictEqual((yield* subscribe({ url: receiver.url })).url, `${receiver.url}/`)
    })
  )

  it.effect("bodies of rotation and test may be left out, and are looked at when they are there", () =>
    Effect.gen(function* () {
      const { ask, subscribe } = yield* client
      const made = yield* subscribe()
      const secrets = [made.secret]
      for (const body of [undefined, {}, { overlap_seconds: 0 }]) {
        const rotated = yield* ask("POST", `/${made.id}/rotate-secret`, body)
        assert.strictEqual(rotated.status, 200, rotated.body)
        secrets.push(rotated.json.secret)
      }
      assert.strictEqual(new Set(secrets).size, 4)
      for (const body of [undefined, {}, { type: "x402.payment.completed" }]) {
        const sent = yield* ask("POST", `/${made.id}/test`, body)
        assert.strictEqual(sent.status, 202, sent.body)
        assert.match(sent.json.event_id, /^evt_/)
        const { json } = yield* ask("GET", `/${made.id}/deliveries/${sent.json.delivery_id}`)
        assert.deepInclude(json, {
          id: sent.json.delivery_id,
          event_id: sent.json.event_id,
          webhook_id: made.id,
          event_type: body?.type ?? "webhook.test",
          cause: "test"
        })
      }
      for (const path of ["test", "rotate-secret"]) {
        for (const body of [[], "x", 0, { unknown: 1 }]) {
          const refused = yield* ask("POST", `/${made.id}/${path}`, body)
          assert.deepStrictEqual([refused.status, refused.json.code], [400, "INVALID_REQUEST"], JSON.stringify(body))
        }
      }
    })
  )

  it.effect("deliveries are paged, and one of another webhook is not found under this one", () =>
    Effect.gen(function* () {
      const { ask, subscribe } = yield* client
      const [{ id }, other] = [yield* subscribe(), yield* subscribe()]
      const sent: Array<string> = []
      for (const _ of [1, 2, 3]) sent.unshift((yield* ask("POST", `/${id}/test`)).json.delivery_id)
      const first = yield* ask("GET", `/${id}/deliveries?limit=2`)
      const second = yield* ask("GET", `/${id}/deliveries?limit=2&cursor=${first.json.pagination.next_cursor}`)
      const shown = [...first.json.data, ...second.json.data].map((one) => one.id)
      assert.deepStrictEqual([shown, second.json.pagination], [sent, { limit: 2, next_cursor: null }])
      assert.deepStrictEqual((yield* ask("GET", `/${other.id}/deliveries`)).json.data, [])
      for (const [path, way] of [
        [`/${other.id}/deliveries/${sent[0]}`, "GET"],
        [`/${other.id}/deliveries/${sent[0]}/replay`, "POST"],
        [`/${id}/deliveries/${newUuid()}`, "GET"],
        [`/${id}/deliveries/nonsense`, "GET"]
      ] as const) {
        const answer = yield* ask(way, path)
        assert.deepStrictEqual([answer.status, answer.json.code], [404, "NOT_FOUND"], path)
      }
      const again = yield* ask("POST", `/${id}/deliveries/${sent[0]}/replay`)
      const before = yield* ask("GET", `/${id}/deliveries/${sent[0]}`)
      assert.deepStrictEqual([again.status, again.json.event_id], [202, before.json.event_id])
      assert.notInclude(sent, again.json.delivery_id)
    })
  )

  it.effect("a replay of more than goes at once is gone on with from the cursor that it answers", () =>
    Effect.gen(function* () {
      const { ask, principal, subscribe } = yield* client
      const { id } = yield* subscribe()
      const { append } = yield* EventLog
      const { tenant_id } = principal
      const since = (yield* DateTime.nowAsDate).toISOString()
      const fact = { tenant_id, type: "transfer.created", data: {} } as const
      yield* append(Array.from({ length: maxReplayedAtOnce + 1 }, () => fact))
      const first = yield* ask("POST", `/${id}/replay`, { since })
      assert.deepStrictEqual([first.status, first.json.queued], [202, maxReplayedAtOnce], first.body)
      assert.isAbove(Date.parse(first.json.until), Date.parse(since))
      const rest = yield* ask("POST", `/${id}/replay`, { since, cursor: first.json.next_cursor })
      assert.deepInclude(rest.json, { queued: 1, next_cursor: null })
    })
  )

  it.effect("the catalogue shows every type, and is no webhook", () =>
    Effect.gen(function* () {
      const { ask } = yield* client
      const { json, status } = yield* ask("GET", "/event-types?limit=200")
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(
        json.data.map(({ type }: { readonly type: string }) => type),
        [...EventType.literals]
      )
      const page = yield* ask("GET", "/event-types?limit=1&page=2")
      assert.deepStrictEqual(page.json.data, json.data.slice(1, 2))
      assert.strictEqual(page.json.pagination.total, EventType.literals.length)
    })
  )

  it.effect("who may only read does not write, and who may do other things does nothing", () =>
    Effect.gen(function* () {
      const { ask, principal, subscribe } = yield* client
      const { id } = yield* subscribe()
      const credentials = yield* Credentials
      const keyFor = (scope: string) =>
        Effect.map(
          credentials.issue({ tenant_id: principal.tenant_id, kind: "api_key", name: "k", scopes: [scope] }),
          ({ key }) => key
        )
      const [reader, stranger] = [yield* keyFor("webhooks:read"), yield* keyFor("transfers:*")]
      for (const [method, path] of [
        ["POST", ""],
        ["PATCH", `/${id}`],
        ["DELETE", `/${id}`],
        ["POST", `/${id}/rotate-secret`],
        ["POST", `/${id}/test`],
        ["POST", `/${id}/replay`]
      ] as const) {
        const refused = yield* ask(method, path, undefined, reader)
        assert.deepStrictEqual([refused.status, refused.json.code], [403, "INSUFFICIENT_SCOPE"], path)
      }
      for (const path of ["", `/${id}`, `/${id}/deliveries`, "/event-types"]) {
        assert.strictEqual((yield* ask("GET", path, undefined, reader)).status, 200, path)
        assert.strictEqual((yield* ask("GET", path, undefined, stranger)).status, 403, path)
      }
    })
  )
})
