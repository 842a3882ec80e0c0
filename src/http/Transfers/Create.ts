import { Effect, Option, Schema } from "effect"
import { InsufficientScope, requiredScope } from "#domain/Credential.ts"
import { agentOf } from "#domain/Ownership.ts"
import { Currency } from "#domain/Money.ts"
import { grants, type Principal } from "#domain/Principal.ts"
import { type CreateTransfer, isOfStream, orderOf, type TransferOrder } from "#domain/TransferOrder.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { Quotes } from "#services/Quotes.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import type { IdempotencyHeaders } from "../Direct.ts"
import { claim } from "../Idempotency.ts"

/** What is asked for, the same whether a default is written out or left out. */
const parametersOf = (order: TransferOrder) => {
  if (order.type !== "stream_start" || order.buffer !== 0n) return order
  const { buffer: _, ...rest } = order
  return rest
}

const isHeld = Schema.is(Currency)

/** What `POST /v1/transfers` does, whichever way the request came. */
export const make = Effect.gen(function* () {
  const transfers = yield* Transfers
  const crossBorder = yield* CrossBorder
  const quotes = yield* Quotes
  const streams = yield* MoneyStreams
  const wallets = yield* Wallets
  /** What is paid in: the quote has it where the request leaves it out. */
  const currencyOf = Effect.fnUntraced(function* (principal: Principal, { currency, quote_id }: CreateTransfer) {
    if (currency !== undefined || quote_id === undefined) return currency
    const quote = Option.getOrUndefined(yield* Effect.option(quotes.get(principal, quote_id)))
    const from = quote?.from_currency
    return isHeld(from) ? from : undefined
  })
  /** An agent that names no wallet pays from its own, from one on the receiver's network if it can. */
  const fromItsOwn = Effect.fnUntraced(function* (principal: Principal, asked: CreateTransfer) {
    const agent = agentOf(principal)
    if (agent === undefined) return asked
    const { to_wallet_id, type } = asked
    const isHere = to_wallet_id !== undefined && type !== "cross_border"
    const to = isHere ? yield* Effect.option(wallets.known(principal, to_wallet_id)) : Option.none()
    const network = Option.getOrUndefined(to)?.network
    const currency = yield* currencyOf(principal, asked)
    const own = yield* wallets.firstOf(agent, { currency, network })
    return own === undefined ? asked : { ...asked, from_wallet_id: own.id }
  })
  return Effect.fnUntraced(function* (principal: Principal, headers: IdempotencyHeaders, asked: CreateTransfer) {
    // What acts on a stream has the stream's wallets.
    const lacksPayer = asked.from_wallet_id === undefined && asked.stream_id === undefined
    const payload = lacksPayer ? yield* fromItsOwn(principal, asked) : asked
    const order = yield* Effect.fromResult(orderOf(payload))
    // A money stream is one whichever way it is moved.
    if (isOfStream(order) && !grants(principal.scopes, "streams", "write")) {
      return yield* new InsufficientScope({ required_scope: requiredScope("streams", "write") })
    }
    const claimed = yield* claim({
      operation: "transfers.create",
      principal,
      headers,
      bodyKey: payload.idempotency_key,
      parameters: parametersOf(order)
    })
    switch (order.type) {
      case "cross_border":
        return yield* crossBorder.create(principal, order, claimed)
      case "stream_start":
        return yield* streams.start(principal, order, claimed)
      case "stream_withdraw":
      case "stream_cancel":
        return yield* streams.transfer(principal, order, claimed)
      default:
        return yield* transfers.create(principal, order, claimed)
    }
  })
})
