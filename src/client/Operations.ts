import type { Turnpike } from "./Contract.ts"

/** What is said so often that the table has a sign for it. */
export const signs: { readonly [sign: string]: string } = {
  "^": "POST create",
  $: "POST+key create",
  "*": "GET list get/:id",
  "!": "PATCH update/:id DELETE remove/:id",
  "~": "GET list DELETE revoke/:id",
  "%": "POST+key",
  "&": "/deliveries/:deliveryId",
  "@": "/:domain",
  "#": "/:id",
  "=": "scanner"
}

/** A line of the table without signs. */
export const written = (line: string): string => line.replace(/\W/g, (sign) => signs[sign] ?? sign)

/** What the paths of a group begin with, unless its line says something else. */
export const nameOfPath = (group: string): string => group.replace("_", "-")

/**
 * Every operation: for each group what its paths begin with, mostly below `/v1/`, where that is not its name, then the operations
 * behind their method, each by its name and the rest of its path, which ends in the name once more where it ends in a slash. `+key`
 * take an idempotency key, `+text` answer no JSON. Written by `npm run generate:client` from the contract.
 */
export const operations: { readonly [Group in keyof Turnpike]: string } = {
  context: "GET get",
  accounts: "$ *",
  agents:
    "^ suspend#/ activate#/ rotateToken#/rotate-token createKey#/auth-keys * sessions#/ ! revokeKey#/auth-keys endSession#/sessions/:sessionId",
  agent_sessions: "agents# POST challenge/ authenticate/ rotateKey/auth-keys/rotate",
  agent_channel: "agents#/liveness GET liveness",
  api_keys: "^ ~",
  users: "^ changePassword/me/password GET list !",
  sessions: "^ refresh/ DELETE end revoke# GET list",
  portal_tokens: "^ ~",
  administration: "/v1 % createTenant/tenants grants/=/credits/ GET tenants/ POST doctor/",
  scans:
    "= % scan/ GET get/scan# freshest/scans/by-domain@ history/scans/by-domain@/ list/scans statistics/scans/stats",
  shopping_tests: "= % run/tests GET recent/tests@ get/test#",
  scan_batches: "=/scan/batch $ GET get# POST cancel#/",
  scanner_keys: "=/keys ^ ~",
  scanner_credits: "=/credits GET balance/ ledger/",
  scanner_reports: "= GET+text scan/scan#/report test/test#/report",
  badges: "=/badge@ GET+text badge",
  scanner_rubric: "=/rubric GET get",
  wallets: "$ fund#/ * entries#/ POST freeze#/ unfreeze#/",
  webhooks:
    "^ rotateSecret#/rotate-secret test#/ replay#&/ GET list eventTypes/event-types get# deliveries#/ delivery#& ! % replayAll#/replay",
  quotes: "$ GET get#",
  transfers: "$ cancel#/ *",
  batches: "transfers/batch $ GET get#",
  streams: "$ top_up#/top-up pause#/ resume#/ rate#/ withdraw#/ cancel#/ *",
  scheduled_transfers: "$ cancel#/ pause#/ resume#/ * executions#/",
  refunds: "$ *",
  disputes: "$ respond#/ evidence#/ escalate#/ resolve#/ *",
  endpoints: "x402/endpoints $ * payments#/ stats#/ ! POST test#/",
  payments: "x402 % pay/ POST verify/",
  discovery:
    " GET resources/v1/x402/discovery manifest/.well-known/x402 well_known/.well-known/x402.json openapi/v1/x402/discovery/openapi.json",
  facilitator: "x402/facilitator POST verify/ settle/ GET supported/ resources/discovery/",
  sandbox: "POST solanaRpc/solana-rpc evmRpc/evm-rpc",
  system: "/health GET live/ ready/"
}
