import { Effect, flow, Schema } from "effect"
import { Endpoint, type NewEndpoint } from "#domain/Endpoint.ts"
import { CurrencyMismatch } from "#domain/PostingRefused.ts"
import { NetworkNotAvailable, type Wallet } from "#domain/Wallet.ts"

/** An endpoint's record as JSON, and those parts of it that are kept as JSON. */
export const encode = flow(Schema.encodeEffect(Endpoint), Effect.orDie)
export const discountsText = flow(
  Schema.encodeEffect(Schema.fromJsonString(Endpoint.fields.volumeDiscounts)),
  Effect.orDie
)
export const headersText = flow(
  Schema.encodeEffect(Schema.fromJsonString(Endpoint.fields.forwardHeaders)),
  Effect.orDie
)

/** A wallet that was named must be what else was asked for. */
export const sameAs = (
  wallet: Wallet,
  wanted: NewEndpoint
): Effect.Effect<void, CurrencyMismatch | NetworkNotAvailable> => {
  if (wanted.currency !== undefined && wanted.currency !== wallet.currency) {
    return Effect.fail(new CurrencyMismatch({ expected: wanted.currency, actual: wallet.currency }))
  }
  return wanted.network === undefined || wanted.network === wallet.network
    ? Effect.void
    : Effect.fail(new NetworkNotAvailable({ network: wanted.network, available: [wallet.network] }))
}
