import { Effect } from "effect"
import { MethodNotAllowed } from "#api/Refusals.ts"
import { allowed, serves } from "#domain/Endpoint.ts"
import { methodsInQuery } from "#domain/GatewayPath.ts"
import { refusedOverride } from "#domain/HttpHeaders.ts"
import { Gateway } from "#services/Gateway.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import * as Headers from "./Gateway/Headers.ts"
import * as Serving from "./Gateway/Serving.ts"
import * as RawRoutes from "./RawRoutes.ts"

/** The gateway: everything below `/x402/`. */
const route = Effect.gen(function* () {
  const gateway = yield* Gateway
  const { forward } = yield* PublicHttp
  const { ground, serve } = yield* Serving.make(forward)

  const handle: RawRoutes.RawRoute["handle"] = (request, response, exchange) => {
    const { headers, method = "", url = "" } = request
    const decision = gateway.route(method, url)
    const prepare = (allow: string) => {
      const requested = headers["access-control-request-headers"]
      response.writeHead(204, [...exchange.headers, ...Headers.ofPreflight(allow, requested)])
      response.end()
    }
    // Browsers show a page no answer to a call whose preflight was refused: it is the call that is told what is wrong.
    const isAsking = method === "OPTIONS" && headers["access-control-request-method"] !== undefined
    switch (decision._tag) {
      case "Unloaded":
        return ground.run(gateway.load(decision.endpoint), (exit) => {
          if (exit._tag === "Success") handle(request, response, exchange)
          else exchange.fail(exit.cause)
        })
      case "Refused":
        if (isAsking) return prepare(allowed("ANY"))
        return exchange.refuse(decision.refusal)
      case "Closed":
        if (isAsking) return prepare(allowed(decision.call.snapshot.endpoint.method))
        return serve(decision.call, request, response, exchange, decision.refusal)
      case "MethodNotAllowed":
        return exchange.refuse(new MethodNotAllowed({ method, allow: decision.allow.split(", ") }))
      case "Preflight":
        return prepare(decision.allow)
      case "Call": {
        const { method: served } = decision.snapshot.endpoint
        // What else a query says under this name is the origin's to read.
        const isOther = (named: string) => serves("ANY", named) && !serves(served, named)
        const wanted =
          refusedOverride(headers, (method) => serves(served, method)) ??
          (method === "POST" ? methodsInQuery(url).find(isOther) : undefined)
        if (wanted === undefined) return serve(decision, request, response, exchange)
        return exchange.refuse(new MethodNotAllowed({ method: wanted, allow: allowed(served).split(", ") }))
      }
    }
  }
  return { prefix: "/x402/", handle }
})

export const layer = RawRoutes.layer(route)
