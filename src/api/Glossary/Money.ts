import { Currency } from "#domain/Money.ts"
import type { Terms } from "./Terms.ts"

const failures =
  "`insufficient_funds` (the payer had too little), `wallet_frozen` (the payer's) or `amount_too_large` (the receiver's could not hold it)"

/** What is said alike of several records; other files of the glossary use it too. */
export const shared = {
  memo: "Free text kept with the transfer; none when null or left out",
  memoShown: "What was sent as `memo`; null where nothing was",
  metadata:
    "The caller's own facts, at most 16 KiB as JSON; kept and given back, ids of more than 15 digits as text; `{}` when left out",
  metadataShown: "The caller's own facts, as they were sent; `{}` where none were",
  failures
} as const

const account = {
  from: "The account whose wallet pays, for an agent's wallet the one that the agent belongs to; null where no wallet of the tenant pays",
  to: "The account that receives, for an agent's wallet the one that the agent belongs to; null where no account of the tenant does"
} as const

const wallet = {
  currency: "What the wallet holds and all its amounts are in; it never changes",
  ownerType: "Whether an account or an agent owns it"
} as const

const wallets: Terms = {
  Wallet: {
    owner_type: wallet.ownerType,
    owner_id: "The account (`acc_…`) or agent (`agt_…`) that owns it",
    currency: wallet.currency,
    network: "Where its `address` is; always the plain name, never the CAIP-2 one",
    address: "Where it is paid on its network; the owner's, or derived for a sandbox wallet. On Base in lower case",
    name: "What its owner calls it; null when it was given none",
    balance_available:
      "What may be spent now, without `balance_pending`; live, what came to its address, where whoever has the key of that spends it",
    balance_pending:
      "Held for payments and settlements under way: captured for the receiver when they succeed, available again otherwise",
    status: "`frozen`: receives, but does not spend. `closed` is not in use",
    frozen_reason: "What was said when it was frozen; null unless it is",
    frozen_at: "Since when it is frozen; null unless it is. Freezing it again does not change it",
    metadata: shared.metadataShown,
    updated_at:
      "When it was frozen or unfrozen last, or got another `frozen_reason`; money that moves does not change it"
  },
  CreateWallet: {
    owner_type: `${wallet.ownerType}; \`account\` when left out`,
    owner_id:
      "The owner, as `acc_…`, `agt_…` or UUID; left out: the caller's own account. Needed with `owner_type` `agent`",
    currency: "What the wallet is to hold; `USDC` when left out",
    network:
      "A test network in sandbox, a main one live; left out: `solana-devnet`, or `solana-mainnet` live. CAIP-2 names mean the same",
    name: "What its owner calls it; none when null or left out",
    metadata: shared.metadata,
    address:
      "An address of the network whose key the owner holds; left out: derived in sandbox, refused live. One address serves " +
      "one wallet per currency and network"
  },
  FreezeWallet: { reason: "Why, for people; shown as `frozen_reason`" },
  Funding: {
    transfer_id: "The transfer that the faucet made",
    wallet: "The wallet as this transfer left it"
  },
  Entry: {
    wallet_id: "The wallet whose statement this is",
    type: "`credit`: money came in. `debit`: money went out",
    amount: "What the entry adds to the wallet's whole balance: negative for a debit",
    currency: "Of `amount` and `balance_after`: the wallet's",
    balance_after: "The wallet's whole balance after the entry, available and pending together",
    code:
      "What it is for: `transfer`, `wrap`, `unwrap`, `cross_border`, `refund`, `stream_start`, `stream_withdraw`, " +
      "`stream_cancel`, `payment` (a paid call), `facilitator` (settled for another server), `fee` (the platform's part of a " +
      "paid call) or `faucet`",
    counterparty: "Who stands on the other side",
    transfer_id: "The transfer that it is part of; `GET /v1/transfers/{id}` reads it, whatever its `code`",
    created_at: "When the money moved"
  },
  Counterparty: {
    type:
      "`stream` is a money stream. Of the platform's own accounts, `issuance` is where money enters and leaves the books " +
      "(faucet, chains), `fees` takes fees, and `fx` exchanges",
    wallet_id: "The other wallet, which may be another tenant's; null unless `type` is `wallet`"
  },
  "wallets.list": {
    owner_type: "Only wallets of accounts, or of agents",
    owner_id: "Only wallets of this account or agent",
    currency: "Only wallets of this currency",
    network: "Only wallets on this network",
    status: "Only wallets of this status; none is `closed`"
  },
  "wallets.fund": {
    amount: "Test money to give, at most 10,000.00 a call",
    currency: "Of `amount`; must be the wallet's"
  }
}

const otherTypes =
  "`wrap` and `unwrap` do the same under another name. " +
  "`cross_border`: to another currency or network, with a quote. `stream_start` pays into a money stream, " +
  "`stream_withdraw` out of it to the recipient, `stream_cancel` back to the sender"

const transfers: Terms = {
  Transfer: {
    type: `\`internal\`: at once, within one currency and network; every refund, too. ${otherTypes}`,
    status:
      "`pending`: reserved, and may be cancelled. `processing`: submitted to settlement. Both are of `cross_border` only: all " +
      "else is `completed` or `failed` at once. `cancelled`: withdrawn while `pending`",
    amount: "What leaves the payer, in `currency`, any `fee` included",
    currency: "Of `amount` and `fee`, and of `refunded_amount`",
    from_wallet_id:
      "The wallet that pays; null where none does (faucet, chain, what a cancelled stream returns) or a batch found none",
    to_wallet_id: "The wallet that receives; null where a batch found none",
    from_account_id: account.from,
    to_account_id: account.to,
    memo: shared.memoShown,
    quote_id: "The quote that gave rate, amounts and fee; null unless `type` is `cross_border`",
    destination_amount:
      "What arrives, in `destination_currency`, where it is another currency or less a fee; null where it is `amount`",
    destination_currency: "Of `destination_amount`; null where that is null",
    fee: "The part of `amount` that stays with the platform; 0.00 unless for `cross_border` or a paid call",
    batch_id: "The batch that made it; null unless one did",
    stream_id:
      "The money stream it moves money of; null for all others, and where a `stream_start` failed and opened none",
    scheduled_at:
      "For which time of a scheduled transfer it was made, also when it is a retry; null where none made it",
    initiated_by: "Who asked for it: a caller, or the platform itself",
    protocol:
      "How it was asked for: `x402` for what a paid call was charged or the facilitator settled, `stream` for money streams, " +
      "`fx` for what was exchanged, `internal` for all else. `ucp` and `a2a` are not in use",
    protocol_metadata:
      "Facts by origin: `rate` and later `rail_reference` (`cross_border`), `action` (streams), `refund_id` and " +
      "`refunded_transfer_id` (refunds), `scheduled_transfer_id`, `occurrence` and `attempt` (schedules); else `{}`",
    failure_reason:
      `Why no money moved; null unless \`failed\`: ${failures}. In batches also \`wallet_not_found\`, \`account_not_found\`, ` +
      "`no_receiving_wallet` (the account has none for it), `same_wallet`, `currency_mismatch`, `network_mismatch`, " +
      "`idempotency_key_reused`. Of settlement also `rail_error`, `compliance_block`, `rejected_by_recipient`, " +
      "`rail_timeout`",
    refunded_amount: "How much of `amount` was given back by refunds; the transfer stays `completed`",
    updated_at: "When its `status` or `refunded_amount` changed last",
    completed_at: "When the money had arrived; null until then, and for good when it `failed` or was `cancelled`"
  },
  CreateTransfer: {
    type: `\`internal\` (the default): at once, within one currency and network. ${otherTypes}`,
    from_wallet_id:
      "The wallet that pays. Needed, but an agent may leave it out and pays from its first wallet, of this currency and on " +
      "the receiver's network if it has one; `stream_withdraw` and `stream_cancel` may repeat the stream's",
    to_wallet_id:
      "The wallet that receives. Needed, but `stream_withdraw` and `stream_cancel` may leave it out or repeat the stream's",
    amount:
      "What leaves the payer. Needed for all but `cross_border`, which may repeat the quote's, `stream_withdraw` (left out: " +
      "all that has accrued) and `stream_cancel`, which takes none",
    currency: "Of `amount`; both wallets must hold it. Needed, but may be left out where a quote or a stream has it",
    memo: `${shared.memo}. In sandbox \`simulate:…\` in it chooses how a \`cross_border\` settles`,
    quote_id:
      "The quote to make it by, neither expired nor used. Needed for `cross_border`, and taken by no other type",
    stream_id:
      "The money stream to act on. Needed for `stream_withdraw` and `stream_cancel`, and taken by no other type",
    flow_rate:
      "How much the new stream flows, in money per second: a decimal string. Needed for `stream_start`, and taken by no other " +
      "type",
    buffer:
      "What the new stream keeps back of `amount` and never lets flow, less than it; 0 when left out. Only for `stream_start`"
  },
  Actor: {
    type: "`system` is the platform itself, or a schedule",
    id:
      "By prefix an API key (`key_…`), user (`usr_…`), agent (`agt_…`) or portal token (`ptk_…`); for `system` a scheduled " +
      "transfer (`sch_…`) or a word such as `faucet`, `gateway`, `facilitator`, `refunds` or `disputes`"
  },
  "transfers.list": {
    status: "Only transfers of this status",
    type: "Only transfers of this type",
    from_wallet_id: "Only what this wallet paid",
    to_wallet_id: "Only what this wallet received",
    account_id: "Only what wallets of this account, or of its agents, paid or received",
    batch_id: "Only what this batch made itself, without what it only repeated",
    created_after: "Only transfers made then or later; ISO 8601 with seconds and with Z or an offset",
    created_before: "Only transfers made earlier than that; ISO 8601 with seconds and with Z or an offset"
  }
}

const batches: Terms = {
  CreateBatch: {
    transfers: "What to transfer, made in this order, each to succeed or fail alone",
    from_wallet_id:
      "The wallet that pays for every item; left out: the caller's own account pays, from its oldest active wallet of the " +
      "item's currency on the network of the destination"
  },
  BatchItem: {
    to_account_id:
      "The account that receives, in its oldest active wallet of `currency` on the payer's network. Give this or `to_wallet_id`",
    to_wallet_id: "The wallet that receives. Give this or `to_account_id`",
    amount: "What leaves the payer and arrives",
    currency: "Of `amount`; both wallets must hold it",
    memo: shared.memo,
    idempotency_key:
      "1 to 255 printable characters that stand for this one transfer for 24 hours, in a batch or alone: under a known key " +
      "the item shows that transfer and moves nothing"
  },
  Batch: {
    total: "How many items the request had",
    completed: "How many items' transfers are `completed`, those that were `replayed` among them",
    failed: "How many items' transfers are `failed`, those that were `replayed` among them",
    replayed: "How many items only show what an earlier request had made",
    status: "Whether all items are completed, some, or none",
    transfers: "What became of each item, in the order of the request"
  },
  BatchLine: {
    index: "The item's place in the request, from 0",
    id: "Its transfer; an earlier request's when `replayed`",
    status: "`completed` or `failed`: no item is ever under way",
    failure_reason: "Why no money moved, as on the transfer; null unless `failed`",
    replayed:
      "Whether an earlier request with the item's `idempotency_key` had made the transfer, so that nothing moved now"
  }
}

const held = Currency.literals.map((currency) => `\`${currency}\``).join(" and ")

const exchange = {
  from: `What the payer gives. Wallets hold only ${held}: a quote of another currency is for information`,
  to: `What the payee gets. Wallets hold only ${held}: a quote of another currency is for information`,
  side: "Which amount was named: what leaves the payer (`send`), or what has to arrive (`receive`)"
} as const

const quotes: Terms = {
  CreateQuote: {
    from_currency: exchange.from,
    to_currency: `${exchange.to}. It may be \`from_currency\`, for another network`,
    amount:
      "In `from_currency`, or with `amount_side` `receive` in `to_currency`; with at most the decimals that this currency has",
    amount_side: `${exchange.side}; \`send\` when left out`
  },
  Quote: {
    from_currency: exchange.from,
    to_currency: exchange.to,
    rate: "How much of `to_currency` the payer gets for one `from_currency`: `mid_rate` less the spread, a decimal string with 8 decimals",
    mid_rate: "What the rate source says, before the spread; a decimal string with 8 decimals",
    spread_basis_points: "How far `rate` is below `mid_rate`, in hundredths of a percent; 0 from a currency to itself",
    amount_side: exchange.side,
    send_amount: "What leaves the payer, in `from_currency`, `fee` included",
    receive_amount: "What arrives, in `to_currency`: `(send_amount - fee) * rate`, rounded down to its last decimal",
    fee: "The part of `send_amount` that stays with the platform, in `from_currency`",
    expires_at: "Until when a transfer may be made with it",
    expires_in: "How many seconds it stands, counted from `created_at` and not from when it is read",
    transfer_id: "The transfer that was made with it, also one that failed; null until then. A quote serves one"
  }
}

/** Of wallets, transfers, batches and quotes of exchange. */
export const money: Terms = { ...wallets, ...transfers, ...batches, ...quotes }
