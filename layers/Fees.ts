import { Config, Effect, Layer } from "effect"
import { PaymentPolicy } from "#services/Payments/Policy.ts"
import { QuotePolicy } from "#services/Quotes/Policy.ts"
import * as Setting from "./Setting.ts"

const basisPoints = (name: string, maximum: number, otherwise: number) =>
  Setting.whole(name, 0, maximum).pipe(Config.withDefault(otherwise))

const payments = Layer.effect(
  PaymentPolicy,
  Effect.map(basisPoints("TURNPIKE_FEE_BASIS_POINTS", 10_000, 0), (feeBasisPoints) => ({
    ...PaymentPolicy.defaultValue(),
    feeBasisPoints
  }))
)

const usual = QuotePolicy.defaultValue()
const quotes = Layer.effect(
  QuotePolicy,
  Effect.map(
    Config.all({
      feeBasisPoints: basisPoints("TURNPIKE_QUOTE_FEE_BASIS_POINTS", 5000, usual.feeBasisPoints),
      spreadBasisPoints: basisPoints("TURNPIKE_QUOTE_SPREAD_BASIS_POINTS", 5000, usual.spreadBasisPoints)
    }),
    (costs) => ({ ...usual, ...costs })
  )
)

/**
 * What the platform earns: its share of each charged call from `TURNPIKE_FEE_BASIS_POINTS`, of each converted amount from
 * `TURNPIKE_QUOTE_FEE_BASIS_POINTS`, and how far its rates are below the market's from `TURNPIKE_QUOTE_SPREAD_BASIS_POINTS`.
 */
export const layer = Layer.merge(payments, quotes)
