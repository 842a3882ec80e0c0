import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import { BatchId, TenantId } from "#domain/Ids.ts"
import { Batches } from "#services/Batches.ts"
import { posting } from "#services/Batches/Posting.ts"
import { LanePolicy } from "#services/Ledger/LanePolicy.ts"
import { newId } from "#services/NewId.ts"
import { Transfers } from "#services/Transfers.ts"
import { balance, claims, item, paying, services } from "./BatchesHarness.ts"

const group = 10
const policy = Layer.effectContext(
  Effect.map(LanePolicy, (defaults) => Context.make(LanePolicy, { ...defaults, group }))
)

layer(services.pipe(Layer.provide(policy), Layer.provideMerge(Postgres.layerTest)))("the ledger's lane", (it) => {
  it.effect("takes so many items at a time, or one batch that has more, and single transfers besides", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const transfers = yield* Transfers
      const sql = yield* SqlClient.SqlClient
      const { caller, purse, till } = yield* paying(1_000n)
      const batch = (items: number) =>
        batches.create(
          caller,
          { from_wallet_id: purse, transfers: Array.from({ length: items }, () => item(till, 1n)) },
          claims(caller)
        )
      const alone = transfers.create(caller, {
        type: "internal",
        from_wallet_id: purse,
        to_wallet_id: till,
        amount: 1n,
        currency: "USDC"
      })
      const sizes = [4, 4, 4, 30, 4, 30, 11, 1, 1]
      const answers = yield* Effect.all([...sizes.map(batch), ...Array.from({ length: 60 }, () => alone)], {
        concurrency: 100
      })
      assert.strictEqual(answers.length, sizes.length + 60)
      assert.strictEqual(yield* balance(till), BigInt(sizes.reduce((sum, size) => sum + size, 60)))
      const groups =
        yield* sql`SELECT m.xmin::text AS posting, count(*) FILTER (WHERE t.batch_id IS NOT NULL)::int AS items,
          count(DISTINCT t.batch_id)::int AS batches, count(*) FILTER (WHERE t.batch_id IS NULL)::int AS singles
        FROM movements m JOIN transfers t ON t.id = m.command_id GROUP BY m.xmin::text`
      for (const { batches, items, singles } of groups) {
        assert.isTrue(Number(items) <= group || batches === 1, `${items} items of ${batches} batches at once`)
        assert.isAtMost(Number(batches) + Number(singles), group)
      }
    })
  )

  it.effect("serves batches in turn by tenant", () =>
    Effect.gen(function* () {
      const [tenant, batch] = [yield* newId(TenantId), yield* newId(BatchId)]
      assert.strictEqual(posting(tenant, batch, [], undefined, undefined).command.owner, tenant)
    })
  )
})
