import { isEventStream, type RawHeaders } from "#domain/HttpHeaders.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { type Authorization, timeToAnswer } from "#domain/protocol/Authorization.ts"
import type { Answer } from "#services/Payments.ts"
import type { Exchange } from "#services/PublicHttp/Forward.ts"

/** Answers up to this size are kept with their charge until they were delivered. */
export const keptBytes = 65_536
/** How long one that began is waited for when it dawdles (milliseconds): the lease of the payment runs. */
const keptPatience = 1000

/** How long an answer may take to be whole before it is charged. One that is not kept is lost when its chain takes too long. */
export const patienceWith = (
  { lease_until, rail }: PaymentRow,
  signed: Authorization | undefined,
  headers: RawHeaders,
  now: number
): number => {
  if (rail !== "chain" || signed === undefined || isEventStream(headers)) return keptPatience
  return Math.max(keptPatience, timeToAnswer(signed, lease_until, now))
}

/** Reads a whole answer before it is sent, if it is small. */
export const whole = (exchange: Exchange, then: (kept: Answer | undefined) => void): void => {
  const { headers, status } = exchange
  exchange.whole(keptBytes, (body) => then(body === undefined ? undefined : { status, headers, body }))
}

/** What streams, as it will be asked for again if it turns out small. */
export class Copied {
  /** Whether it may still become whole. */
  awaited = true
  #answer: Answer | undefined

  constructor(exchange: Exchange, then: () => void) {
    const { headers, status } = exchange
    exchange.copy(keptBytes, (body) => {
      this.awaited = false
      if (body !== undefined) this.#answer = { status, headers, body }
      then()
    })
  }

  /** The whole answer, once. */
  take(): Answer | undefined {
    const answer = this.#answer
    this.#answer = undefined
    return answer
  }
}
