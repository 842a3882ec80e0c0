import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of the corpus of scans. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise: "scans have places without gaps, in the order of time, and the head knows the last",
    query: sql`SELECT h.place, s.scans, s.last, s.first FROM merchant_scan_head h, (
        SELECT count(*) AS scans, coalesce(max(place), 0) AS last, coalesce(min(place), 1) AS first FROM merchant_scans
      ) s WHERE h.log = 1 AND (h.place <> s.last OR s.scans <> s.last OR s.first <> 1)
      UNION ALL SELECT place, NULL, NULL, NULL FROM (
        SELECT place, scanned_at < lag(scanned_at) OVER (ORDER BY place) AS is_before FROM merchant_scans
      ) o WHERE is_before LIMIT 10`
  },
  {
    promise: "blocks follow each other without gaps and count what their scans say",
    query: sql`WITH blocks AS MATERIALIZED (
        SELECT first, last, coalesce(lag(last) OVER (ORDER BY last), 0) AS before FROM merchant_scan_blocks GROUP BY first, last
      ), counted AS (
        SELECT b.last, coalesce(s.merchant_category, '') AS merchant_category, coalesce(s.region, '') AS region, s.status,
          count(*) AS scans, count(s.readiness_score) AS scored, coalesce(sum(s.readiness_score), 0) AS score_sum
        FROM (SELECT *, (SELECT min(last) FROM blocks WHERE last >= place) AS block FROM merchant_scans) s
        JOIN blocks b ON b.last = s.block GROUP BY 1, 2, 3, 4
      )
      SELECT last, merchant_category, region, status FROM counted c
        FULL JOIN merchant_scan_blocks b USING (last, merchant_category, region, status)
        WHERE (c.scans, c.scored, c.score_sum) IS DISTINCT FROM (b.scans, b.scored, b.score_sum)
          OR b.upto[101] <> b.scored
      UNION ALL SELECT last, NULL, NULL, NULL FROM blocks WHERE first <> before + 1 LIMIT 10`
  },
  {
    promise: "every merchant was scanned, and the counts of merchants and of their protocols are theirs",
    query: sql`SELECT h.domains, m.merchants FROM merchant_scan_head h, (
        SELECT (SELECT count(*) FROM merchants) AS merchants,
          (SELECT count(DISTINCT domain) FROM merchant_scans) AS scanned
      ) m WHERE h.log = 1 AND (h.domains <> m.merchants OR m.merchants <> m.scanned)
      UNION ALL SELECT coalesce(p.domains, 0), coalesce(s.domains, 0) FROM merchant_protocols p FULL JOIN (
        SELECT protocol, count(*) AS domains FROM merchants, unnest(protocols) AS protocol GROUP BY protocol
      ) s USING (protocol) WHERE coalesce(p.domains, 0) <> coalesce(s.domains, 0) LIMIT 10`
  },
  {
    promise: "whoever asked for a scan or a test was told of its end, once",
    query: sql`SELECT a.record_id, a.tenant_id, count(e.id) AS events FROM scanner_askers a
      FULL JOIN (
        SELECT id, tenant_id, coalesce(data -> 'scan', data -> 'test') ->> 'id' AS record_id FROM events
        WHERE type IN ('scan.completed', 'test.completed')
      ) e ON e.record_id::uuid = a.record_id AND e.tenant_id = a.tenant_id
      GROUP BY a.record_id, a.tenant_id HAVING count(e.id) <> 1 OR a.record_id IS NULL LIMIT 10`
  }
]
