import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** What a payer signed for a payment, which its nonce alone does not tell: `exact` of the versions before this. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE payments ADD COLUMN scheme text`
  yield* sql`ALTER TABLE payments ADD CONSTRAINT payments_scheme CHECK (scheme IN ('exact', 'upto')) NOT VALID`
})
