import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * What a payment's row costs to write. Its endpoint's row, which nobody ever deletes, was looked up and locked for each payment: a
 * third of the statement's time, and a place where all who sell through one endpoint met. And a CHECK is read from its text by every
 * statement; a domain once by a session.
 */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Waits until no group is in the middle of these tables, and lets none begin.
  yield* sql`SELECT 1 FROM ledger_head WHERE log = 1 FOR UPDATE`
  // Without its constraint a domain is the type that the column has already: no row is written anew.
  yield* sql`CREATE DOMAIN payment_scheme AS text`
  yield* sql`ALTER TABLE payments DROP CONSTRAINT payments_endpoint_id_fkey, DROP CONSTRAINT payments_scheme,
    ALTER COLUMN scheme TYPE payment_scheme`
  yield* sql`ALTER DOMAIN payment_scheme ADD CONSTRAINT payment_scheme_check CHECK (VALUE IN ('exact', 'upto')) NOT VALID`
})
