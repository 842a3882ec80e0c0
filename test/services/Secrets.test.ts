import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Postgres from "#layers/Postgres.ts"
import { Secrets } from "#services/Secrets.ts"

/** Another process on the same database. */
const another = Effect.flatMap(Layer.build(Layer.fresh(Secrets.layer)), (context) =>
  Effect.provideContext(Secrets, context)
)

layer(Secrets.layer.pipe(Layer.provideMerge(Postgres.layerTest)), { timeout: "60 seconds" })("Secrets", (it) => {
  it.effect("a secret is made once, however many ask for it first, and differs by name", () =>
    Effect.gen(function* () {
      const here = yield* Secrets
      const there = yield* another
      const answers = yield* Effect.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? here : there).secret("quotes")),
        { concurrency: 40 }
      )
      const distinct = new Set(answers.map((bytes) => Buffer.from(bytes).toString("hex")))
      assert.strictEqual(distinct.size, 1)
      assert.strictEqual(answers[0]?.length, 32)
      assert.deepStrictEqual(yield* (yield* another).secret("quotes"), answers[0], "whoever asks later gets the same")
      assert.notDeepEqual(yield* here.secret("proofs"), answers[0])
    })
  )
})
