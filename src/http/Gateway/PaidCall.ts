import { Cause, Effect, Exit, Option } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { headerValues } from "#domain/HttpHeaders.ts"
import {
  isCharged,
  type PaymentRow,
  type ProofRefusal,
  type SettlementPending,
  type SettlementRefused,
  transactionOf
} from "#domain/Payment.ts"
import type { IdempotencyKeyReused, PostingRefused } from "#domain/PostingRefused.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import { settlementAmount } from "#domain/protocol/SettlementOverrides.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import type { Call } from "#services/Gateway.ts"
import type { Answer, Charge, Grant, OriginAnswer, UseRefused } from "#services/Payments.ts"
import { BadAnswer } from "#services/PublicHttp/Failure.ts"
import type { Exchange } from "#services/PublicHttp/Forward.ts"
import type { RawExchange } from "../RawRoutes.ts"
import type { Ground } from "./Ground.ts"
import * as Headers from "./Headers.ts"
import { Copied, keptBytes, leavesAtOnce, patienceWith } from "./Kept.ts"
import * as Outcome from "./Outcome.ts"
import { timesOf } from "./Times.ts"

/** One request that shows a proof: claims its payment, has it forwarded, and charges or gives the money back. Bytes pass elsewhere. */
export class PaidCall {
  readonly #ground: Ground
  readonly #call: Call
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #raw: RawExchange
  readonly #ask: (reason: ProofRefusal) => void
  readonly #challenge: string | undefined
  /** Set while money may move: nothing else may answer then. */
  #capturing = false
  /** What was taken, once it was. */
  #charged: Charge | undefined
  #copied: Copied | undefined
  #isUnkept = false
  #givenBack = false
  #brokenBy: Outcome.Break | undefined
  #patience: NodeJS.Timeout | undefined
  #signed: Authorization | undefined
  /** What the origin says the call costs, to a payer who signed a maximum. */
  #reported: bigint | undefined
  #forwardedAt = 0
  /** Milliseconds until the origin's headers. */
  #took = 0

  constructor(
    ground: Ground,
    call: Call,
    request: IncomingMessage,
    response: ServerResponse,
    raw: RawExchange,
    ask: (reason: ProofRefusal) => void,
    challenge?: string
  ) {
    this.#ground = ground
    this.#call = call
    this.#request = request
    this.#response = response
    this.#raw = raw
    this.#ask = ask
    this.#challenge = challenge
  }

  /** Goes on when the payment was taken for this call. */
  start(taking: Effect.Effect<Grant, UseRefused | IdempotencyKeyReused>) {
    this.#ground.run(taking, (exit) => {
      if (Exit.isSuccess(exit)) return this.#granted(exit.value)
      const refusal = Cause.findErrorOption(exit.cause)
      if (refusal._tag === "Some") this.#raw.refuse(refusal.value)
      else this.#raw.fail(exit.cause)
    })
  }

  #granted(grant: Grant) {
    switch (grant._tag) {
      case "Refused":
        return this.#ask(grant.reason)
      case "Answered":
        return this.#repeat(grant.payment, grant.answer)
      case "Granted":
        this.#signed = grant.signed
        return this.#use(grant.payment)
    }
  }

  #use(payment: PaymentRow) {
    const { gateway, payments, uploadMillis } = this.#ground
    if (this.#response.destroyed) return this.#then(payments.unclaim(payment, "caller_gone"))
    const allowance = gateway.count(this.#call, payment.payer_id)
    if (allowance !== undefined && !allowance.allowed) {
      return this.#turnAway(
        payment,
        new RateLimitExceeded({ limit: allowance.limit, retry_after: allowance.retryAfter })
      )
    }
    const { endpoint } = this.#call.snapshot
    this.#forwardedAt = this.#ground.passed()
    const times = timesOf(payment, endpoint, this.#signed, uploadMillis, this.#ground.now())
    if (times === undefined) return this.#turnAway(payment, new ServiceUnavailable({ retry_after: 1 }))
    this.#ground.forward(
      {
        request: this.#request,
        response: this.#response,
        origin: this.#call.origin,
        path: this.#call.path,
        added: Headers.forOrigin(this.#ground, this.#call, this.#request, this.#raw.requestId, payment, this.#signed),
        endpoint: endpoint.id,
        payer: payment.payer_id,
        cookiePlace: { gatewayUrl: endpoint.gatewayUrl, target: this.#request.url ?? "" },
        awaitsContinue: Headers.awaitsContinue(this.#request),
        ...times
      },
      {
        onHeaders: (exchange) =>
          isCharged(endpoint.chargeOn, exchange.status)
            ? this.#accept(payment, exchange)
            : this.#giveBack(payment, exchange),
        onBody: (exchange) => {
          if (!this.#givenBack) this.#charge(payment, exchange)
        },
        onComplete: () => {
          if (this.#capturing) this.#seen(payment, true)
        },
        onError: (failure, cause) => this.#broken(payment, { failure, cause })
      }
    )
  }

  /** The origin is not called, and the payment is as good as before. */
  #turnAway(payment: PaymentRow, refusal: RateLimitExceeded | ServiceUnavailable) {
    this.#then(this.#ground.payments.unclaim(payment), () => this.#raw.refuse(refusal))
  }

  /** An answer counts from its body on. Only the head of an event stream leaves before: its reader may wait long for the first event. */
  #accept(payment: PaymentRow, exchange: Exchange) {
    this.#took = this.#ground.passed() - this.#forwardedAt
    const asked = this.#signed?.scheme === "upto" ? headerValues(exchange.headers, "settlement-overrides") : undefined
    this.#reported = asked === undefined ? undefined : settlementAmount(asked, payment.amount)
    // More than the payer agreed to, no amount at all, or two of them: the payer pays nothing for the origin's mistake.
    if (asked !== undefined && this.#reported === undefined) {
      exchange.abort()
      const cause = new BadAnswer({ reason: "invalid_settlement_override" })
      return this.#broken(payment, { failure: "BadResponse", cause })
    }
    if (leavesAtOnce(payment, exchange)) this.#open(payment, exchange)
  }

  #open(payment: PaymentRow, exchange: Exchange) {
    exchange.send(this.#paidHeaders(payment, exchange, undefined))
  }

  /**
   * The body begins, or has ended without a byte: nothing was charged before. Events leave at once, and their last byte when the money
   * is there; others wait for the money.
   */
  #charge(payment: PaymentRow, exchange: Exchange) {
    if (exchange.length > keptBytes) return this.#capture(payment, exchange, undefined)
    // What a chain has to settle takes its time, and may be refused: its answer is kept before, and handed out after.
    if (!leavesAtOnce(payment, exchange)) return this.#chargeWhole(payment, exchange)
    // It is charged before it is whole. Its payment may ask for it again all the same.
    const copied = new Copied(exchange, "copy", () => this.#finish(payment, exchange))
    this.#copied = copied
    this.#open(payment, exchange)
    // What has come whole by the end of the parser's turn is kept together with its charge.
    this.#capturing = true
    queueMicrotask(() => this.#capture(payment, exchange, copied.take()))
  }

  #chargeWhole(payment: PaymentRow, exchange: Exchange) {
    const copied = new Copied(exchange, "whole", () => {
      clearTimeout(this.#patience)
      if (this.#copied === undefined) this.#capture(payment, exchange, copied.take())
      else this.#finish(payment, exchange)
    })
    const millis = patienceWith(payment, this.#signed, exchange, this.#ground.now())
    // @effect-diagnostics-next-line globalTimers:off
    this.#patience = setTimeout(() => {
      this.#copied = copied.outliving(payment, this.#ground.now())
      this.#capture(payment, exchange, undefined)
    }, millis)
  }

  /** The end waits for the charge, and for the copy of an answer that was charged before it was whole. */
  #finish(payment: PaymentRow, exchange: Exchange) {
    if (this.#charged !== undefined && this.#copied?.awaited !== true) this.#keep(payment, () => exchange.finish())
  }

  #keep(payment: PaymentRow, next: () => void) {
    const kept = this.#copied?.take()
    if (kept === undefined) next()
    else this.#then(this.#ground.payments.keep(payment, kept), next)
  }

  #answerOf({ status }: Exchange, kept: Answer | undefined): OriginAnswer {
    return { status, millis: this.#took, kept, reported: this.#reported }
  }

  #capture(payment: PaymentRow, exchange: Exchange, kept: Answer | undefined) {
    this.#capturing = true
    this.#isUnkept = kept === undefined
    const capture = this.#ground.payments.capture(payment, this.#answerOf(exchange, kept), this.#signed)
    this.#ground.run(capture, (exit) => {
      if (Exit.isFailure(exit)) {
        exchange.abort()
        return this.#notCharged(exit.cause)
      }
      if (this.#brokenBy !== undefined) return this.#cutShort(payment, this.#brokenBy, exit.value)
      exchange.send(this.#paidHeaders(payment, exchange, exit.value))
      this.#charged = exit.value
      this.#finish(payment, exchange)
    })
  }

  /** The money did not come, or not yet. The answer is not handed out without it. */
  #notCharged(cause: Cause.Cause<PostingRefused | SettlementPending | SettlementRefused>) {
    const refusal = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (Cause.hasDies(cause)) return this.#raw.fail(cause)
    if (refusal?._tag === "SETTLEMENT_PENDING") return this.#raw.refuse(refusal)
    if (refusal?._tag === "SETTLEMENT_REFUSED" && !this.#response.headersSent) return this.#ask(refusal.reason)
    this.#report("A call could not be charged", cause)
    this.#raw.refuse(new ServiceUnavailable({ retry_after: 1 }))
  }

  /** The answer broke and the money has moved: this must not look unpaid. */
  #cutShort(payment: PaymentRow, broken: Outcome.Break, charge: Charge) {
    this.#keep(payment, () => this.#seen(payment, false))
    if (this.#response.headersSent || this.#response.destroyed) return this.#response.destroy()
    this.#raw.refuse(Outcome.originRefusal(payment, broken, this.#ground), this.#receipt(payment, charge, 502))
  }

  #giveBack(payment: PaymentRow, exchange: Exchange) {
    this.#givenBack = true
    this.#took = this.#ground.passed() - this.#forwardedAt
    exchange.send(Headers.ofAnswer(exchange.headers, [...this.#raw.headers, ...Outcome.nothingTaken]))
    // The answer ends when the proof can be used again. If that fails, the lease ends and it can be used then.
    const release = this.#ground.payments.release(payment, "origin_status", this.#answerOf(exchange, undefined))
    this.#then(release, () => exchange.finish())
  }

  #broken(payment: PaymentRow, broken: Outcome.Break) {
    this.#brokenBy = broken
    clearTimeout(this.#patience)
    if (this.#capturing) {
      // While the charge is being written, its end answers.
      if (this.#charged !== undefined) this.#cutShort(payment, broken, this.#charged)
      return
    }
    const release = this.#givenBack
      ? Effect.void
      : this.#ground.payments.release(payment, Outcome.failureCodes[broken.failure])
    this.#then(release, () => {
      if (broken.failure !== "CallerGone") this.#raw.refuse(Outcome.originRefusal(payment, broken, this.#ground))
    })
  }

  /** The answer of an earlier call with this proof, which may not have reached its caller. */
  #repeat(payment: PaymentRow, answer: Answer) {
    const charge = { charged: payment.charged ?? 0n, transaction: transactionOf(payment) }
    const headers = this.#paidHeaders(payment, answer, charge)
    this.#response.once("close", () => {
      if (this.#response.writableFinished) this.#seen(payment, true)
    })
    this.#response.writeHead(answer.status, [...headers, "Idempotency-Replayed", "true"])
    this.#response.end(answer.body)
  }

  /** Where it matters that the answer arrived that is said. Others may ask again; what was not kept they wait for until the end. */
  #seen({ id, protocol, rail }: PaymentRow, delivered: boolean) {
    const isOurs = protocol === "native"
    const matters = isOurs || rail === "chain"
    if (matters || this.#isUnkept) this.#ground.payments.seen(id, matters && delivered, !isOurs)
  }

  #paidHeaders(payment: PaymentRow, answer: Pick<Answer, "headers" | "status">, charge: Charge | undefined) {
    return Headers.ofAnswer(answer.headers, [...this.#raw.headers, ...this.#receipt(payment, charge, answer.status)])
  }

  #receipt(payment: PaymentRow, charge: Charge | undefined, status: number) {
    return Outcome.receipt(payment, charge, { now: this.#ground.now(), challenge: this.#challenge, status })
  }

  /** Goes on whatever happens: the caller must not wait for what the lease will mend. */
  #then(effect: Effect.Effect<void>, next: () => void = () => undefined) {
    this.#ground.run(effect, (exit) => {
      next()
      if (Exit.isFailure(exit)) this.#report("A payment could not be given back at once", exit.cause)
    })
  }

  #report(what: string, cause: Cause.Cause<unknown>) {
    this.#ground.run(Effect.logWarning(what, cause), () => undefined)
  }
}
