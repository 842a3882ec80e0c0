import type { IncomingMessage } from "node:http"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import { Context } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Principal } from "#domain/Principal.ts"
import type { Allowance } from "#domain/RateLimit.ts"

/** One request on its way: what the layers around an operation tell each other about it. */
export class Exchange {
  readonly requestId: string
  readonly source: IncomingMessage
  principal: Principal | undefined = undefined
  allowance: Allowance | undefined = undefined
  constructor(requestId: string, source: IncomingMessage) {
    this.requestId = requestId
    this.source = source
  }
}

/** The exchange that the current fiber works for. */
export const CurrentExchange = Context.Reference<Exchange | undefined>("turnpike/http/Exchange/CurrentExchange", {
  defaultValue: () => undefined
})

/** The request as Node gave it. We only serve HTTP/1.1. */
export const sourceOf = (request: HttpServerRequest.HttpServerRequest): IncomingMessage =>
  toIncomingMessage(request) as IncomingMessage
