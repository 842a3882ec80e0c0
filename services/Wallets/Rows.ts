import { Schema } from "effect"
import { TenantId, WalletId } from "#domain/Ids.ts"
import { Metadata } from "#domain/Metadata.ts"
import { Currency } from "#domain/Money.ts"
import { Network } from "#domain/Network.ts"
import { OwnerType, Wallet } from "#domain/Wallet.ts"

export const TenantRef = Schema.toType(TenantId)
export const WalletRef = Schema.toType(WalletId)
export const WalletRow = Schema.toType(Wallet)

/** A row of `wallets` about to be written; metadata goes as JSON text. */
export const NewWallet = Schema.Struct({
  id: WalletRef,
  tenant_id: TenantRef,
  owner_type: OwnerType,
  owner_id: Schema.String,
  currency: Currency,
  network: Schema.toType(Network),
  address: Schema.String,
  name: Schema.NullOr(Schema.String),
  metadata: Schema.fromJsonString(Metadata),
  at: Schema.Date
})
