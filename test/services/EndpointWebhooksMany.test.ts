import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Test from "#layers/Test.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { Wallets } from "#services/Wallets.ts"
import { mostOfAFact } from "#services/WebhookDeliveries/Expanding.ts"
import { tenant } from "./WebhooksHarness.ts"

const outbound = Layer.succeed(PublicHttpPolicy, { ...PublicHttpPolicy.defaultValue(), allowLoopback: true })

layer(Test.layer.pipe(Layer.provide(outbound)), { timeout: "60 seconds" })(
  "webhookUrls of very many endpoints",
  (it) => {
    it.effect("are not walked to know how many attempts a fact makes", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const caller = yield* tenant
        yield* (yield* Wallets).create(caller, {})
        const { id } = yield* (yield* Endpoints).create(caller, {
          name: "Weather",
          path: "/a",
          method: "GET",
          webhookUrl: "http://127.0.0.1:9/"
        })
        yield* sql`WITH copies AS (
          INSERT INTO endpoints SELECT n.* FROM endpoints e, (SELECT gen_random_uuid() AS id FROM generate_series(1, 2000)) new,
            jsonb_populate_record(e, jsonb_build_object('id', new.id)) n
          WHERE e.id = ${id} RETURNING id
        )
        INSERT INTO webhooks SELECT n.* FROM webhooks w, copies c,
          jsonb_populate_record(w, jsonb_build_object('id', c.id, 'endpoint_id', c.id)) n
        WHERE w.endpoint_id = ${id}`
        yield* sql`ANALYZE webhooks`
        const plan = (yield* sql`EXPLAIN ${mostOfAFact(sql)}`).map((row) => String(row["QUERY PLAN"])).join("\n")
        assert.include(plan, "webhooks_own")
        assert.notInclude(plan, "Seq Scan")
        assert.deepStrictEqual(yield* mostOfAFact(sql), [{ most: 1 }])
      })
    )
  }
)
