/** Things as they are on the wire, for examples: one of each, about one small shop. */

const id = (prefix: string, last: string) => `${prefix}_01h455vb4pex5vsknk084sn0${last}`
const uuid = (last: string) => `01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e${last}`
const created_at = "2026-01-02T03:04:05.678Z"
const unchanged = { created_at, updated_at: created_at }
const completed_at = "2026-01-02T03:04:05.741Z"
const buyer = { wallet: id("wal", "2r"), account: id("acc", "2t") }
const shop = { wallet: id("wal", "2s"), account: id("acc", "2v") }
const initiated_by = { type: "api_key", id: id("key", "2w") }

export const transfer = {
  id: id("tx", "2q"),
  type: "internal",
  status: "completed",
  amount: "12.50",
  currency: "USDC",
  from_wallet_id: buyer.wallet,
  to_wallet_id: shop.wallet,
  from_account_id: buyer.account,
  to_account_id: shop.account,
  memo: "Invoice 42",
  quote_id: null,
  destination_amount: null,
  destination_currency: null,
  fee: "0.00",
  batch_id: null,
  stream_id: null,
  scheduled_at: null,
  initiated_by,
  protocol: "internal",
  protocol_metadata: {},
  failure_reason: null,
  refunded_amount: "0.00",
  ...unchanged,
  completed_at: created_at
}

export const batch = {
  id: id("bat", "2q"),
  batch_id: id("bat", "2q"),
  total: 3,
  completed: 2,
  failed: 1,
  replayed: 0,
  status: "partially_completed",
  amounts: [{ currency: "USDC", completed: "20.00", failed: "5.00" }],
  created_at
}

export const scheduledTransfer = {
  id: id("sch", "2q"),
  status: "scheduled",
  type: "internal",
  amount: "12.50",
  currency: "USDC",
  from_wallet_id: buyer.wallet,
  to_wallet_id: shop.wallet,
  from_account_id: buyer.account,
  to_account_id: shop.account,
  memo: "Rent",
  scheduled_at: null,
  frequency: "monthly",
  cron_expression: null,
  interval: 1,
  day_of_month: 31,
  day_of_week: null,
  time: "09:00",
  timezone: "Europe/Berlin",
  start_at: created_at,
  end_at: null,
  max_occurrences: 12,
  retry_enabled: true,
  max_retry_attempts: 3,
  retry_window_days: 14,
  next_execution_at: "2026-02-28T08:00:00.000Z",
  last_execution_at: "2026-01-31T08:00:11.000Z",
  executions_completed: 1,
  executions_remaining: 11,
  last_transfer_id: transfer.id,
  failure_reason: null,
  attempts: 0,
  initiated_by,
  created_at,
  updated_at: "2026-01-31T08:00:11.000Z"
}

export const refund = {
  id: id("rf", "2q"),
  transfer_id: transfer.id,
  amount: "2.50",
  currency: "USDC",
  reason: "customer_request",
  reason_details: "Ordered twice",
  status: "completed",
  failure_reason: null,
  refund_transfer_id: id("tx", "2x"),
  dispute_id: null,
  created_at,
  completed_at
}

export const dispute = {
  id: id("dp", "2q"),
  transfer_id: transfer.id,
  status: "open",
  reason: "service_not_received",
  description: "Paid for a report that never came",
  amount_disputed: "2.50",
  currency: "USDC",
  filed_by: initiated_by,
  filer_account_id: buyer.account,
  respondent_account_id: shop.account,
  requested_resolution: "full_refund",
  evidence: [{ type: "receipt", description: "What was ordered", url: "https://example.com/receipts/42" }],
  response: null,
  counter_evidence: [],
  escalation_reason: null,
  response_window_ends_at: "2026-02-01T03:04:05.678Z",
  resolution: null,
  refund_id: null,
  notes: null,
  ...unchanged,
  resolved_at: null
}

/** A day after it began: 0.001 a second are 86.40 a day. */
export const stream = {
  id: id("str", "2q"),
  from_wallet_id: buyer.wallet,
  to_wallet_id: shop.wallet,
  flow_rate: "0.001",
  currency: "USDC",
  status: "active",
  pause_reason: null,
  deposited: "200.00",
  wrapped_balance: "83.60",
  buffer: "30.00",
  recipient_balance: "86.40",
  withdrawn: "0.00",
  returned: "0.00",
  runway_seconds: 83_600,
  exhausted_at: "2026-01-04T02:17:25.678Z",
  latest_transfer_id: transfer.id,
  metadata: { contract: "7781" },
  ...unchanged,
  cancelled_at: null
}

export const payment = {
  id: id("pay", "2q"),
  endpoint_id: uuid("10"),
  status: "captured",
  protocol: "native",
  payer_wallet_id: buyer.wallet,
  payer_address: null,
  payee_wallet_id: shop.wallet,
  amount: "0.01",
  charged: "0.01",
  currency: "USDC",
  network: "solana-devnet",
  method: "GET",
  origin_status: 200,
  origin_ms: 42,
  transaction: null,
  failure: null,
  created_at,
  completed_at
}

export const endpoint = {
  id: payment.endpoint_id,
  tenantId: uuid("11"),
  accountId: uuid("12"),
  name: "Weather",
  description: "Forecasts for any place",
  path: "/v1/forecast",
  method: "GET",
  basePrice: 0.01,
  currency: "USDC",
  paymentAddress: "8FE27ioQh3T7o22QsYVT5Re8NnHFqmFNbdqwiF3ywuZQ",
  assetAddress: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
  network: "solana-devnet",
  totalCalls: 12,
  totalRevenue: 0.12,
  status: "active",
  volumeDiscounts: [{ threshold: 1000, priceMultiplier: 0.8 }],
  webhookUrl: null,
  originUrl: "https://weather.example.com",
  gatewayUrl: `http://127.0.0.1:4020/x402/${payment.endpoint_id}`,
  walletId: shop.wallet,
  timeoutMs: 30_000,
  rateLimit: null,
  chargeOn: "success",
  schemes: ["exact"],
  mpp: true,
  forwardHeaders: {},
  createdAt: created_at,
  updatedAt: completed_at
}

export const approval = {
  id: id("apr", "2q"),
  status: "pending",
  agent_id: id("agt", "2q"),
  wallet_id: buyer.wallet,
  amount: "250.00",
  currency: "USDC",
  merchant: "weather.example.com",
  reason: "over_approval_threshold",
  expires_at: "2026-01-03T03:04:05.678Z",
  created_at
}

export const task = {
  id: id("task", "2q"),
  context_id: uuid("13"),
  from_agent_id: id("agt", "2q"),
  to_agent_id: id("agt", "2r"),
  skill_id: "invoice.review",
  status: "pending",
  payload: { invoice: "INV-42" },
  messages: [],
  artifacts: [],
  deliverable: null,
  payment: { amount: "1.00", currency: "USDC", method: "wallet", status: "pending", transfer_id: null },
  rating: null,
  deadline: "2026-01-03T03:04:05.678Z",
  ...unchanged,
  completed_at: null
}

export const token = {
  id: id("ucp", "2q"),
  merchant_id: uuid("12"),
  total: "40.00",
  currency: "USDC",
  status: "pending",
  settlement_url: `http://127.0.0.1:4020/ucp/${id("ucp", "2q")}`,
  expires_at: "2026-01-02T03:19:05.678Z",
  created_at
}

export const agent = {
  id: id("agt", "2q"),
  parent_account_id: buyer.account,
  accountId: buyer.account,
  name: "Shopper",
  description: "Buys what is asked for",
  status: "active",
  suspended_reason: null,
  skills: ["shopping"],
  metadata: {},
  public_key: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  wallet_id: buyer.wallet,
  connected: true,
  ...unchanged
}

export const webhook = {
  id: id("wh", "2q"),
  url: "https://example.com/hooks/turnpike",
  events: ["transfer.*", "x402.payment.completed"],
  description: "Books",
  endpoint_id: null,
  status: "active",
  status_reason: null,
  failures: 0,
  failing_since: null,
  ...unchanged
}
