import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AgentSessions } from "#services/AgentSessions.ts"
import {
  another,
  type Client,
  connect,
  payloads,
  type Resident,
  resident,
  session,
  tell,
  Test,
  told,
  until
} from "./AgentChannelHarness.ts"

const ended = (client: Client) =>
  until(
    `the connection has ended, and is not ${client.state}`,
    Effect.sync(() => client.state === "ended")
  )

const listed = Effect.fnUntraced(function* ({ caller, id }: Resident) {
  const { sessions, total } = yield* (yield* AgentSessions).list(caller, id, { limit: 50, offset: 0 })
  return { total, connected: sessions.map(({ connected }) => connected) }
})

/** A reader that stopped with events behind what waits for it, and that its session has ended, as one that reads was told. */
const endedBehind = Effect.gen(function* () {
  const { revoke } = yield* AgentSessions
  const channel = yield* another
  const one = yield* resident
  const quickSession = yield* session(one)
  const { client: slow } = yield* connect(channel, one)
  const { client: quick } = yield* connect(channel, { ...one, session: quickSession })
  slow.isReading = false
  yield* tell(one, ...Array.from({ length: 6 }, () => "x".repeat(50_000)), "last", "words")
  yield* told(quick, 8)
  yield* revoke(one.caller, one.id, one.session.id)
  yield* revoke(one.caller, one.id, quickSession.id)
  yield* ended(quick)
  return { slow, quick }
})

layer(Test, { timeout: "60 seconds" })("the channel of a session", (it) => {
  it.effect("that was revoked ends within ten seconds where nobody hears of it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [one, other] = [yield* resident, yield* resident]
      const there = yield* another
      const [{ client }, untouched] = [yield* connect(there, one), yield* connect(there, other)]
      const revokedAt = yield* Clock.currentTimeMillis
      yield* sql`UPDATE credentials SET revoked_at = now() WHERE id = ${one.session.id}`
      yield* TestClock.adjust("7 seconds")
      yield* ended(client)
      assert.isAtMost((yield* Clock.currentTimeMillis) - revokedAt, 10_000)
      assert.strictEqual(untouched.client.state, "open")
    })
  )

  it.effect("that has ended is told what waited for its reader first", () =>
    Effect.gen(function* () {
      const { quick, slow } = yield* endedBehind
      slow.read()
      yield* ended(slow)
      assert.deepStrictEqual(payloads(slow), payloads(quick))
      assert.strictEqual(slow.names.at(-1), "reconnect_required")
    })
  )

  it.effect("that has ended waits two seconds for its reader, and no longer", () =>
    Effect.gen(function* () {
      const began = yield* Clock.currentTimeMillis
      const { slow } = yield* endedBehind
      yield* TestClock.adjust("2 seconds")
      yield* ended(slow)
      assert.isAtMost((yield* Clock.currentTimeMillis) - began, 10_000)
      slow.read()
      assert.isBelow(payloads(slow).length, 8)
    })
  )

  it.effect("whose hour is over is found and can be ended; without a channel it is found no more", () =>
    Effect.gen(function* () {
      const channel = yield* another
      const one = yield* resident
      assert.deepStrictEqual(yield* listed(one), { total: 1, connected: [false] })
      const { client } = yield* connect(channel, one)
      yield* TestClock.adjust("61 minutes")
      yield* channel.renew
      assert.deepStrictEqual(yield* listed(one), { total: 1, connected: [true] })
      yield* (yield* AgentSessions).revoke(one.caller, one.id, one.session.id)
      yield* ended(client)
      assert.deepStrictEqual(yield* listed(one), { total: 0, connected: [] })
      const away = yield* resident
      yield* TestClock.adjust("61 minutes")
      assert.deepStrictEqual(yield* listed(away), { total: 0, connected: [] })
    })
  )
})
