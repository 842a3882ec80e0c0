import { assert, layer } from "@effect/vitest"
import { Clock, Context, Duration, Effect, Layer, PubSub } from "effect"
import { SqlClient } from "effect/sql"
import * as BusPostgres from "#layers/BusPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { EventBus } from "#services/EventBus.ts"
import { realTime } from "#services/RealTime.ts"

layer(Postgres.layerTest, { timeout: "30 seconds", excludeTestServices: true })("the bus over Postgres", (it) => {
  it.effect("is back as soon after its tenth loss as after its first", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const pauses: Array<number> = []
      const sleep = (duration: Duration.Duration) => {
        pauses.push(Duration.toMillis(duration))
        return realTime.sleep(duration)
      }
      const clock: Clock.Clock = Object.create(realTime, { sleep: { value: sleep } })
      const over = BusPostgres.layer.pipe(Layer.provide(Layer.succeed(Clock.Clock, clock)))
      const { subscribe } = Context.get(yield* Layer.build(over), EventBus)
      const reader = yield* subscribe("news")
      for (let losses = 0; losses < 10; losses++) {
        yield* sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'turnpike-bus' AND datname = current_database()`
        assert.strictEqual(yield* PubSub.take(reader), "")
      }
      const waits = pauses.filter((pause) => Number.isFinite(pause))
      assert.lengthOf(waits, 10)
      assert.isAtMost(Math.max(...waits), 60)
    })
  )
})
