import { createHash } from "node:crypto"
import { Schema, SchemaTransformation } from "effect"
import { Moment } from "./Instant.ts"
import { EntryId, fromTypeId, isIdentifier, toTypeId, TransferId, WalletId } from "./Ids.ts"
import { Metadata } from "./Metadata.ts"
import { Amount, Currency, Micros, unit } from "./Money.ts"
import { Network, usualMoney } from "./Network.ts"
import type { Principal } from "./Principal.ts"
import { IdempotencyKey, name, text } from "./Text.ts"

export const OwnerType = Schema.Literals(["account", "agent"])
export type OwnerType = typeof OwnerType.Type

export const WalletStatus = Schema.Literals(["active", "frozen", "closed"])
export type WalletStatus = typeof WalletStatus.Type

const ownerPrefix = { account: "acc", agent: "agt" } as const

/** The owner's id with the prefix that says what the owner is. */
export const ownerOnWire = (owner: { readonly owner_type: OwnerType; readonly owner_id: string }): string =>
  toTypeId(ownerPrefix[owner.owner_type], owner.owner_id)

/** A wallet as callers see it: the prefix of its owner's id says what the owner is. */
const ShownWallet = Schema.Struct({
  id: WalletId,
  owner_type: OwnerType,
  owner_id: Schema.String.check(Schema.isPattern(/^(?:acc|agt)_[0-9a-hjkmnp-tv-z]{26}$/u)),
  currency: Currency,
  network: Network,
  address: Schema.String,
  name: Schema.NullOr(Schema.String),
  balance_available: Micros,
  balance_pending: Micros,
  status: WalletStatus,
  frozen_reason: Schema.NullOr(Schema.String),
  frozen_at: Schema.NullOr(Moment),
  metadata: Schema.Record(Schema.String, Schema.Json),
  created_at: Moment,
  updated_at: Moment
}).annotate({ identifier: "Wallet" })

/**
 * Money of one owner, an account or an agent, in one currency on one network. Available is what may be spent; pending is held for
 * open payments.
 */
export const Wallet = ShownWallet.pipe(
  Schema.decodeTo(
    Schema.toType(Schema.Struct({ ...ShownWallet.fields, owner_id: Schema.String })),
    SchemaTransformation.transform({
      decode: ({ owner_id, ...wallet }) => ({
        ...wallet,
        owner_id: fromTypeId(ownerPrefix[wallet.owner_type], owner_id) ?? owner_id
      }),
      encode: (wallet) => ({ ...wallet, owner_id: ownerOnWire(wallet) })
    })
  )
)
export type Wallet = typeof Wallet.Type

/** The owner as callers name it: `acc_…`, `agt_…` or a plain uuid; `owner_type` says which kind it is. */
export const OwnerId = Schema.String.check(isIdentifier("acc", "agt")).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({
      decode: (input: string) => fromTypeId("acc", input) ?? fromTypeId("agt", input) ?? input,
      encode: (id: string) => id
    })
  )
)

/** What a wallet is made from. Without an owner it is the caller's own account's; without an address one is derived. */
export const CreateWallet = Schema.Struct({
  owner_type: Schema.optionalKey(OwnerType),
  owner_id: Schema.optionalKey(OwnerId),
  currency: Schema.optionalKey(Currency),
  network: Schema.optionalKey(Network),
  name: Schema.optionalKey(Schema.NullOr(name(255))),
  metadata: Schema.optionalKey(Metadata),
  address: Schema.optionalKey(text(100)),
  idempotency_key: Schema.optionalKey(IdempotencyKey)
})
  .check(
    Schema.makeFilter(({ owner_id, owner_type }) =>
      owner_type === "agent" && owner_id === undefined
        ? { path: ["owner_id"], issue: "must name the agent whose wallet it is" }
        : undefined
    )
  )
  .annotate({ identifier: "CreateWallet" })
export type CreateWallet = typeof CreateWallet.Type

/** What is meant by what a new wallet leaves out. */
export const walletDefaults = ({ account_id, environment }: Principal) =>
  ({
    owner_type: "account",
    owner_id: account_id,
    ...usualMoney(environment),
    name: null,
    metadata: {}
  }) as const satisfies Required<Omit<CreateWallet, "address" | "idempotency_key">>

/** What narrows a list of wallets; every field given must match. */
export const WalletFilter = {
  owner_type: Schema.optionalKey(OwnerType),
  owner_id: Schema.optionalKey(OwnerId),
  currency: Schema.optionalKey(Currency),
  network: Schema.optionalKey(Network),
  status: Schema.optionalKey(WalletStatus)
}
export type WalletFilter = Schema.Struct.Type<typeof WalletFilter>

export const FreezeWallet = Schema.Struct({ reason: name(1000) }).annotate({ identifier: "FreezeWallet" })
export type FreezeWallet = typeof FreezeWallet.Type

/** The most that one call to the faucet gives, in micro-units. */
export const faucetLimit = 10_000n * unit

export const FundWallet = Schema.Struct({ amount: Amount, currency: Currency }).annotate({ identifier: "FundWallet" })
export type FundWallet = typeof FundWallet.Type

/** What the faucet did: the wallet is as the transfer left it. */
export const Funding = Schema.Struct({ transfer_id: TransferId, wallet: Wallet }).annotate({ identifier: "Funding" })
export type Funding = typeof Funding.Type

/** Who stands on the other side of an entry: a wallet, a money stream, or one of the platform's own accounts. */
export const Counterparty = Schema.Struct({
  type: Schema.Literals(["wallet", "stream", "issuance", "fees", "fx"]),
  wallet_id: Schema.NullOr(WalletId)
}).annotate({ identifier: "Counterparty" })

/**
 * One line of a wallet's statement. `amount` is positive for a credit and negative for a debit, so amounts add up to the
 * balance; `balance_after` is available and pending together.
 */
export const Entry = Schema.Struct({
  id: EntryId,
  wallet_id: WalletId,
  type: Schema.Literals(["credit", "debit"]),
  amount: Micros,
  currency: Currency,
  balance_after: Micros,
  code: Schema.String,
  counterparty: Counterparty,
  transfer_id: TransferId,
  created_at: Moment
}).annotate({ identifier: "Entry" })
export type Entry = typeof Entry.Type

/** The id of one side of one step of a transfer; it begins like the transfer's own, so entries sort by time. */
export const entryId = (transferId: string, step: number, type: Entry["type"]): EntryId => {
  const hex = createHash("sha256").update(`${transferId} ${step} ${type}`).digest("hex")
  return EntryId.make(`${transferId.slice(0, 13)}-8${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`)
}

export class NetworkNotAvailable extends Schema.TaggedError<NetworkNotAvailable>()(
  "NETWORK_NOT_AVAILABLE",
  { network: Schema.String, available: Schema.Array(Schema.String) },
  { httpApiStatus: 422, title: "This environment does not use that network" }
) {}

export class InvalidAddress extends Schema.TaggedError<InvalidAddress>()(
  "INVALID_ADDRESS",
  { network: Schema.String, reason: Schema.Literals(["missing", "malformed"]), expected: Schema.String },
  { httpApiStatus: 422, title: "The wallet needs an address of its network: address, or walletAddress of an agent" }
) {}

export class AddressTaken extends Schema.TaggedError<AddressTaken>()(
  "ADDRESS_TAKEN",
  { network: Schema.String, currency: Schema.String, address: Schema.String },
  { httpApiStatus: 409, title: "The address is that of another wallet of this currency, or of another tenant" }
) {}
