import { assert, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient, SqlSchema } from "effect/sql"
import { toTypeId, WebhookId } from "#domain/Ids.ts"
import { maxWebhooks } from "#domain/Webhook.ts"
import { newUuid } from "#services/NewId.ts"
import { Webhooks } from "#services/Webhooks.ts"
import * as SigningSecrets from "#services/Webhooks/SigningSecrets.ts"
import { append, head, leave, platform, row, signing, subscribed, tenant, wanted } from "./WebhooksHarness.ts"

layer(platform, { timeout: "60 seconds" })("a webhook", (it) => {
  it.effect("comes back as it was made, but for its secret", () =>
    Effect.gen(function* () {
      const { create, get, list } = yield* Webhooks
      const caller = yield* tenant
      const { secret, ...made } = yield* create(caller, { ...wanted, description: "Books" })
      assert.deepInclude(made, { ...wanted, description: "Books", status: "active", status_reason: null, failures: 0 })
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/)
      assert.deepStrictEqual(yield* get(caller, made.id), made)
      const { total, webhooks } = yield* list(caller, {}, { limit: 10, offset: 0 })
      assert.deepStrictEqual([total, webhooks], [1, [made]])
    })
  )

  it.effect("has a secret of its own, which is kept sealed and opens for no other webhook", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* subscribed, yield* subscribed]
      assert.notStrictEqual(one.secret, other.secret)
      assert.deepStrictEqual(yield* signing(one.id), [one.secret])
      const kept = yield* row(one.id)
      const bytes = Buffer.from(one.secret.slice("whsec_".length), "base64")
      for (const spelling of [one.secret, bytes.toString("base64"), bytes.toString("hex")]) {
        assert.notInclude(kept.text, spelling)
      }
      const { open, seal } = yield* SigningSecrets.make
      assert.isTrue(Result.isFailure(yield* Effect.result(Effect.sandbox(open(other.id, kept.secret)))))
      assert.notDeepEqual(yield* seal(one.id, one.secret), kept.secret)
    })
  )

  it.effect("is not made for an address that must not be called, nor moved to one", () =>
    Effect.gen(function* () {
      const { create, get, list, update } = yield* Webhooks
      const { caller, id } = yield* subscribed
      for (const [url, reason] of [
        ["http://example.com/", "SchemeNotAllowed"],
        ["https://2130706433/", "AddressNotPublic"],
        ["https://turnpike.test/v1/webhooks", "OwnHost"]
      ] as const) {
        const made = yield* Effect.flip(create(caller, { ...wanted, url }))
        const moved = yield* Effect.flip(update(caller, id, { url, description: "x" }))
        for (const refused of [made, moved]) assert.deepInclude(refused, { _tag: "ORIGIN_NOT_ALLOWED", reason })
      }
      assert.strictEqual((yield* list(caller, {}, { limit: 10, offset: 0 })).total, 1)
      assert.deepInclude(yield* get(caller, id), { url: wanted.url, description: null })
      const listed = "http://10.1.2.3:9000/x"
      assert.strictEqual((yield* create(caller, { ...wanted, url: listed })).url, listed)
    })
  )

  it.effect(`is one of ${maxWebhooks} at most, also when many are made at once`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { create } = yield* Webhooks
      const { caller, id } = yield* subscribed
      yield* sql`INSERT INTO webhooks (id, tenant_id, url, events, status, secret, since, created_at, updated_at)
        SELECT gen_random_uuid(), tenant_id, url, events, status, secret, since, created_at, updated_at
        FROM webhooks, generate_series(1, ${maxWebhooks - 3}) WHERE id = ${id}`
      const tried = yield* Effect.forEach(Array.from({ length: 8 }), () => Effect.result(create(caller, wanted)), {
        concurrency: 8
      })
      const refused = tried.flatMap((one) => (Result.isFailure(one) ? [one.failure] : []))
      assert.strictEqual(refused.length, 6)
      for (const one of refused) assert.deepInclude(one, { _tag: "TOO_MANY_WEBHOOKS", limit: maxWebhooks })
      yield* create(yield* tenant, wanted)
    })
  )

  it.effect("is listed newest first, by status, and only to its tenant", () =>
    Effect.gen(function* () {
      const { create, list, update } = yield* Webhooks
      const { caller, id: first } = yield* subscribed
      yield* subscribed
      const [second, third] = [yield* create(caller, wanted), yield* create(caller, wanted)]
      yield* update(caller, second.id, { status: "paused" })
      const ids = (filter: Parameters<typeof list>[1], limit = 10, offset = 0) =>
        Effect.map(list(caller, filter, { limit, offset }), ({ total, webhooks }) => [
          total,
          webhooks.map(({ id }) => id)
        ])
      assert.deepStrictEqual(yield* ids({}), [3, [third.id, second.id, first]])
      assert.deepStrictEqual(yield* ids({}, 1, 1), [3, [second.id]])
      assert.deepStrictEqual(yield* ids({ status: "paused" }), [1, [second.id]])
      assert.deepStrictEqual(yield* ids({ status: "disabled" }), [0, []])
    })
  )

  it.effect("changes where something is given", () =>
    Effect.gen(function* () {
      const { get, update } = yield* Webhooks
      const { caller, secret, ...made } = yield* subscribed
      yield* TestClock.adjust("1 minute")
      const changed = yield* update(caller, made.id, { events: ["*"], description: "All", url: "https://example.org" })
      assert.deepStrictEqual(changed, {
        ...made,
        url: "https://example.org/",
        events: ["*"],
        description: "All",
        updated_at: changed.updated_at
      })
      assert.isAbove(changed.updated_at.getTime(), made.updated_at.getTime())
      assert.deepStrictEqual(yield* get(caller, made.id), changed)
      assert.deepInclude(yield* update(caller, made.id, { description: null }), { description: null, events: ["*"] })
      assert.deepStrictEqual(yield* signing(made.id), [secret])
    })
  )

  it.effect("stays as it is, with its time, when a change gives nothing or what is so already", () =>
    Effect.gen(function* () {
      const { get, update } = yield* Webhooks
      const { caller, secret: _, ...made } = yield* subscribed
      yield* TestClock.adjust("1 minute")
      const same = { url: made.url, events: wanted.events, description: null, status: "active" } as const
      for (const change of [{}, same]) {
        assert.deepStrictEqual(yield* update(caller, made.id, change), made)
        assert.deepStrictEqual(yield* get(caller, made.id), made)
      }
    })
  )

  it.effect("has all of what is changed at the same time", () =>
    Effect.gen(function* () {
      const { get, update } = yield* Webhooks
      for (const _ of [1, 2, 3]) {
        const { caller, id } = yield* subscribed
        const changes = [{ events: ["*"] }, { description: "All" }, { url: "https://example.org/" }]
        yield* Effect.forEach(changes, (change) => update(caller, id, change), { concurrency: 3 })
        assert.deepInclude(yield* get(caller, id), Object.assign({}, ...changes))
      }
    })
  )

  it.effect("that becomes active again has no failures and is for what comes from then on", () =>
    Effect.gen(function* () {
      const { update } = yield* Webhooks
      const { caller, id } = yield* subscribed
      for (const [status, status_reason] of [
        ["paused", "failing"],
        ["disabled", "gone"]
      ] as const) {
        yield* leave(id, { status, status_reason, failures: 12 })
        yield* append(3)
        const active = yield* update(caller, id, { status: "active" })
        assert.deepInclude(active, { status: "active", status_reason: null, failures: 0, failing_since: null })
        assert.strictEqual((yield* row(id)).since, yield* head)
      }
      const { since } = yield* row(id)
      yield* leave(id, { status: "active", status_reason: null, failures: 2 })
      yield* append(3)
      assert.strictEqual((yield* update(caller, id, { status: "active", events: ["*"] })).failures, 2)
      assert.strictEqual((yield* row(id)).since, since)
    })
  )

  it.effect("that is disabled cannot be paused", () =>
    Effect.gen(function* () {
      const { get, update } = yield* Webhooks
      const { caller, id } = yield* subscribed
      yield* leave(id, { status: "disabled", status_reason: "gone", failures: 1 })
      const refused = yield* Effect.flip(update(caller, id, { status: "paused", events: ["*"] }))
      assert.deepInclude(refused, { _tag: "STATE_TRANSITION_INVALID", from: "disabled", to: "paused" })
      assert.deepInclude(yield* get(caller, id), { status: "disabled", events: wanted.events })
    })
  )

  it.effect("is signed with the old secret too while it is being rotated, and by two secrets at most", () =>
    Effect.gen(function* () {
      const { rotateSecret } = yield* Webhooks
      const { caller, id, secret: first } = yield* subscribed
      const second = yield* rotateSecret(caller, id, 600)
      assert.match(second.secret, /^whsec_[A-Za-z0-9+/]{32}$/)
      assert.deepStrictEqual(yield* signing(id), [second.secret, first])
      const { previous_secret_until } = yield* row(id)
      assert.strictEqual(Number(previous_secret_until) - second.updated_at.getTime(), 600_000)
      const third = yield* rotateSecret(caller, id)
      assert.deepStrictEqual(yield* signing(id), [third.secret, second.secret])
      const next = (yield* row(id)).previous_secret_until
      assert.strictEqual(Number(next) - third.updated_at.getTime(), 86_400_000)
      const fourth = yield* rotateSecret(caller, id, 0)
      assert.deepStrictEqual(yield* signing(id), [fourth.secret])
    })
  )

  it.effect("that is rotated many times at once ends with the secrets of the last two", () =>
    Effect.gen(function* () {
      const { rotateSecret } = yield* Webhooks
      const { caller, id, secret } = yield* subscribed
      const given = yield* Effect.forEach(Array.from({ length: 6 }), () => rotateSecret(caller, id, 60), {
        concurrency: 6
      })
      const secrets = given.map((one) => one.secret)
      assert.strictEqual(new Set([...secrets, secret]).size, 7)
      assert.includeMembers(secrets, [...(yield* signing(id))])
    })
  )

  it.effect("that is deleted is gone, with its secret", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { get, list, remove } = yield* Webhooks
      const { caller, id } = yield* subscribed
      yield* remove(caller, id)
      assert.strictEqual((yield* Effect.flip(get(caller, id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* Effect.flip(remove(caller, id)))._tag, "NOT_FOUND")
      assert.strictEqual((yield* list(caller, {}, { limit: 10, offset: 0 })).total, 0)
      assert.isEmpty(yield* sql`SELECT 1 FROM webhooks WHERE id = ${id}`)
    })
  )

  it.effect("of another tenant is not found, exactly as one that never was, and stays as it is", () =>
    Effect.gen(function* () {
      const { get, remove, rotateSecret, test, update } = yield* Webhooks
      const theirs = yield* subscribed
      const caller = yield* tenant
      const before = yield* row(theirs.id)
      const nobodys = WebhookId.make(newUuid())
      const ways = [
        (id: WebhookId) => Effect.asVoid(get(caller, id)),
        (id: WebhookId) => Effect.asVoid(update(caller, id, { status: "paused" })),
        (id: WebhookId) => Effect.asVoid(update(caller, id, {})),
        (id: WebhookId) => Effect.asVoid(rotateSecret(caller, id, 0)),
        (id: WebhookId) => Effect.asVoid(test(caller, id)),
        (id: WebhookId) => remove(caller, id)
      ]
      for (const way of ways) {
        for (const id of [theirs.id, nobodys]) {
          const refused = yield* Effect.flip(way(id))
          assert.deepInclude(refused, { _tag: "NOT_FOUND", resource: "webhook", id: toTypeId("wh", id) })
        }
      }
      assert.deepStrictEqual(yield* row(theirs.id), before)
    })
  )
})

const Sent = Schema.Struct({
  id: Schema.String,
  cause: Schema.String,
  event_id: Schema.String,
  event_type: Schema.String,
  status: Schema.String,
  event: Schema.String
})
const sent = Effect.fnUntraced(function* (id: WebhookId) {
  const sql = yield* SqlClient.SqlClient
  return yield* SqlSchema.findAll({
    Request: Schema.String,
    Result: Sent,
    execute: (
      id
    ) => sql`SELECT id, cause, event_id, event_type, status, event_data::text AS event FROM webhook_deliveries
      WHERE webhook_id = ${id} ORDER BY id`
  })(id)
})

layer(platform, { timeout: "60 seconds" })("a test of a webhook", (it) => {
  it.effect("is an event about the webhook itself, or an example of what was asked for", () =>
    Effect.gen(function* () {
      const { test } = yield* Webhooks
      const { caller, id } = yield* subscribed
      const [one, other] = [yield* test(caller, id), yield* test(caller, id, "dispute.opened")]
      const [first, second, ...more] = yield* sent(id)
      assert.isEmpty(more)
      assert.deepInclude(first, {
        id: one.delivery_id,
        event_id: one.event_id,
        cause: "test",
        event_type: "webhook.test"
      })
      assert.deepInclude(second, { id: other.delivery_id, event_id: other.event_id, event_type: "dispute.opened" })
      assert.include(first?.event, toTypeId("wh", id))
      assert.notInclude(first?.event, "whsec_")
      assert.include(second?.event, "service_not_received")
    })
  )

  it.effect("is sent to one that is paused, and not to one that is disabled", () =>
    Effect.gen(function* () {
      const { test } = yield* Webhooks
      const { caller, id } = yield* subscribed
      yield* leave(id, { status: "paused", status_reason: "failing", failures: 12 })
      yield* test(caller, id)
      yield* leave(id, { status: "disabled", status_reason: "gone", failures: 12 })
      const refused = yield* Effect.flip(test(caller, id))
      assert.deepInclude(refused, { _tag: "STATE_TRANSITION_INVALID", from: "disabled" })
      assert.strictEqual((yield* sent(id)).length, 1)
    })
  )
})
