import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentChannel } from "#services/AgentChannel.ts"
import { connect, payloads, type Resident, resident, sent, session, tell, Test, told } from "./AgentChannelHarness.ts"

/** The log ends where it ended before its last facts, and by the time that somebody looks it has gone on with others. */
const rewound = Effect.fnUntraced(function* (count: number, goOn: Effect.Effect<void, never, never>) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.gen(function* () {
    yield* sql`ALTER TABLE events DISABLE TRIGGER append_only`
    const [row] = yield* sql`UPDATE ledger_head SET event_seq = event_seq - ${count} WHERE log = 1 RETURNING event_seq`
    const head = String(row?.["event_seq"])
    yield* sql`DELETE FROM events WHERE log = 1 AND seq > ${head}::bigint`
    yield* sql`DELETE FROM agent_events WHERE seq > ${head}::bigint`
    yield* sql`UPDATE followers SET seq = least(seq, ${head}::bigint)`
    yield* goOn
    yield* sql`ALTER TABLE events ENABLE TRIGGER append_only`
  }).pipe(sql.withTransaction)
})
const again = (one: Resident, last: string | undefined) =>
  Effect.gen(function* () {
    return (yield* connect(yield* AgentChannel, { ...one, session: yield* session(one) }, last)).client
  })

layer(Test, { timeout: "60 seconds" })("a database that is back at an earlier state", (it) => {
  it.effect("keeps nothing from an agent that is connected, and says what it was told in vain", () =>
    Effect.gen(function* () {
      const channel = yield* AgentChannel
      const [misled, other] = [yield* resident, yield* resident]
      const [its, others] = [yield* connect(channel, misled), yield* connect(channel, other)]
      yield* tell(other, "kept")
      yield* tell(misled, "kept")
      yield* tell(misled, "gone", "gone as well")
      yield* told(its.client, 3)
      yield* told(others.client, 1)
      const context = yield* Effect.context<Effect.Services<ReturnType<typeof tell>>>()
      const facts = Effect.andThen(tell(other, 1, 2, 3), tell(misled, 1))
      yield* rewound(2, Effect.provide(facts, context))

      yield* sent(its.client, "reconnect_required")
      yield* sent(others.client, "reconnect_required")
      const back = yield* again(other, others.client.facts.at(-1)?.id)
      assert.deepStrictEqual([...payloads(others.client), ...payloads(back)], ["kept", 1, 2, 3])
      const warned = yield* again(misled, its.client.facts.at(-1)?.id)
      assert.deepStrictEqual(warned.names, ["resync", "connected"])
      yield* tell(misled, 2)
      yield* told(warned, 1)
      assert.deepStrictEqual(payloads(warned), [2])
    })
  )
})
