import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** The last twelve letters of a TypeID, of a uuid: what its last 60 bits say, which no two transfers of one tenant share. */
const lettersOf = (uuid: string): string => {
  const bits = `('x' || right(replace(${uuid}::text, '-', ''), 15))::bit(60)::bigint`
  const letter = (place: number) =>
    `substr('0123456789abcdefghjkmnpqrstvwxyz', ((tail >> ${5 * place}) & 31)::int + 1, 1)`
  const letters = Array.from({ length: 12 }, (_, index) => letter(11 - index)).join(" || ")
  return `(SELECT ${letters} FROM (SELECT ${bits} AS tail OFFSET 0) t)`
}

/** What holds of transfers. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "a transfer within one currency is exactly its movement when it completed, and moved nothing otherwise",
    query: sql`SELECT coalesce(t.id, m.command_id) AS id, t.type, t.status, t.amount, m.seq, m.kind, m.amount AS moved
      FROM (
        SELECT t.id, t.type, t.status, t.amount, d.key AS debit, c.key AS credit FROM transfers t
        LEFT JOIN ledger_accounts d ON d.id = t.from_wallet_id AND d.currency = t.currency
        LEFT JOIN ledger_accounts c ON c.id = t.to_wallet_id AND c.currency = t.currency
        WHERE t.type IN ('internal', 'wrap', 'unwrap') AND t.protocol <> 'fx'
      ) t
      FULL JOIN (
        SELECT seq, command_id, step, kind, debit, credit, amount, code FROM movements
      ) m ON m.command_id = t.id
      WHERE (t.id IS NULL AND m.code IN ('transfer', 'wrap', 'unwrap')) OR CASE t.status
        WHEN 'completed' THEN (m.kind = 'transfer' AND m.step = 0 AND m.amount = t.amount AND m.debit = t.debit
          AND m.credit = t.credit) IS NOT TRUE
        ELSE t.id IS NOT NULL AND m.kind <> 'refuse'
      END LIMIT 10`
  },
  {
    promise: "every transfer has the event of its creation and that of its end, once, and they say its amount",
    query: sql`SELECT coalesce(t.tenant_id, e.tenant_id) AS tenant_id, t.id, e.letters, t.status,
        e.created, e.completed, e.failed, e.cancelled, e.least, e.most
      FROM (SELECT tenant_id, id, status, amount, ${sql.literal(lettersOf("id"))} AS letters FROM transfers) t
      FULL JOIN (
        SELECT tenant_id, right(said.id, 12) AS letters,
          count(*) FILTER (WHERE type = 'transfer.created') AS created,
          count(*) FILTER (WHERE type = 'transfer.completed') AS completed,
          count(*) FILTER (WHERE type = 'transfer.failed') AS failed,
          count(*) FILTER (WHERE type = 'transfer.cancelled') AS cancelled,
          min(said.amount) AS least, max(said.amount) AS most
        FROM events CROSS JOIN json_to_record(data -> 'transfer') AS said (id text, amount text) WHERE type IN ('transfer.created', 'transfer.completed', 'transfer.failed', 'transfer.cancelled')
        GROUP BY 1, 2
      ) e ON e.tenant_id = t.tenant_id AND e.letters = t.letters
      WHERE t.id IS NULL OR e.created IS DISTINCT FROM 1 OR e.completed <> (t.status = 'completed')::int
        OR e.failed <> (t.status = 'failed')::int OR e.cancelled <> (t.status = 'cancelled')::int
        OR e.least <> e.most
        OR (CASE WHEN e.least ~ '^[0-9]+[.][0-9]+$' THEN e.least::numeric * 1000000 = t.amount END) IS NOT TRUE LIMIT 10`
  }
]
