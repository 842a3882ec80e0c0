import type { SqlClient } from "effect/sql"
import type { Assurance } from "./Assurance.ts"

/** What holds of wallets, and of whom everything belongs to. */
export const promises = (sql: SqlClient.SqlClient): ReadonlyArray<Assurance> => [
  {
    promise:
      "a wallet is an account of the books in its currency, frozen when it says so, of an owner within its tenant",
    query: sql`SELECT w.id, w.tenant_id, w.owner_type, w.owner_id, w.currency, l.currency AS account_currency, l.frozen FROM wallets w
      LEFT JOIN ledger_accounts l ON l.id = w.id AND l.purpose = 'wallet'
      LEFT JOIN accounts a ON a.id = w.owner_id AND a.tenant_id = w.tenant_id AND w.owner_type = 'account'
      LEFT JOIN agents g ON g.id = w.owner_id AND g.tenant_id = w.tenant_id AND w.owner_type = 'agent'
      WHERE l.currency IS DISTINCT FROM w.currency OR l.frozen <> (w.frozen_at IS NOT NULL)
        OR (a.id IS NULL AND g.id IS NULL) LIMIT 10`
  },
  {
    promise: "what the books keep for a wallet is that wallet's",
    // Books by themselves, as tests of them open, know of no wallets at all.
    query: sql`SELECT l.id, l.currency, l.posted, l.held FROM ledger_accounts l LEFT JOIN wallets w ON w.id = l.id
      WHERE l.purpose = 'wallet' AND w.id IS NULL AND (l.posted <> 0 OR l.held <> 0) AND EXISTS (SELECT FROM wallets) LIMIT 10`
  },
  {
    promise: "whoever a transfer names has that wallet, and the account that it names is the wallet's",
    query: sql`SELECT t.id AS transfer, t.wallet, t.account, coalesce(g.account_id, w.owner_id) AS owner FROM (
        SELECT id, from_wallet_id AS wallet, from_account_id AS account FROM transfers WHERE from_wallet_id IS NOT NULL
        UNION ALL SELECT id, to_wallet_id, to_account_id FROM transfers WHERE to_wallet_id IS NOT NULL
      ) t LEFT JOIN wallets w ON w.id = t.wallet LEFT JOIN agents g ON g.id = w.owner_id
      WHERE t.account IS DISTINCT FROM coalesce(g.account_id, w.owner_id) LIMIT 10`
  },
  {
    promise:
      "a priced endpoint earns for a wallet of its own tenant, currency and network, and belongs to an account of it",
    query: sql`SELECT e.id, e.tenant_id, e.wallet_id, w.tenant_id AS tenant_of_wallet, w.currency, w.network FROM endpoints e
      LEFT JOIN wallets w ON w.id = e.wallet_id LEFT JOIN accounts a ON a.id = e.account_id AND a.tenant_id = e.tenant_id
      WHERE (w.tenant_id, w.currency, w.network) IS DISTINCT FROM (e.tenant_id, e.currency, e.network) OR a.id IS NULL LIMIT 10`
  },
  {
    promise: "what somebody has belongs to a tenant that is there",
    query: sql`SELECT h.kind, h.id, h.tenant_id FROM (
        SELECT 'account' AS kind, id, tenant_id FROM accounts UNION ALL SELECT 'user', id, tenant_id FROM users
        UNION ALL SELECT 'credential', id, tenant_id FROM credentials UNION ALL SELECT 'webhook', id, tenant_id FROM webhooks
        UNION ALL SELECT 'agent', id, tenant_id FROM agents UNION ALL SELECT 'wallet', id, tenant_id FROM wallets
      ) h LEFT JOIN tenants t ON t.id = h.tenant_id WHERE t.id IS NULL LIMIT 10`
  }
]
