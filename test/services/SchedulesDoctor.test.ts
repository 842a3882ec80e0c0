import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Schedules } from "#services/Schedules.ts"
import { ahead, broken, isSound, pair, platform } from "./SchedulesHarness.ts"

const damages = {
  "a lost change": "UPDATE scheduled_transfers SET version = version - 1",
  "an execution nobody made": "UPDATE scheduled_transfers SET executions_completed = 0",
  "a second payment for one occurrence": "UPDATE scheduled_executions SET occurrence = 1",
  "another amount": "UPDATE scheduled_transfers SET amount = amount + 1",
  "a transfer that is not noted": "DELETE FROM scheduled_executions",
  "an execution that nobody was told of": "UPDATE scheduled_transfers SET tenant_id = gen_random_uuid()"
}

layer(platform)("the doctor", (it) => {
  for (const [damage, statement] of Object.entries(damages)) {
    it.effect(`sees ${damage}`, () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { executeDue } = yield* Schedules
        const { schedule } = yield* pair(100n)
        yield* schedule({ scheduled_at: yield* ahead({ hours: 1 }) })
        yield* schedule({ frequency: "daily" })
        for (let day = 0; day < 2; day++) yield* Effect.andThen(TestClock.adjust("1 day"), executeDue)
        yield* isSound
        const found = yield* sql
          .unsafe(statement)
          .pipe(Effect.andThen(broken), Effect.flatMap(Effect.fail), sql.withTransaction, Effect.flip)
        assert.isTrue(Array.isArray(found) && found.length > 0)
        yield* isSound
      })
    )
  }
})
