import { Effect } from "effect"
import { hash } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { MethodNotAllowed } from "#api/Refusals.ts"
import { UpgradeNotSupported } from "#domain/GatewayRefusal.ts"
import type { ProofRefusal } from "#domain/Payment.ts"
import { Deployment } from "#services/Deployment.ts"
import { type Call, Gateway, type Quote } from "#services/Gateway.ts"
import { Payments } from "#services/Payments.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { dropRest } from "#services/PublicHttp/CallerBody.ts"
import * as Headers from "./Gateway/Headers.ts"
import { type Ground, PaidCall } from "./Gateway/PaidCall.ts"
import * as RawRoutes from "./RawRoutes.ts"
import { hasBody } from "./ReadableBody.ts"

/** Writes a 402. Most requests end here: one header array, one string, no promise. */
const askForMoney = (
  request: IncomingMessage,
  response: ServerResponse,
  always: ReadonlyArray<string>,
  quote: Quote
) => {
  const length = String(Buffer.byteLength(quote.body))
  response.writeHead(402, [...Headers.ofQuote, ...always, "PAYMENT-REQUIRED", quote.header, "Content-Length", length])
  response.end(quote.body)
  if (hasBody(request.headers)) dropRest(request)
}

const bearer = /^bearer +((?:pk|agent|sess)_[!-~]{1,200})$/i

/** The gateway: everything below `/x402/`. */
const route = Effect.gen(function* () {
  const gateway = yield* Gateway
  const payments = yield* Payments
  const http = yield* PublicHttp
  const publicUrl = new URL((yield* Deployment).publicUrl)
  const runCallback = Effect.runCallbackWith(yield* Effect.context<never>())
  const ground: Ground = {
    payments,
    gateway,
    http,
    host: publicUrl.host,
    scheme: publicUrl.protocol.slice(0, -1),
    run: (effect, onExit) => {
      runCallback(effect, { onExit })
    }
  }

  const unpaid = (
    call: Call,
    request: IncomingMessage,
    response: ServerResponse,
    exchange: RawRoutes.RawExchange,
    reason: ProofRefusal
  ) => {
    const token = bearer.exec(request.headers.authorization ?? "")?.[1]
    if (token === undefined || !gateway.hasDiscounts(call)) {
      return askForMoney(request, response, exchange.headers, gateway.quote(call, reason))
    }
    ground.run(gateway.quoteFor(call, token, reason), (exit) => {
      const quote = exit._tag === "Success" ? exit.value : gateway.quote(call, reason)
      askForMoney(request, response, exchange.headers, quote)
    })
  }

  const handle: RawRoutes.RawRoute["handle"] = (request, response, exchange) => {
    const { headers, method = "", url = "" } = request
    const decision = gateway.route(method, url)
    switch (decision._tag) {
      case "Unloaded":
        return ground.run(gateway.load(decision.endpoint), (exit) => {
          if (exit._tag === "Success") handle(request, response, exchange)
          else exchange.fail(exit.cause)
        })
      case "Refused":
        return exchange.refuse(decision.refusal)
      case "MethodNotAllowed":
        return exchange.refuse(new MethodNotAllowed({ method, allow: decision.allow.split(", ") }))
      case "Preflight":
        response.writeHead(204, [...exchange.headers, ...Headers.ofPreflight(decision.allow)])
        response.end()
        return
      case "Call": {
        if (headers.upgrade?.toLowerCase().includes("websocket") === true) {
          return exchange.refuse(new UpgradeNotSupported(), ["Upgrade", "HTTP/1.1", "Connection", "Upgrade"])
        }
        const proof = headers["x-payment-proof"]
        const ask = (reason: ProofRefusal) => unpaid(decision, request, response, exchange, reason)
        if (typeof proof === "string") {
          return new PaidCall(ground, decision, request, response, exchange, ask).start(proof, hash("sha256", url))
        }
        const other = headers["payment-signature"] ?? headers["x-payment"]
        return ask(other === undefined ? "payment_required" : "payment_header_not_supported")
      }
    }
  }
  return { prefix: "/x402/", handle }
})

export const layer = RawRoutes.layer(route)
