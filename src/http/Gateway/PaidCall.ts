import { Cause, Effect, Exit } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { OriginTimeout, OriginUnreachable } from "#domain/GatewayRefusal.ts"
import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import { OriginForbiddenAddress } from "#domain/OriginUrl.ts"
import { isCharged, type PaymentRow, type ProofRefusal } from "#domain/Payment.ts"
import { settlementHeaders } from "#domain/protocol/X402.ts"
import { InvalidRequest, ServiceUnavailable } from "#domain/Refusal.ts"
import type { Call, Gateway } from "#services/Gateway.ts"
import type { Answer, Grant, Payments } from "#services/Payments.ts"
import type { PublicHttp } from "#services/PublicHttp.ts"
import type { Exchange, ForwardFailure } from "#services/PublicHttp/Forward.ts"
import type { RawExchange } from "../RawRoutes.ts"
import * as Headers from "./Headers.ts"

/** What the byte path stands on. `run` starts an effect and tells how it ended. */
export interface Ground {
  readonly payments: Payments["Service"]
  readonly gateway: Gateway["Service"]
  readonly http: PublicHttp["Service"]
  readonly host: string
  readonly scheme: string
  readonly run: <A, E>(effect: Effect.Effect<A, E>, onExit: (exit: Exit.Exit<A, E>) => void) => void
}

/** Answers up to this size are kept with their charge until they were delivered. */
const keptBytes = 65_536
const keptPatience = 1000

/**
 * One request that shows a proof: claims the payment, has the call forwarded, and charges or gives the money back. Bytes do not
 * pass through here; money does, and the end of an answer waits for it.
 */
export class PaidCall {
  readonly #ground: Ground
  readonly #call: Call
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #raw: RawExchange
  readonly #ask: (reason: ProofRefusal) => void
  /** Set while money may move: nothing else may answer then. */
  #capturing = false
  #givenBack = false
  #brokenBy: ForwardFailure | undefined

  constructor(
    ground: Ground,
    call: Call,
    request: IncomingMessage,
    response: ServerResponse,
    raw: RawExchange,
    ask: (reason: ProofRefusal) => void
  ) {
    this.#ground = ground
    this.#call = call
    this.#request = request
    this.#response = response
    this.#raw = raw
    this.#ask = ask
  }

  start(proof: string, fingerprint: string) {
    const { endpoint } = this.#call.snapshot
    const claim = this.#ground.payments.claim({ proof, endpoint, method: this.#call.method, fingerprint })
    this.#ground.run(claim, (exit) => {
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
        return this.#use(grant.payment)
    }
  }

  #use(payment: PaymentRow) {
    if (this.#response.destroyed) return this.#background(this.#ground.payments.unclaim(payment))
    const allowance = this.#ground.gateway.count(this.#call, payment.payer_wallet_id)
    if (allowance !== undefined && !allowance.allowed) {
      const refusal = new RateLimitExceeded({ limit: allowance.limit, retry_after: allowance.retryAfter })
      return this.#then(this.#ground.payments.unclaim(payment), () => this.#raw.refuse(refusal))
    }
    const { endpoint } = this.#call.snapshot
    this.#ground.http.forward(
      {
        request: this.#request,
        response: this.#response,
        origin: this.#call.origin,
        path: this.#call.path,
        added: this.#forOrigin(payment),
        timeoutMillis: endpoint.timeoutMs,
        awaitsContinue: this.#request.headers.expect?.toLowerCase() === "100-continue"
      },
      {
        onHeaders: (exchange) =>
          isCharged(endpoint.chargeOn, exchange.status)
            ? this.#charge(payment, exchange)
            : this.#giveBack(payment, exchange),
        onComplete: () => {
          if (this.#capturing) this.#ground.payments.seen(payment.id, true)
        },
        onError: (failure) => this.#broken(payment, failure)
      }
    )
  }

  #forOrigin(payment: PaymentRow): RawHeaders {
    const { host, scheme } = this.#ground
    return [
      ...Object.entries(this.#call.snapshot.endpoint.forwardHeaders).flat(),
      "X-Forwarded-For",
      (this.#request.socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
      "X-Forwarded-Host",
      host,
      "X-Forwarded-Proto",
      scheme,
      "X-Request-Id",
      this.#raw.requestId,
      "X-Payment-Payer",
      toTypeId("wal", payment.payer_wallet_id),
      "X-Payment-Id",
      toTypeId("pay", payment.id),
      "X-Payment-Amount",
      formatDecimal(payment.amount)
    ]
  }

  /** Headers of a length-less answer leave at once, and its last byte when the money is there; others wait for the money. */
  #charge(payment: PaymentRow, exchange: Exchange) {
    const streams = exchange.length < 0
    if (streams) exchange.send(this.#paidHeaders(payment, exchange.headers, undefined))
    if (streams || exchange.length > keptBytes) return this.#capture(payment, exchange, undefined)
    // A small body that dawdles is not worth waiting for: the lease of the payment runs.
    // @effect-diagnostics-next-line globalTimers:off
    const timer = setTimeout(() => this.#captureOnce(payment, exchange, undefined), keptPatience)
    exchange.whole((body) => {
      clearTimeout(timer)
      this.#captureOnce(payment, exchange, { status: exchange.status, headers: exchange.headers, body })
    })
  }

  #captureOnce(payment: PaymentRow, exchange: Exchange, answer: Answer | undefined) {
    if (!this.#capturing && this.#brokenBy === undefined) this.#capture(payment, exchange, answer)
  }

  #capture(payment: PaymentRow, exchange: Exchange, answer: Answer | undefined) {
    this.#capturing = true
    this.#ground.run(this.#ground.payments.capture(payment, exchange.status, answer), (exit) => {
      if (Exit.isFailure(exit)) {
        exchange.abort()
        return this.#raw.fail(Cause.hasDies(exit.cause) ? exit.cause : new ServiceUnavailable({ retry_after: 1 }))
      }
      if (this.#brokenBy !== undefined) return this.#cutShort(payment, exit.value)
      exchange.send(this.#paidHeaders(payment, exchange.headers, exit.value))
      exchange.finish()
    })
  }

  /** The answer broke while its charge was being written: the money has moved, so this must not look unpaid. */
  #cutShort(payment: PaymentRow, charged: bigint) {
    this.#ground.payments.seen(payment.id, false)
    if (this.#response.headersSent || this.#response.destroyed) return this.#response.destroy()
    this.#raw.refuse(this.#originRefusal(payment, this.#brokenBy ?? "Unreachable"), this.#receipt(payment, charged))
  }

  #giveBack(payment: PaymentRow, exchange: Exchange) {
    this.#givenBack = true
    exchange.send(Headers.ofAnswer(exchange.headers, this.#raw.headers, false))
    // The answer ends when the proof can be used again. If that fails, the lease ends and it can be used then.
    const release = this.#ground.payments.release(payment, "origin_status", exchange.status)
    this.#then(release, () => exchange.finish())
  }

  #broken(payment: PaymentRow, failure: ForwardFailure) {
    this.#brokenBy = failure
    if (this.#capturing) {
      if (this.#response.headersSent || failure === "CallerGone") this.#ground.payments.seen(payment.id, false)
      return
    }
    const release = this.#givenBack ? Effect.void : this.#ground.payments.release(payment, failureCodes[failure])
    this.#then(release, () => {
      if (failure !== "CallerGone") this.#raw.refuse(this.#originRefusal(payment, failure))
    })
  }

  #originRefusal(payment: PaymentRow, failure: ForwardFailure) {
    const details = { payment_id: toTypeId("pay", payment.id), failure: failureCodes[failure] }
    switch (failure) {
      case "Timeout":
        return new OriginTimeout(details)
      case "ForbiddenAddress":
        return new OriginForbiddenAddress({ reason: "AddressNotPublic" })
      case "BadRequest":
        return new InvalidRequest({ errors: [{ path: "", message: "the request cannot be forwarded as it is" }] })
      default:
        return new OriginUnreachable(details)
    }
  }

  /** The answer of an earlier call with this proof, which may not have reached its caller. */
  #repeat(payment: PaymentRow, answer: Answer) {
    const headers = this.#paidHeaders(payment, answer.headers, payment.charged ?? 0n)
    this.#response.once("close", () => {
      if (this.#response.writableFinished) this.#ground.payments.seen(payment.id, true)
    })
    this.#response.writeHead(answer.status, [...headers])
    this.#response.end(answer.body)
  }

  #receipt(payment: PaymentRow, charged: bigint | undefined): Array<string> {
    const id = toTypeId("pay", payment.id)
    const payer = toTypeId("wal", payment.payer_wallet_id)
    const [v2, v1] = settlementHeaders({ id, payer, network: payment.network, charged })
    const receipt = ["PAYMENT-RESPONSE", v2, "X-PAYMENT-RESPONSE", v1, "X-Payment-Id", id]
    if (charged !== undefined) receipt.push("X-Payment-Amount", formatDecimal(charged))
    return receipt
  }

  #paidHeaders(payment: PaymentRow, origin: RawHeaders, charged: bigint | undefined): Array<string> {
    return Headers.ofAnswer(origin, [...this.#raw.headers, ...this.#receipt(payment, charged)], true)
  }

  /** Goes on whatever happens: the caller must not wait for what the lease will mend. */
  #then(effect: Effect.Effect<void>, next: () => void) {
    this.#ground.run(effect, (exit) => {
      next()
      if (Exit.isFailure(exit)) this.#report(exit.cause)
    })
  }

  #background(effect: Effect.Effect<void>) {
    this.#then(effect, () => undefined)
  }

  #report(cause: Cause.Cause<unknown>) {
    this.#ground.run(Effect.logWarning("A payment could not be given back at once", cause), () => undefined)
  }
}

const failureCodes: Record<ForwardFailure, string> = {
  ForbiddenAddress: "origin_forbidden_address",
  Unreachable: "origin_unreachable",
  Timeout: "origin_timeout",
  TooLarge: "origin_bad_answer",
  BadResponse: "origin_bad_answer",
  BadRequest: "request_not_forwardable",
  CallerGone: "caller_gone"
}
