import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { WalletId } from "#domain/Ids.ts"
import { AmountTooLarge, CurrencyMismatch, IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import { IdempotencyKey } from "#domain/Text.ts"
import {
  AddressTaken,
  CreateWallet,
  Entry,
  FreezeWallet,
  Funding,
  FundWallet,
  InvalidAddress,
  NetworkNotAvailable,
  Wallet,
  WalletFilter
} from "#domain/Wallet.ts"
import { Authorization, movers, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { createdOnce, idempotencyHeaders } from "./Idempotency.ts"
import { cursorPage, cursorQuery, page, pageQuery, Position } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { IdempotencyKeysDiffer } from "./Refusals.ts"

const params = { id: WalletId }

const wallet = {
  id: "wal_01h455vb4pex5vsknk084sn02q",
  owner_type: "account",
  owner_id: "acc_01h455vb4pex5vsknk084sn02r",
  currency: "USDC",
  network: "solana-devnet",
  address: "8FE27ioQh3T7o22QsYVT5Re8NnHFqmFNbdqwiF3ywuZQ",
  name: "Receipts",
  balance_available: "24.99",
  balance_pending: "0.01",
  status: "active",
  frozen_reason: null,
  frozen_at: null,
  metadata: { team: "search" },
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:05.678Z"
} as const

const create = HttpApiEndpoint.post("create", "/wallets", {
  headers: idempotencyHeaders,
  payload: [CreateWallet, Schema.Null],
  success: Wallet.pipe(HttpApiSchema.status(201)),
  error: problems(
    NotFound,
    NetworkNotAvailable,
    InvalidAddress,
    AddressTaken,
    IdempotencyKeyReused,
    IdempotencyKeysDiffer
  )
})
  .annotate(Requires, { resource: "wallets", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create a wallet",
      description:
        "A wallet starts empty. Every field has a default, and the body may be left out: the owner is the caller's own account (with " +
        "`owner_type` `agent` name the agent in `owner_id`), the currency USDC, the network " +
        "`solana-devnet` in sandbox and `solana-mainnet` live (the other choice is `base-sepolia` or `base-mainnet`; CAIP-2 names " +
        "are accepted). `address` is one whose key the owner holds; without it the sandbox derives one, live it is required. " +
        "Addresses on Base are kept in lower case. One address serves one wallet per currency and network, all of one tenant. " +
        "`balance_available` may be spent; `balance_pending` is held for payments under way. " +
        createdOnce,
      // Without an owner, so that it may be sent as it is.
      body: { currency: "USDC", network: "solana-devnet", name: "Receipts" },
      bodyIsOptional: true,
      answer: { ...wallet, balance_available: "0.00", balance_pending: "0.00", metadata: {} }
    })
  )

const list = HttpApiEndpoint.get("list", "/wallets", {
  query: { ...WalletFilter, ...pageQuery },
  success: page(Wallet)
})
  .annotate(Requires, { resource: "wallets", action: "read", kinds: movers })
  .annotateMerge(
    documented({
      summary: "List wallets",
      description: "The wallets of the caller's tenant, newest first; every filter given must match.",
      answer: { data: [wallet], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/wallets/:id", { params, success: Wallet, error: problem(NotFound) })
  .annotate(Requires, { resource: "wallets", action: "read", kinds: movers })
  .annotateMerge(
    documented({ summary: "Get a wallet", description: "The wallet with its balances of now.", answer: wallet })
  )

const fund = HttpApiEndpoint.post("fund", "/wallets/:id/fund", {
  params,
  headers: idempotencyHeaders,
  payload: Schema.Struct({ ...FundWallet.fields, idempotency_key: Schema.optionalKey(IdempotencyKey) }),
  success: Funding.pipe(HttpApiSchema.status(201)),
  error: problems(NotFound, Forbidden, AmountTooLarge, CurrencyMismatch, IdempotencyKeyReused, IdempotencyKeysDiffer)
})
  .annotate(Requires, { resource: "wallets", action: "write", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Fund a wallet from the sandbox faucet",
      description:
        "Test money, at most 10,000.00 a call; live answers 403. `amount` is a plain decimal string with at most 6 decimals and is " +
        "never rounded; `currency` must be the wallet's. A frozen wallet can be funded. With an idempotency key the call is made " +
        "once in 24 hours: a repetition answers what the first call answered, balances included, and `Idempotency-Replayed: true`.",
      body: { amount: "25.00", currency: "USDC" },
      answer: {
        transfer_id: "tx_01h455vb4pex5vsknk084sn02s",
        wallet: { ...wallet, balance_available: "25.00", balance_pending: "0.00" }
      }
    })
  )

const entries = HttpApiEndpoint.get("entries", "/wallets/:id/entries", {
  params,
  query: cursorQuery(Position),
  success: cursorPage(Entry, Position),
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "wallets", action: "read", kinds: movers })
  .annotateMerge(
    documented({
      summary: "Read a wallet's statement",
      description:
        "Every movement of money, newest first. `amount` is positive for a credit and negative for a debit, so the amounts of all " +
        "entries add up to the balance; `balance_after` is the wallet's whole balance after the entry, available and pending " +
        "together. Money that is only held shows when it is captured. `code` says what the entry is for (such as `transfer`, " +
        "`payment` or `faucet`), `counterparty` names the other wallet or the platform's own account. Pass `next_cursor` as `cursor` to read on; " +
        "it is null at the end.",
      answer: {
        data: [
          {
            id: "ent_01h455vb4pfg1rx7n3ecsay7mh",
            wallet_id: wallet.id,
            type: "debit",
            amount: "-0.01",
            currency: "USDC",
            balance_after: "24.99",
            code: "payment",
            counterparty: { type: "wallet", wallet_id: "wal_01h455vb4pex5vsknk084sn02t" },
            transfer_id: "tx_01h455vb4pex5vsknk084sn02v",
            created_at: "2026-01-02T03:05:06.789Z"
          }
        ],
        pagination: { limit: 50, next_cursor: null }
      }
    })
  )

const freeze = HttpApiEndpoint.post("freeze", "/wallets/:id/freeze", {
  params,
  payload: FreezeWallet,
  success: Wallet,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "wallets", action: "write" })
  .annotateMerge(
    documented({
      summary: "Freeze a wallet",
      description:
        "A frozen wallet receives but does not spend (403 `WALLET_FROZEN`); payments already held are still captured. Live, that holds " +
        "for all wallets, unless the operator has the keys of their addresses: whoever has them spends there. Freezing a " +
        "frozen wallet answers 200, keeps `frozen_at` and replaces the reason.",
      body: { reason: "Key lost" },
      answer: { ...wallet, status: "frozen", frozen_reason: "Key lost", frozen_at: "2026-01-02T03:06:07.890Z" }
    })
  )

const unfreeze = HttpApiEndpoint.post("unfreeze", "/wallets/:id/unfreeze", {
  params,
  success: Wallet,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "wallets", action: "write" })
  .annotateMerge(
    documented({
      summary: "Unfreeze a wallet",
      description: "The wallet spends again. Unfreezing an active wallet answers 200 and changes nothing.",
      answer: wallet
    })
  )

export class WalletsApi extends HttpApiGroup.make("wallets")
  .add(create, list, get, fund, entries, freeze, unfreeze)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Wallets",
      description: "Money of an account or an agent, in one currency on one network, kept in a double-entry ledger."
    })
  ) {}
