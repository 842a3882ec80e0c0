import { Config, Effect, Layer, Schema } from "effect"
import { PaymentPolicy } from "#services/Payments/Policy.ts"

const basisPoints = Config.schema(
  Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 10_000 })),
  "TURNPIKE_FEE_BASIS_POINTS"
).pipe(Config.withDefault(0))

/** The platform's share of each charged call, from `TURNPIKE_FEE_BASIS_POINTS`; booked to the fees account. */
export const layer = Layer.effect(
  PaymentPolicy,
  Effect.map(basisPoints, (feeBasisPoints) => ({ ...PaymentPolicy.defaultValue(), feeBasisPoints }))
)
