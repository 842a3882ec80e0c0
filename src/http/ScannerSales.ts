import { Duration, Effect, Redacted } from "effect"
import type { IncomingMessage } from "node:http"
import { Agent } from "undici"
import { MissingAuthHeader } from "#domain/Credential.ts"
import { withHeaders } from "#domain/HttpHeaders.ts"
import { type Good, goodFor } from "#domain/ScannerGoods.ts"
import { BoughtCalls } from "#services/BoughtCalls.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { forward } from "#services/PublicHttp/Forward.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { wayOf } from "#services/PublicHttp/Way.ts"
import * as Serving from "./Gateway/Serving.ts"
import * as RawRoutes from "./RawRoutes.ts"

/** Calls of ours that may be under way at a time, and how long one may be silent: a test of a shop says nothing before its end. */
const connections = 256
const idleTimeout = Duration.minutes(2)

const pathOf = ({ url = "" }: IncomingMessage) => url.split("?", 1)[0] ?? ""

/** What a request without a credential of ours would buy. `Authorization: Payment` is how MPP pays. */
const wanted = (request: IncomingMessage): Good | undefined => {
  const { authorization } = request.headers
  const isStranger = authorization === undefined || /^payment /i.test(authorization)
  return isStranger ? goodFor(request.method ?? "", pathOf(request)) : undefined
}

/**
 * Operations of the scanner without a key: 402, and whoever pays has the operation run. It goes over a socket to this very process
 * with a credential that exists nowhere else, so that a bought call is like any other.
 */
const route = Effect.gen(function* () {
  const { directory } = yield* Endpoints
  const { server } = yield* HttpListener
  const bought = yield* BoughtCalls
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => new Agent({ connections, pipelining: 1 })),
    (open) => Effect.promise(() => open.destroy())
  )
  const way = wayOf(agent, { ...(yield* PublicHttpPolicy), idleTimeout })
  const credential = ["Authorization", `Bearer ${Redacted.value(bought.credential)}`]
  // In place of what the operator has forwarded under that name: two would be none.
  const { ground, serve } = yield* Serving.make((input, hooks) =>
    forward(way, { ...input, added: withHeaders(input.added, credential) }, hooks)
  )

  const ownOrigin = () => {
    const address = server.address()
    if (typeof address !== "object" || address === null) return "http://127.0.0.1"
    const everywhere = address.address === "::" || address.address === "0.0.0.0"
    const host = everywhere ? "127.0.0.1" : address.family === "IPv6" ? `[${address.address}]` : address.address
    return `http://${host}:${address.port}`
  }
  const handle: RawRoutes.RawRoute["handle"] = (request, response, exchange) => {
    const good = wanted(request)
    const snapshot = good === undefined ? null : directory.peek(good.id)
    if (good !== undefined && snapshot === undefined) {
      return ground.run(directory.load(good.id), (exit) => {
        if (exit._tag === "Success") handle(request, response, exchange)
        else exchange.fail(exit.cause)
      })
    }
    if (!snapshot) return exchange.refuse(new MissingAuthHeader())
    // The operator took it off sale: it is for those who have a key, then.
    const closed = snapshot.endpoint.status === "active" ? undefined : new MissingAuthHeader()
    const { method = "", url: path = "" } = request
    serve({ _tag: "Call", snapshot, method, origin: ownOrigin(), path }, request, response, exchange, closed)
  }
  const takes = (request: IncomingMessage) => bought.isOpen() && wanted(request) !== undefined
  return { prefix: "/v1/scanner/", takes, handle }
})

export const layer = RawRoutes.layer(route)
