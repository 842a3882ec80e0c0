import type { Table } from "./Contract.ts"

/** Method and path of every operation. Written by `npm run generate:client` from the contract. */
export const operations = {
  context: {
    get: ["GET", "/v1/context"]
  },
  accounts: {
    create: ["POST", "/v1/accounts"],
    list: ["GET", "/v1/accounts"],
    get: ["GET", "/v1/accounts/:id"]
  },
  agents: {
    create: ["POST", "/v1/agents"],
    list: ["GET", "/v1/agents"],
    get: ["GET", "/v1/agents/:id"],
    update: ["PATCH", "/v1/agents/:id"],
    remove: ["DELETE", "/v1/agents/:id"],
    suspend: ["POST", "/v1/agents/:id/suspend"],
    activate: ["POST", "/v1/agents/:id/activate"],
    rotateToken: ["POST", "/v1/agents/:id/rotate-token"],
    createKey: ["POST", "/v1/agents/:id/auth-keys"],
    revokeKey: ["DELETE", "/v1/agents/:id/auth-keys"],
    sessions: ["GET", "/v1/agents/:id/sessions"],
    endSession: ["DELETE", "/v1/agents/:id/sessions/:sessionId"]
  },
  agent_sessions: {
    challenge: ["POST", "/v1/agents/:id/challenge"],
    authenticate: ["POST", "/v1/agents/:id/authenticate"],
    rotateKey: ["POST", "/v1/agents/:id/auth-keys/rotate"]
  },
  agent_channel: {
    liveness: ["GET", "/v1/agents/:id/liveness"]
  },
  api_keys: {
    create: ["POST", "/v1/api-keys"],
    list: ["GET", "/v1/api-keys"],
    revoke: ["DELETE", "/v1/api-keys/:id"]
  },
  users: {
    create: ["POST", "/v1/users"],
    list: ["GET", "/v1/users"],
    update: ["PATCH", "/v1/users/:id"],
    changePassword: ["POST", "/v1/users/me/password"],
    remove: ["DELETE", "/v1/users/:id"]
  },
  sessions: {
    create: ["POST", "/v1/sessions"],
    refresh: ["POST", "/v1/sessions/refresh"],
    end: ["DELETE", "/v1/sessions"],
    list: ["GET", "/v1/sessions"],
    revoke: ["DELETE", "/v1/sessions/:id"]
  },
  portal_tokens: {
    create: ["POST", "/v1/portal-tokens"],
    list: ["GET", "/v1/portal-tokens"],
    revoke: ["DELETE", "/v1/portal-tokens/:id"]
  },
  scans: {
    scan: ["POST", "/v1/scanner/scan"],
    get: ["GET", "/v1/scanner/scan/:id"],
    freshest: ["GET", "/v1/scanner/scans/by-domain/:domain"],
    history: ["GET", "/v1/scanner/scans/by-domain/:domain/history"],
    list: ["GET", "/v1/scanner/scans"],
    statistics: ["GET", "/v1/scanner/scans/stats"]
  },
  shopping_tests: {
    run: ["POST", "/v1/scanner/tests"],
    recent: ["GET", "/v1/scanner/tests/:domain"],
    get: ["GET", "/v1/scanner/test/:id"]
  },
  scan_batches: {
    create: ["POST", "/v1/scanner/scan/batch"],
    get: ["GET", "/v1/scanner/scan/batch/:id"],
    cancel: ["POST", "/v1/scanner/scan/batch/:id/cancel"]
  },
  scanner_keys: {
    create: ["POST", "/v1/scanner/keys"],
    list: ["GET", "/v1/scanner/keys"],
    revoke: ["DELETE", "/v1/scanner/keys/:id"]
  },
  scanner_credits: {
    balance: ["GET", "/v1/scanner/credits/balance"],
    ledger: ["GET", "/v1/scanner/credits/ledger"]
  },
  scanner_reports: {
    scan: ["GET", "/v1/scanner/scan/:id/report"],
    test: ["GET", "/v1/scanner/test/:id/report"]
  },
  badges: {
    badge: ["GET", "/v1/scanner/badge/:domain"]
  },
  scanner_rubric: {
    get: ["GET", "/v1/scanner/rubric"]
  },
  wallets: {
    create: ["POST", "/v1/wallets"],
    list: ["GET", "/v1/wallets"],
    get: ["GET", "/v1/wallets/:id"],
    fund: ["POST", "/v1/wallets/:id/fund", "idempotent"],
    entries: ["GET", "/v1/wallets/:id/entries"],
    freeze: ["POST", "/v1/wallets/:id/freeze"],
    unfreeze: ["POST", "/v1/wallets/:id/unfreeze"]
  },
  webhooks: {
    create: ["POST", "/v1/webhooks"],
    list: ["GET", "/v1/webhooks"],
    eventTypes: ["GET", "/v1/webhooks/event-types"],
    get: ["GET", "/v1/webhooks/:id"],
    update: ["PATCH", "/v1/webhooks/:id"],
    remove: ["DELETE", "/v1/webhooks/:id"],
    rotateSecret: ["POST", "/v1/webhooks/:id/rotate-secret"],
    test: ["POST", "/v1/webhooks/:id/test"],
    deliveries: ["GET", "/v1/webhooks/:id/deliveries"],
    delivery: ["GET", "/v1/webhooks/:id/deliveries/:deliveryId"],
    replay: ["POST", "/v1/webhooks/:id/deliveries/:deliveryId/replay"],
    replayAll: ["POST", "/v1/webhooks/:id/replay"]
  },
  quotes: {
    create: ["POST", "/v1/quotes"],
    get: ["GET", "/v1/quotes/:id"]
  },
  transfers: {
    create: ["POST", "/v1/transfers", "idempotent"],
    list: ["GET", "/v1/transfers"],
    get: ["GET", "/v1/transfers/:id"],
    cancel: ["POST", "/v1/transfers/:id/cancel"]
  },
  batches: {
    create: ["POST", "/v1/transfers/batch", "idempotent"],
    get: ["GET", "/v1/transfers/batch/:id"]
  },
  streams: {
    create: ["POST", "/v1/streams", "idempotent"],
    list: ["GET", "/v1/streams"],
    get: ["GET", "/v1/streams/:id"],
    top_up: ["POST", "/v1/streams/:id/top-up", "idempotent"],
    pause: ["POST", "/v1/streams/:id/pause"],
    resume: ["POST", "/v1/streams/:id/resume"],
    rate: ["POST", "/v1/streams/:id/rate"],
    withdraw: ["POST", "/v1/streams/:id/withdraw", "idempotent"],
    cancel: ["POST", "/v1/streams/:id/cancel", "idempotent"]
  },
  scheduled_transfers: {
    create: ["POST", "/v1/scheduled-transfers", "idempotent"],
    list: ["GET", "/v1/scheduled-transfers"],
    get: ["GET", "/v1/scheduled-transfers/:id"],
    executions: ["GET", "/v1/scheduled-transfers/:id/executions"],
    cancel: ["POST", "/v1/scheduled-transfers/:id/cancel"],
    pause: ["POST", "/v1/scheduled-transfers/:id/pause"],
    resume: ["POST", "/v1/scheduled-transfers/:id/resume"]
  },
  refunds: {
    create: ["POST", "/v1/refunds", "idempotent"],
    list: ["GET", "/v1/refunds"],
    get: ["GET", "/v1/refunds/:id"]
  },
  disputes: {
    create: ["POST", "/v1/disputes", "idempotent"],
    list: ["GET", "/v1/disputes"],
    get: ["GET", "/v1/disputes/:id"],
    respond: ["POST", "/v1/disputes/:id/respond"],
    evidence: ["POST", "/v1/disputes/:id/evidence"],
    escalate: ["POST", "/v1/disputes/:id/escalate"],
    resolve: ["POST", "/v1/disputes/:id/resolve", "idempotent"]
  },
  endpoints: {
    create: ["POST", "/v1/x402/endpoints"],
    list: ["GET", "/v1/x402/endpoints"],
    get: ["GET", "/v1/x402/endpoints/:id"],
    update: ["PATCH", "/v1/x402/endpoints/:id"],
    remove: ["DELETE", "/v1/x402/endpoints/:id"],
    payments: ["GET", "/v1/x402/endpoints/:id/payments"],
    stats: ["GET", "/v1/x402/endpoints/:id/stats"],
    test: ["POST", "/v1/x402/endpoints/:id/test"]
  },
  payments: {
    pay: ["POST", "/v1/x402/pay", "idempotent"],
    verify: ["POST", "/v1/x402/verify"]
  },
  discovery: {
    resources: ["GET", "/v1/x402/discovery"],
    manifest: ["GET", "/.well-known/x402"],
    well_known: ["GET", "/.well-known/x402.json"],
    openapi: ["GET", "/v1/x402/discovery/openapi.json"]
  },
  facilitator: {
    verify: ["POST", "/v1/x402/facilitator/verify"],
    settle: ["POST", "/v1/x402/facilitator/settle"],
    supported: ["GET", "/v1/x402/facilitator/supported"],
    resources: ["GET", "/v1/x402/facilitator/discovery/resources"]
  },
  sandbox: {
    solanaRpc: ["POST", "/v1/sandbox/solana-rpc"]
  },
  system: {
    live: ["GET", "/health/live"],
    ready: ["GET", "/health/ready"]
  }
} as const satisfies Table
