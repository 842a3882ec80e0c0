import { Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Listing } from "#domain/Discovery.ts"
import { gatewayPrefix } from "#domain/GatewayPath.ts"
import { Deployment } from "./Deployment.ts"
import { Endpoints } from "./Endpoints.ts"
import * as RecentAnswers from "./RecentAnswers.ts"

/** A stretch of the list, by how many come before it. */
export interface Stretch {
  readonly limit: number
  readonly offset: number
}

/** How long an answer is given again without looking, and how many are remembered. */
export const discoveryPolicy = { fresh: Duration.seconds(5), remembered: 64 }

/** What may be bought here, for everybody: every endpoint that is active and has an origin. */
export class Discovery extends Context.Service<
  Discovery,
  {
    /** Newest first, with the number of all. A change of an endpoint shows at once, a new one within seconds. */
    list(stretch: Stretch): Effect.Effect<{ readonly listings: ReadonlyArray<Listing>; readonly total: number }>
  }
>()("turnpike/services/Discovery") {
  static readonly layer = Layer.effect(
    Discovery,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { directory } = yield* Endpoints
      const { publicUrl, scannerUrl } = yield* Deployment

      // The inner query stays in the index of public endpoints however deep it reads; rows are fetched for its result only.
      const page = SqlSchema.findAll({
        Request: Schema.Struct({ limit: Schema.Int, offset: Schema.Int }),
        Result: Listing,
        execute: ({ limit, offset }) =>
          sql`SELECT e.id, CASE WHEN e.own_path IS NULL THEN ${publicUrl}::text ELSE ${scannerUrl} END AS base,
              coalesce(e.own_path, ${gatewayPrefix}::text || e.id) AS path, coalesce(nullif(e.description, ''), e.name) AS description,
              e.method, e.path LIKE '%/*' AS open, e.base_price AS price, e.currency, e.network, e.schemes, e.mpp,
              e.asset_address AS asset, w.address AS "payTo", e.updated_at AS "updatedAt"
            FROM (
              SELECT id FROM endpoints WHERE status = 'active' AND origin_url IS NOT NULL
              ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}
            ) public JOIN endpoints e USING (id) JOIN wallets w ON w.id = e.wallet_id ORDER BY e.id DESC`
      })
      const countAll = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: () =>
          sql`SELECT count(*)::int AS total FROM endpoints WHERE status = 'active' AND origin_url IS NOT NULL`
      })

      // Under how many changes were known when it was read: whoever made one is not shown what was before it.
      const { fresh, remembered } = discoveryPolicy
      const totals = yield* RecentAnswers.make((_known: string) => Effect.orDie(countAll()), {
        capacity: 1,
        longest: fresh
      })
      const pages = yield* RecentAnswers.make(
        (name: string) => {
          const [limit = 0, offset = 0] = name.split(" ").map(Number)
          return Effect.orDie(page({ limit, offset }))
        },
        { capacity: remembered, longest: fresh }
      )

      const list = Effect.fn("Discovery.list")(function* ({ limit, offset }: Stretch) {
        const known = directory.forgotten()
        const { total } = yield* totals.get(String(known))
        const listings = offset < total ? yield* pages.get(`${limit} ${offset} ${known}`) : []
        return { listings, total }
      })
      return Discovery.of({ list })
    })
  )
}
