import type { Terms } from "./Terms.ts"

const newEndpoint = {
  name: "What you call it; callers are shown it where there is no `description`",
  description: "What callers are told that they pay for; null: the `name`",
  path:
    "The path at the origin, behind that of `originUrl`; a last segment `*` covers everything below it, and nothing else is a pattern: " +
    "`:id` is sent as it is. Written plainly: no segment is empty before the last, `.` or `..`, and escapes are UTF-8 and stand for no " +
    "control character, slash, backslash or further escape",
  method: "The method that callers use; `ANY` is GET, HEAD, POST, PUT, PATCH and DELETE",
  basePrice: "The price of a call in `currency`, before `volumeDiscounts`; 0.01 when left out",
  volumeDiscounts:
    "Lower prices for payers who call often, each `threshold` once: the highest that a payer has reached counts; none when left out",
  webhookUrl:
    "Where `x402.payment.completed` and `x402.payment.failed` of this endpoint are sent, by the rules for webhooks; null: nowhere",
  originUrl:
    "The address of your own service, public, http or https, without a query: calls go to it and `path`; null: they answer 503 `ORIGIN_NOT_CONFIGURED`",
  timeoutMs:
    "Milliseconds that the origin may take from the end of the request until the body of its answer begins; 30000 when left out",
  rateLimit: "How many calls a minute one payer may make; null: any number",
  chargeOn:
    "Which answers of the origin cost money: `success` (when left out) those below 400, `response` every one but a 402",
  schemes:
    "How callers of x402 may pay: `exact` (when left out), the price, or `upto` (Base only), a signed maximum of which the origin says how much is taken",
  mpp: "Whether the Machine Payments Protocol is offered, too, where `schemes` has `exact`; true when left out",
  forwardHeaders:
    "Header fields added to every request to the origin, at most 20, such as a key by which it knows the gateway; none when left out. " +
    "Names have at most 100 characters and are not those of HTTP's own framing, of proxies, of payments or `X-Service-…`; values are at " +
    "most 2,000 characters of ASCII"
}

const endpoint = {
  ...newEndpoint,
  basePrice: "The price of a call in `currency`, before `volumeDiscounts`",
  volumeDiscounts: "Lower prices for payers who call often: the highest `threshold` that a payer has reached counts",
  timeoutMs: "Milliseconds that the origin may take from the end of the request until the body of its answer begins",
  chargeOn: "Which answers of the origin cost money: `success` those below 400, `response` every one but a 402",
  schemes:
    "How callers of x402 may pay: `exact`, the price, or `upto` (Base only), a signed maximum of which the origin says how much is taken",
  mpp: "Whether the Machine Payments Protocol is offered, too, where `schemes` has `exact`",
  forwardHeaders:
    "Header fields added to every request to the origin; what they say is `[redacted]` for callers without `x402:write`"
}

const { path: _path, method: _method, ...changeable } = endpoint

const terms = {
  receiver: "The address that is paid",
  network: "The network of that address",
  currency: "The currency of the price",
  asset: "The contract (Base) or mint (Solana) of the currency",
  gateway_url: "The address to call",
  description: "What the seller says that the call is for: the endpoint's name where it says nothing"
}

const isMoved =
  "Where the chain shows the money that moved: a hash on Base, a signature on Solana. The sandbox makes it up"

/** Of endpoints, payments, quotes of price, statistics, discovery and the facilitator. */
export const gateway: Terms = {
  NewEndpoint: {
    ...newEndpoint,
    accountId: "The account that owns it; the caller's own when left out",
    currency: "The currency of the price; left out: that of `walletId`, or else USDC",
    network:
      "The network on which callers pay; left out: that of `walletId`, or else Solana's of this environment, `solana-devnet` in the sandbox",
    walletId: "The wallet that is paid; left out: the account's oldest active one of that `currency` and `network`"
  },
  EndpointChange: {
    ...changeable,
    volumeDiscounts: `${endpoint.volumeDiscounts}. Replaces all of them`,
    status: "`active` serves, `paused` and `disabled` do not; a disabled endpoint becomes active only",
    webhookUrl: `${endpoint.webhookUrl}. Another one opens its subscription again where that stopped by itself`,
    forwardHeaders: "Header fields added to every request to the origin, at most 20. Replaces all of them"
  },
  Endpoint: {
    ...endpoint,
    id: "Its UUID; where an id is asked for, `epd_…` will do too",
    tenantId: "The tenant that it belongs to, by its UUID",
    accountId: "The account that owns it, by its UUID",
    paymentAddress: "The address that callers pay: that of the wallet",
    assetAddress: "The contract (Base) or mint (Solana) of the currency that is paid; null: the usual one",
    totalCalls: "How many calls were charged since it was made, free ones included",
    totalRevenue: "The sum of what was charged for them, in `currency`",
    status:
      "Only `active` serves: `paused` answers 503 `ENDPOINT_PAUSED` and `disabled` 404; what was paid for before is still given",
    gatewayUrl: "The address that callers use in place of yours",
    walletId: "The wallet that is paid"
  },
  VolumeDiscount: {
    threshold: "From how many completed calls of one payer on it applies",
    priceMultiplier:
      "What the price is multiplied with, rounded down to 0.000001 and at least that; 0 makes the call free"
  },
  Payment: {
    status:
      "`authorized`: not used yet; `in_flight`: a call uses it; `settling`: used, and the chain has not decided; `captured`: charged; `released`: the call failed and the money is free, the payment may be used again until it expires; `expired`: not charged in time",
    protocol:
      "How the payer paid: `native` by a proof of ours, otherwise by what it signed for x402 (version 2, 1) or MPP",
    payer_wallet_id: "The wallet that pays; null for a payer whose money is on the chain",
    payer_address: "The address that signed; null for `native`",
    payee_wallet_id: "The wallet that is paid",
    amount: "What was reserved for the call: no more than that is charged",
    charged: "What was taken, `0.00` for a free call; null unless `captured`",
    method: "The method that is paid for; `ANY` where it may be any that the endpoint serves",
    origin_status:
      "The status that the origin answered the last call with; null until then, and where it did not answer",
    origin_ms:
      "Milliseconds that the origin took to answer the last call; null until then, and where it did not answer",
    transaction: `${isMoved}; null for \`native\`, and until it is known`,
    completed_at: "When it was charged or expired; null until then"
  },
  Pay: {
    payment_request_id: "`payment_request_id` of the 402, within 60 seconds of it. Send this or `url`",
    url: "The `gatewayUrl` that you are about to call, with whatever you append to it. Send this or `payment_request_id`",
    from_wallet_id:
      "The wallet that pays. Only agents may leave it out: their first one of the endpoint's currency pays",
    max_amount: "Above this nothing is reserved (422 `PRICE_ABOVE_MAXIMUM`); left out: no limit of your own",
    terms: "What you were shown and decided on: nothing is reserved unless it is so (422 `PAYMENT_TERMS_DIFFER`)"
  },
  ExpectedTerms: {
    receiver: "The address that is to be paid; left out, like each of these: anything",
    network: terms.network,
    currency: terms.currency,
    asset: terms.asset,
    gateway_url: terms.gateway_url,
    description: "What the call is for, as you were shown it; its beginning is enough"
  },
  Paid: {
    id: "Id of the payment, `X-Payment-Id` at the origin",
    proof: "What to send as `X-Payment-Proof` with the call: good for one call of that endpoint and method",
    amount: "What is reserved in the wallet: no more than that is charged",
    endpoint_id: "The endpoint that is paid",
    terms: "What is paid for, as the endpoint says it now",
    expires_at: "Until when the proof may be used: 60 seconds. What is not used by then comes back by itself"
  },
  PaymentTerms: terms,
  "payments.verify": { proof: "The `proof` of `POST /v1/x402/pay`" },
  Verification: {
    valid: "Whether a call with the proof would be accepted now",
    reason: "Why not: `proof_unknown`, `proof_expired`, `proof_in_use`, `proof_used`; null when it is valid",
    payment_id: "The payment; null for an unknown proof",
    endpoint_id: "The endpoint that it pays; null for an unknown proof",
    status: "The `status` of the payment; null for an unknown proof",
    expires_at: "Until when the proof may be used; null for an unknown proof"
  },
  EndpointTest: {
    status: "`passed` when every step passed",
    endpointId: "The endpoint that was tested",
    paymentId: "The payment that was made; null where it did not come to that",
    duration_ms: "Milliseconds for all steps",
    steps: "What the simulated agent did, in order; after a step that failed the others are skipped",
    "steps.step":
      "`fund`: a new wallet gets the price from the faucet; `discover`: a call without payment, which must answer 402; `pay`: the price is reserved; `call`: the call with the proof; `verify`: whether it was charged",
    "steps.status": "How the step ended",
    "steps.duration_ms": "Milliseconds for the step; 0 when skipped",
    "steps.http_status": "The status of the HTTP answer; null in steps without one",
    "steps.detail": "What came of it, in words; empty when skipped"
  },
  "endpoints.stats": { window: "How far back to look; `24h` when left out" },
  EndpointStatistics: {
    endpointId: "The endpoint that it is about",
    window: "How far back it looks",
    from: "When the window begins, inclusive",
    to: "When it was looked at",
    totalCalls: "How many calls were charged in the window, free ones included",
    uniquePayers: "How many different payers made them",
    totalRevenue: "The sum of what was charged for them, in `currency`",
    bucketSeconds: "How long each bucket is, in seconds",
    buckets: "Every bucket of the window, oldest first, empty ones too",
    "buckets.start": "When it begins, inclusive",
    "buckets.calls": "How many calls were charged in it",
    "buckets.revenue": "The sum of what was charged for them",
    topPayers: "The ten who paid most, the greatest first",
    "topPayers.payer": "Id of the payer's wallet or, for a payer whose money is on the chain, its address",
    "topPayers.calls": "How many calls it was charged for in the window",
    "topPayers.revenue": "The sum of what it was charged",
    latency: "How long the origin took to answer, in milliseconds, over charged and failed calls",
    "latency.answers": "How many answers that is",
    "latency.p50":
      "Half of them took at most this long, which is never too little and at most 6.25 % too much; null without any",
    "latency.p90": "90 % of them took at most this long; null without any",
    "latency.p95": "95 % of them took at most this long; null without any",
    "latency.p99": "99 % of them took at most this long; null without any",
    totalFailures: "How often the money of a call was given back in the window",
    failures: "The same by its reason, the most frequent first",
    "failures.calls": "How often it was for this reason"
  },
  Supported: {
    kinds: "One for each version, scheme and network that is settled here",
    "kinds.x402Version": "The version of x402",
    "kinds.scheme": "`exact` takes what was signed, `upto` at most that",
    "kinds.network": "As that version calls it: `eip155:84532` in version 2, `base-sepolia` in version 1",
    "kinds.extra":
      "What `extra` of requirements must carry: `feePayer` on Solana, `facilitatorAddress` under `upto`; absent where there is nothing",
    extensions: "The extensions of x402 that are settled here: none",
    signers: "The addresses that settle, by networks: `eip155:*`, `solana:*`"
  },
  Facilitation: {
    x402Version: "The version of the payment, 2 or 1; left out: what `paymentPayload` says",
    paymentPayload: "What the payer sent you: the JSON of `PAYMENT-SIGNATURE` (version 2) or `X-PAYMENT` (version 1)",
    paymentRequirements:
      "The one of your `accepts` that it pays. What is settled is their `amount` (`maxAmountRequired` in version 1)"
  },
  VerifyResponse: {
    isValid: "Whether the payment would be settled now",
    invalidReason: "Why not, as x402 spells it; absent when it is valid",
    invalidMessage: "More about the reason, in words; absent where there is no more to say",
    payer: "The address that pays; absent where the payload does not show it"
  },
  SettleResponse: {
    success: "Whether the money moved; said once of each authorisation",
    errorReason: "Why not, as x402 spells it; `settlement_pending`: not known yet, ask again. Absent with `success`",
    errorMessage: "More about the reason, in words; absent where there is no more to say",
    payer: "The address that pays; absent where the payload does not show it",
    transaction: `${isMoved}. Empty when nothing moved`,
    network: "As `paymentRequirements` call it; empty where they do not",
    amount: "What was taken, in micro-units; absent without `success`"
  },
  DiscoveredResources: {
    x402Version: "The version of x402 in which the list is written",
    items: "What may be bought, newest first",
    "pagination.offset": "How many resources come before these",
    "pagination.total": "How many resources there are"
  },
  DiscoveredResource: {
    resource: "The address to call",
    type: "The kind of resource; there is only this one",
    x402Version: "The version of x402 in which `accepts` is written",
    accepts: "The ways to pay. What is signed comes from the 402 of the call itself",
    lastUpdated: "When the endpoint changed last",
    description: "What the call is for, shortened to 400 bytes: the endpoint's name where the seller says nothing",
    metadata: "The same for readers who do not sign",
    "metadata.description": "The same as `description`, where some clients look for it",
    "metadata.methods": "The methods to call it with; GET and POST where it takes any",
    "metadata.routeTemplate": "The path to call; behind `/*` more of it may follow",
    "metadata.price": "The list price of a call, a decimal: under `upto` the most that it costs",
    "metadata.currency": "The currency of `price`",
    "metadata.protocols": "The protocols that a call may be paid by"
  },
  ListedOffer: {
    scheme: "`exact`: the amount is paid; `upto`: at most the amount",
    network: "The network in CAIP-2, such as `eip155:84532`",
    amount: "What a call costs, in micro-units of the currency: `10000` is 0.01",
    asset: "The contract (Base) or mint (Solana) of the currency",
    payTo: "The address that is paid",
    maxTimeoutSeconds: "For how many seconds what is signed may be valid at most",
    extra: "What else is signed: on Base `name` and `version` of the token, under `upto` `assetTransferMethod`"
  },
  ResourceLines: {
    version: "The version of the manifest",
    resources: "One line for each method and path that costs money, such as `GET /x402/…`",
    instructions: "How to buy one, in words"
  },
  SolanaRpcRequest: {
    jsonrpc: "The version of JSON-RPC",
    id: "What the answer is to carry as its `id`",
    method:
      "`getAccountInfo`, `getLatestBlockhash`, `simulateTransaction`, `getVersion` or `getHealth`; any other is answered with error -32601",
    params: "What the method takes, in its order; none when left out"
  },
  SolanaRpcAnswer: {
    jsonrpc: "The version of JSON-RPC",
    id: "The `id` of the request",
    result: "What a node of Solana answers to the method; absent with `error`",
    error: "Why there is no `result`; absent with it",
    "error.code": "-32601: there is no such method here; -32602: its parameters are wrong",
    "error.message": "The same in words"
  },
  EvmRpcRequest: {
    jsonrpc: "The version of JSON-RPC",
    id: "What the answer is to carry as its `id`",
    method: "`eth_call`, `eth_chainId`, `net_version` or `eth_blockNumber`; any other is answered with error -32601",
    params: "What the method takes, in its order; none when left out"
  },
  EvmRpcAnswer: {
    jsonrpc: "The version of JSON-RPC",
    id: "The `id` of the request",
    result: "What a node of Base answers to the method; absent with `error`",
    error: "Why there is no `result`; absent with it",
    "error.code":
      "-32601: there is no such method here; -32602: its parameters are wrong; 3: the contract has no such function",
    "error.message": "The same in words"
  }
}
