import { Config, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import type { End, Outcome, SettlementOrder } from "#domain/Settlement.ts"
import { FailureReason } from "#domain/Transfer.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { TransferRail } from "#services/TransferRail.ts"
import * as JsonHttp from "./Rail/JsonHttp.ts"
import * as Setting from "./Setting.ts"

/** An operator's settlement provider: its address, and what it wants to see in `Authorization`. */
export interface ProviderOptions {
  readonly url: URL
  readonly authorization: Option.Option<Redacted.Redacted>
}

/** `TURNPIKE_SETTLEMENT_URL`, and `TURNPIKE_SETTLEMENT_AUTHORIZATION` (the whole header, such as `Bearer …`). */
export const config = Config.all({
  url: Config.URL("TURNPIKE_SETTLEMENT_URL"),
  authorization: Config.option(Setting.header("TURNPIKE_SETTLEMENT_AUTHORIZATION"))
})

const timeout = Duration.seconds(25)

/**
 * A settlement provider over HTTP. `POST {url}/settlements` with the order and `Idempotency-Key: <reference>` submits,
 * `GET {url}/settlements/<reference>` asks; both answer 2xx with
 * `{"reference", "status": "pending" | "completed" | "rejected", "rail_reference"?, "reason"?}`. Only such an answer about this very
 * reference counts: whatever else comes back says nothing about the money.
 */
export const make = Effect.fnUntraced(function* ({ authorization, url }: ProviderOptions) {
  const ask = JsonHttp.make(yield* PublicHttp)
  const credential = Option.isSome(authorization) ? ["authorization", Redacted.value(authorization.value)] : []
  const at = (path: string) => {
    // What follows the question mark stays: it may be what the provider knows us by.
    const address = new URL(url)
    address.pathname = `${url.pathname.replace(/\/+$/, "")}/${path}`
    return address
  }

  const submit = Effect.fn("TransferRailHttp.submit")(function* (order: SettlementOrder) {
    const answer = yield* ask({
      method: "POST",
      url: at("settlements"),
      headers: [...credential, "idempotency-key", order.reference],
      timeout,
      body: orderOnWire(order)
    })
    return yield* understood(order, answer)
  })
  const status = Effect.fn("TransferRailHttp.status")(function* (order: SettlementOrder) {
    const answer = yield* ask({
      method: "GET",
      url: at(`settlements/${order.reference}`),
      headers: credential,
      timeout
    })
    // Submitting is safe under one reference, and tells a provider what it has lost.
    return answer.status === 404 ? yield* submit(order) : yield* understood(order, answer)
  })
  return TransferRail.of({ submit, status })
})

export const layer = (options: ProviderOptions) => Layer.effect(TransferRail, make(options))

const end = ({ address, currency, network, wallet_id }: End) => ({
  wallet_id: toTypeId("wal", wallet_id),
  currency,
  network,
  address
})

/** The order as a provider reads it. `amount` is what it gets, `fee` what stays here, `receive_amount` what it is to bring. */
const orderOnWire = (order: SettlementOrder) => ({
  reference: order.reference,
  quote_id: toTypeId("qt", order.quote_id),
  from: end(order.from),
  to: end(order.to),
  amount: formatDecimal(order.send_amount - order.fee),
  fee: formatDecimal(order.fee),
  receive_amount: formatDecimal(order.receive_amount),
  memo: order.memo,
  created_at: order.created_at.toISOString()
})

const understood = (
  { reference }: SettlementOrder,
  { body, status }: JsonHttp.JsonAnswer
): Effect.Effect<Outcome, RailUnavailable> => {
  const answer = Option.getOrUndefined(decodeAnswer(body))
  if (status < 200 || status > 299 || answer === undefined || answer.reference !== reference) {
    return Effect.fail(new RailUnavailable({ reason: `the settlement provider's answer (${status}) makes no sense` }))
  }
  switch (answer.status) {
    case "pending":
      return Effect.succeed({ _tag: "Pending" })
    case "completed":
      return Effect.succeed({ _tag: "Completed", rail_reference: answer.rail_reference })
    case "rejected":
      return Effect.succeed({
        _tag: "Rejected",
        reason: Option.getOrElse(decodeReason(answer.reason), () => "rail_error")
      })
  }
}

const about = { reference: Schema.String }
const decodeAnswer = Schema.decodeUnknownOption(
  Schema.Union([
    Schema.Struct({ ...about, status: Schema.Literal("pending") }),
    Schema.Struct({
      ...about,
      status: Schema.Literal("completed"),
      rail_reference: Schema.String.check(Schema.isPattern(/^[ -~]{1,200}$/))
    }),
    Schema.Struct({ ...about, status: Schema.Literal("rejected"), reason: Schema.optional(Schema.Unknown) })
  ])
)
const decodeReason = Schema.decodeUnknownOption(FailureReason)
