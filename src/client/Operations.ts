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
  api_keys: {
    create: ["POST", "/v1/api-keys"],
    list: ["GET", "/v1/api-keys"],
    revoke: ["DELETE", "/v1/api-keys/:id"]
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
