/**
 * Goes into every statement outside of the ledger that locks the head of the log, behind which all money waits: until this transaction
 * ends, the database gives up a process that stands still with it as soon as it gives up the ledger's own connection. And into those
 * that lock what everybody's statistics, webhooks, scans or settlements wait for.
 */
export const notForLong = "set_config('idle_in_transaction_session_timeout', '3s', true)"
