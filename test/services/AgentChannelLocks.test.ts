import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Holding, make } from "#services/AgentChannel/Presence.ts"
import { newUuid } from "#services/NewId.ts"
import { resident, Test } from "./AgentChannelHarness.ts"

/** Sessions of ten agents, in no order. */
const crowd = Effect.fnUntraced(function* (size: number) {
  const sql = yield* SqlClient.SqlClient
  const residents = yield* Effect.forEach(Array.from({ length: 10 }), () => resident, { concurrency: 5 })
  const sessions = residents.map(({ session }) => session.id)
  yield* sql`INSERT INTO credentials SELECT (jsonb_populate_record(c, jsonb_build_object(
      'id', gen_random_uuid(), 'hash', sha256(gen_random_uuid()::text::bytea)))).*
    FROM credentials c, generate_series(2, ${size / sessions.length}) WHERE c.id = ANY(${sessions}::uuid[])`
  const agents = residents.map(({ id }) => id)
  const rows = yield* sql`SELECT id, agent_id, tenant_id FROM credentials
    WHERE kind = 'session_token' AND agent_id = ANY(${agents}::uuid[]) ORDER BY random()`
  return rows.map(
    (row): Holding => ({
      session_id: String(row["id"]),
      agent_id: String(row["agent_id"]),
      tenant_id: String(row["tenant_id"]),
      fence: 0n,
      lastEventId: undefined
    })
  )
})

const fences = Effect.fnUntraced(function* (some: ReadonlyArray<Holding>) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT session_id, fence::text AS fence FROM agent_connections`
  const known = new Map(rows.map(({ fence, session_id }) => [String(session_id), BigInt(String(fence))]))
  return some.map((one) => ({ ...one, fence: known.get(one.session_id) ?? 0n }))
})

layer(Test, { timeout: "120 seconds" })("connections", (it) => {
  it.effect("that are renewed in whatever order never wait in a circle with those that begin and end", () =>
    Effect.gen(function* () {
      const presence = yield* make(newUuid())
      const all = yield* crowd(2000)
      yield* presence.register(all)
      for (let round = 0; round < 15; round++) {
        const held = yield* fences(all)
        const from = (round * 130) % 1700
        yield* Effect.all(
          [
            presence.renew(held),
            presence.register(held.slice(from, from + 250)),
            presence.release(held.slice(from + 200, from + 300))
          ],
          { concurrency: 3 }
        )
        yield* presence.register(held.slice(from + 200, from + 300))
      }
    })
  )

  it.effect("that were taken over are not ended by who had them", () =>
    Effect.gen(function* () {
      const presence = yield* make(newUuid())
      const sql = yield* SqlClient.SqlClient
      const all = yield* crowd(10)
      yield* presence.register(all)
      const before = yield* fences(all)
      yield* presence.register(all)
      yield* presence.release(before)
      const ids = all.map(({ session_id }) => session_id)
      const left = yield* sql`SELECT 1 FROM agent_connections WHERE session_id = ANY(${ids}::uuid[])`
      assert.strictEqual(left.length, 10)
      yield* presence.release(yield* fences(all))
      assert.strictEqual((yield* presence.standing(ids)).size, 0)
    })
  )
})
