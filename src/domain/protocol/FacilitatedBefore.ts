import type { Environment } from "../Principal.ts"
import type { Authorization } from "./Authorization.ts"
import type { Recover } from "./Eip712.ts"
import { type Asked, authorizeTaking, type Declined, type Facilitation, readFacilitation } from "./Facilitation.ts"
import { feePayerOf } from "./SvmExact.ts"
import { asFields, type Fields } from "./X402Payload.ts"

/** A payment that a seller asks about, and the word of its payer. */
export interface Facilitated {
  readonly asked: Asked
  readonly authorization: Authorization
}

/**
 * The payment as it would have been taken once: whether it still would be, by its time and by who settles at the moment, says nothing
 * about what became of it.
 */
export const facilitatedBefore = (
  facilitation: Facilitation,
  environment: Environment,
  recover: Recover
): Facilitated | Declined => {
  const payload = asFields(facilitation.paymentPayload["payload"]) ?? {}
  const asked = readFacilitation(facilitation, environment, namedIn(payload))
  if (asked._tag === "Declined") return asked
  const feePayer = feePayerOf(payload)
  const feePayers = feePayer === undefined ? [] : [feePayer]
  const authorization = authorizeTaking(asked, { now: undefined, recover, feePayers })
  return "_tag" in authorization ? authorization : { asked, authorization }
}

/** Who may settle a signed maximum. */
const namedIn = (payload: Fields): ReadonlyArray<string> => {
  const facilitator = asFields(asFields(payload["permit2Authorization"])?.["witness"])?.["facilitator"]
  return typeof facilitator === "string" ? [facilitator] : []
}
