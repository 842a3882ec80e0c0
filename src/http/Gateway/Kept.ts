import { isEventStream } from "#domain/HttpHeaders.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { type Authorization, timeToAnswer } from "#domain/protocol/Authorization.ts"
import type { Answer } from "#services/Payments.ts"
import type { Exchange } from "#services/PublicHttp/Forward.ts"
import { timeToCharge } from "./Times.ts"

/** Answers up to this size are kept with their charge until they were delivered. */
export const keptBytes = 65_536
/** How long events are gathered before they are charged, and how long any other answer is waited for at least (milliseconds). */
const leastPatience = 1000
/** How long an answer without a length may take to be whole before it is taken for a stream: its first byte waits so long. */
const streamPatience = 100

/** Whether an answer is read while it is written, and no chain has to settle it: only its end waits for the money. */
export const leavesAtOnce = (
  { rail }: PaymentRow,
  { headers, length }: Pick<Exchange, "headers" | "length">
): boolean => length < 0 && rail !== "chain" && isEventStream(headers)

/**
 * How long an answer that began may take to be whole before it is charged. One that breaks off until then costs nothing. The money
 * must last for the charge; what a chain settles is lost when the chain takes long and it was not kept.
 */
export const patienceWith = (
  { lease_until, rail }: PaymentRow,
  signed: Authorization | undefined,
  { headers, length }: Pick<Exchange, "headers" | "length">,
  now: number
): number => {
  if (isEventStream(headers)) return leastPatience
  if (rail === "chain" && signed !== undefined) return Math.max(leastPatience, timeToAnswer(signed, lease_until, now))
  return length < 0 ? streamPatience : Math.max(leastPatience, timeToCharge(lease_until, now))
}

/** An answer as it will be asked for again, if it turns out small: read `whole` before it is sent, or copied while it leaves. */
export class Copied {
  /** Whether it may still become whole. */
  awaited = true
  readonly #exchange: Exchange
  #answer: Answer | undefined

  constructor(exchange: Exchange, how: "whole" | "copy", then: () => void) {
    this.#exchange = exchange
    const { headers, status } = exchange
    exchange[how](keptBytes, (body) => {
      this.awaited = false
      if (body !== undefined) this.#answer = { status, headers, body }
      then()
    })
  }

  /**
   * It is charged before it is whole: its payer may ask for it also when it left before. Who leaves a stream of events has had enough;
   * what others left is read for as long as the payment is leased to the call.
   */
  outliving({ lease_until }: PaymentRow, now: number): this {
    if (!isEventStream(this.#exchange.headers)) this.#exchange.outlive((lease_until?.getTime() ?? 0) - now)
    return this
  }

  /** The whole answer, once. */
  take(): Answer | undefined {
    const answer = this.#answer
    this.#answer = undefined
    return answer
  }
}
