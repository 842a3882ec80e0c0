import type { Turnpike } from "./Contract.ts"

/**
 * Every operation: for each group what its paths begin with, mostly below `/v1/`, then the operations behind their method, each by its
 * name and the rest of its path, which ends in the name once more where it ends in a slash; `*` is `GET list get/:id`. `+key` take an
 * idempotency key, `+text` answer no JSON. Written by `npm run generate:client` from the contract.
 */
export const operations: { readonly [Group in keyof Turnpike]: string } = {
  context: "context GET get",
  accounts: "accounts POST create *",
  agents:
    "agents POST create suspend/:id/ activate/:id/ rotateToken/:id/rotate-token createKey/:id/auth-keys * sessions/:id/ PATCH update/:id DELETE remove/:id revokeKey/:id/auth-keys endSession/:id/sessions/:sessionId",
  agent_sessions: "agents/:id POST challenge/ authenticate/ rotateKey/auth-keys/rotate",
  agent_channel: "agents/:id/liveness GET liveness",
  api_keys: "api-keys POST create GET list DELETE revoke/:id",
  users: "users POST create changePassword/me/password GET list PATCH update/:id DELETE remove/:id",
  sessions: "sessions POST create refresh/ DELETE end revoke/:id GET list",
  portal_tokens: "portal-tokens POST create GET list DELETE revoke/:id",
  scans:
    "scanner POST scan/ GET get/scan/:id freshest/scans/by-domain/:domain history/scans/by-domain/:domain/ list/scans statistics/scans/stats",
  shopping_tests: "scanner POST run/tests GET recent/tests/:domain get/test/:id",
  scan_batches: "scanner/scan/batch POST create cancel/:id/ GET get/:id",
  scanner_keys: "scanner/keys POST create GET list DELETE revoke/:id",
  scanner_credits: "scanner/credits GET balance/ ledger/",
  scanner_reports: "scanner GET+text scan/scan/:id/report test/test/:id/report",
  badges: "scanner/badge/:domain GET+text badge",
  scanner_rubric: "scanner/rubric GET get",
  wallets: "wallets POST create freeze/:id/ unfreeze/:id/ * entries/:id/ POST+key fund/:id/",
  webhooks:
    "webhooks POST create rotateSecret/:id/rotate-secret test/:id/ replay/:id/deliveries/:deliveryId/ replayAll/:id/replay GET list eventTypes/event-types get/:id deliveries/:id/ delivery/:id/deliveries/:deliveryId PATCH update/:id DELETE remove/:id",
  quotes: "quotes POST create GET get/:id",
  transfers: "transfers POST+key create * POST cancel/:id/",
  batches: "transfers/batch POST+key create GET get/:id",
  streams:
    "streams POST+key create top_up/:id/top-up withdraw/:id/ cancel/:id/ * POST pause/:id/ resume/:id/ rate/:id/",
  scheduled_transfers: "scheduled-transfers POST+key create * executions/:id/ POST cancel/:id/ pause/:id/ resume/:id/",
  refunds: "refunds POST+key create *",
  disputes: "disputes POST+key create resolve/:id/ * POST respond/:id/ evidence/:id/ escalate/:id/",
  endpoints: "x402/endpoints POST create test/:id/ * payments/:id/ stats/:id/ PATCH update/:id DELETE remove/:id",
  payments: "x402 POST+key pay/ POST verify/",
  discovery:
    " GET resources/v1/x402/discovery manifest/.well-known/x402 well_known/.well-known/x402.json openapi/v1/x402/discovery/openapi.json",
  facilitator: "x402/facilitator POST verify/ settle/ GET supported/ resources/discovery/",
  sandbox: "sandbox/solana-rpc POST solanaRpc",
  system: "/health GET live/ ready/"
}
