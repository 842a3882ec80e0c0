/**
 * What fields and parameters mean, where their schemas cannot say it: by the name of a record, or of an operation for its parameters and
 * for bodies that have no name, and in it by the field, or its path such as `buckets.start`.
 */
export type Terms = Readonly<Record<string, Readonly<Record<string, string>>>>

/** What identifiers are of, by their prefix. */
export const identifiers: Readonly<Record<string, string>> = {
  acc: "an account",
  agt: "an agent",
  auth: "an agent's public key",
  bat: "a batch of transfers",
  del: "a delivery",
  dp: "a dispute",
  ent: "an entry",
  epd: "an endpoint",
  evt: "an event",
  key: "an API key",
  pay: "a payment",
  ptk: "a portal token",
  qt: "a quote",
  rf: "a refund",
  sch: "a scheduled transfer",
  ses: "a session",
  str: "a money stream",
  ten: "a tenant",
  tx: "a transfer",
  usr: "a user",
  wal: "a wallet",
  wh: "a webhook subscription"
}

/** What fields and parameters of these names mean where nothing else is said of them. */
export const common: Readonly<Record<string, string>> = {
  data: "What was asked for",
  pagination: "Which part of the list this is, and how to read on",
  page: "Which page this is, from 1",
  limit: "How many items at most",
  total: "How many items there are on all pages",
  totalPages: "How many pages there are; 0 where nothing is found",
  cursor: "`next_cursor` of the answer after which this one goes on; the start when left out",
  next_cursor: "What to send as `cursor` to read on; null at the end",
  created_at: "When it was made",
  createdAt: "When it was made",
  updated_at: "When it changed last",
  updatedAt: "When it changed last",
  completed_at: "When it ended; null until then",
  currency: "The currency of every amount beside it",
  network: "The network, and its name in x402"
}

/** What the facts of a refusal mean, by their names. */
export const inDetails: Readonly<Record<string, string>> = {
  accepted: "What may be sent instead",
  account_id: "The account it is about",
  actual: "What was given",
  address: "The address it is about",
  available: "How much there is, or which there are",
  balance: "How many credits there are",
  buffer: "The buffer that was asked for",
  bytes: "How many bytes are allowed",
  currency: "The currency of the amounts beside it",
  domain: "The domain it is about",
  email: "The address it is about",
  ended_at: "When the time for it ended",
  endpoint_id: "The endpoint it is about",
  errors: "What is wrong, field by field",
  expected: "What was expected instead",
  expired_at: "When it ended",
  field: "The field that is wrong",
  from: "What it is, or comes from",
  from_currency: "The currency to pay with",
  given: "What was given",
  header: "The header that is wrong",
  id: "The id that was asked for",
  initial_deposit: "The deposit that it is part of",
  key: "The idempotency key that another request used",
  latest: "The latest moment that is taken",
  limit: "How much is allowed",
  limit_bytes: "How many bytes are allowed",
  maximum: "The most that is taken",
  message: "What is wrong with it",
  minimum: "The least that is taken",
  network: "The network it is about",
  now: "When the request was read",
  param: "The field or parameter that is wrong; empty for the whole request",
  path: "The field that is wrong, such as `items.0.amount`; empty for the whole request",
  publicKey: "The public key it is about",
  quote_id: "The quote it is about",
  quoted: "What the quote says",
  reason: "Why, for programs",
  remaining: "How much is left",
  requested: "How much was asked for",
  required: "How much is needed",
  required_scope: "A scope that the caller's credential lacks",
  resource: "What kind of thing it is",
  retry_after: "Seconds after which to try again, as in `Retry-After`",
  stream_id: "The stream it is about",
  timezone: "The name that was given",
  to: "What it was to become, or goes to",
  to_currency: "The currency to be received",
  transfer_id: "The transfer it is about",
  wallet_id: "The wallet it is about"
}
