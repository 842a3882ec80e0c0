import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Postgres from "#layers/Postgres.ts"
import * as Pipeline from "#services/Database/Pipeline.ts"
import { Ledger } from "#services/Ledger.ts"
import * as Connection from "#services/WebhookDeliveries/Connection.ts"
import { newUuid } from "#services/NewId.ts"

const saying = (text: string): Pipeline.Step => ({ statement: Pipeline.statement([], text), values: [] })

layer(Ledger.layer.pipe(Layer.provideMerge(Postgres.layerTest)))("a transaction of the sender that failed", (it) => {
  it.effect("is not written, and leaves its connection to the next one", () =>
    Effect.gen(function* () {
      const { fly, transaction } = yield* Connection.make(newUuid())
      const { begin, commit } = Connection
      yield* transaction(fly([begin, saying("CREATE TABLE kept (id int)"), commit]))
      const insert = saying("INSERT INTO kept VALUES (1)")
      const failing = Effect.andThen(fly([begin, insert]), fly([saying("SELECT 1 / 0"), commit]))
      assert.strictEqual((yield* Effect.flip(transaction(failing)))._tag, "StatementFailed")
      // Nothing was wrong with the database: whoever decided otherwise in the middle is rolled back, too.
      yield* Effect.flip(transaction(Effect.andThen(fly([begin, insert]), Effect.fail("no"))))
      const [, rows = []] = yield* transaction(fly([begin, saying("SELECT count(*)::int4 FROM kept"), commit]))
      assert.deepStrictEqual(
        rows.map(([count]) => count),
        [0]
      )
    })
  )
})
