import { Effect, flow, type Result, Schema } from "effect"
import { Endpoint, type NewEndpoint, schemesFit } from "#domain/Endpoint.ts"
import {
  type AddressField,
  OriginNotAllowed,
  type OriginRefusal,
  type OriginRules,
  parseOriginUrl
} from "#domain/OriginUrl.ts"
import { CurrencyMismatch } from "#domain/PostingRefused.ts"
import { InvalidRequest } from "#domain/Refusal.ts"
import { NetworkMismatch } from "#domain/Transfer.ts"
import type { Wallet } from "#domain/Wallet.ts"
import { receiverUrl } from "#domain/Webhook.ts"

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
): Effect.Effect<void, CurrencyMismatch | NetworkMismatch> => {
  if (wanted.currency !== undefined && wanted.currency !== wallet.currency) {
    return Effect.fail(new CurrencyMismatch({ expected: wanted.currency, actual: wallet.currency }))
  }
  return wanted.network === undefined || wanted.network === wallet.network
    ? Effect.void
    : Effect.fail(new NetworkMismatch({ from: wanted.network, to: wallet.network }))
}

const inField = (path: string, message: string) => new InvalidRequest({ errors: [{ path, message }] })

export const checkedSchemes = (schemes: Endpoint["schemes"], network: Endpoint["network"]) =>
  schemesFit(schemes, network)
    ? Effect.succeed(schemes)
    : Effect.fail(inField("schemes", `upto is not possible on ${network}`))

/** The addresses of an endpoint as they are kept, if they may be called. */
export const addresses = (rules: OriginRules) => {
  const allowed = <A>(field: AddressField, parsed: Result.Result<A, OriginRefusal>) =>
    Effect.mapError(Effect.fromResult(parsed), (reason) => new OriginNotAllowed({ field, reason }))
  return {
    originBase: Effect.fnUntraced(function* (text: string | null) {
      if (text === null) return null
      const { origin, path, query } = yield* allowed("originUrl", parseOriginUrl(text, rules))
      if (query !== "") return yield* inField("originUrl", "must have no query")
      return origin + path.replace(/\/+$/, "")
    }),
    checkedWebhook: (text: string | null) =>
      text === null ? Effect.succeed(null) : allowed("webhookUrl", receiverUrl(text, rules))
  }
}
