import { Cause, Clock, Effect, Layer, LogLevel, References } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { listRefusals, type Refusal, toProblem } from "#api/Problems.ts"
import { HeadersTooLarge, InternalError, MethodNotAllowed, RequestTimeout } from "#api/Refusals.ts"
import { InvalidRequest } from "#domain/Refusal.ts"
import { type Addressed, ofAbsoluteForm } from "#domain/RequestTarget.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { bodyKind, dropRest } from "#services/PublicHttp/CallerBody.ts"
import { RailUnavailable } from "#services/Rail.ts"
import { monotonic } from "#services/RealTime.ts"
import * as RequestId from "#services/RequestId.ts"
import { logFault, refusalOf } from "./Faults.ts"
import { keyHeaders, readKeys } from "./Idempotency.ts"
import * as Metrics from "./Metrics.ts"
import { type RawExchange, RawRoutes } from "./RawRoutes.ts"
import { forgetTypeOfNothing } from "./ReadableBody.ts"
import * as Uniform from "./Uniform.ts"

// What no operation declares: the edge refuses before there is one, and raw routes are none.
listRefusals(HeadersTooLarge, InternalError, MethodNotAllowed, RailUnavailable, RequestTimeout)

const malformed = (message: string) => new InvalidRequest({ errors: [{ path: "", message }] })

const isPath = (target: string): boolean => target.charCodeAt(0) === 0x2f

/** Why no server of one host can mean this request; undefined when it can. `addressed` is what its target says in absolute-form. */
const ambiguity = (request: IncomingMessage, addressed: Addressed | undefined): Refusal | undefined => {
  const { url = "", headers, method, httpVersion } = request
  if (!isPath(addressed?.target ?? url) && !(url === "*" && method === "OPTIONS")) {
    return malformed("the request target must be a path, or an address of this host")
  }
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return malformed("the version must be HTTP/1.1 or HTTP/1.0")
  // Node looks at the last coding only, and hands us what is under it as it is.
  const coding = headers["transfer-encoding"]
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    return malformed("the only transfer coding is chunked")
  // Servers of that version know none: whoever stands before us may see the body end elsewhere (RFC 9112, 6.1).
  if (coding !== undefined && httpVersion === "1.0") return malformed("a transfer coding needs HTTP/1.1")
  // Joined by a proxy or by Node, two keys would be a third.
  for (const name of keyHeaders) {
    const repeated = headers[name]?.includes(", ") === true && (request.headersDistinct[name]?.length ?? 0) > 1
    if (repeated) return malformed(`there must be one ${name} header`)
  }
  // Node joins repeated Host fields with a comma, which no host name has.
  const missing = headers.host === undefined && httpVersion === "1.1"
  return missing || headers.host?.includes(",") === true ? malformed("there must be one Host header") : undefined
}

const ofParser = (error: Error & { readonly code?: string }): Refusal => {
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT") return new RequestTimeout()
  if (error.code === "HPE_HEADER_OVERFLOW") return new HeadersTooLarge({ limit_bytes: 16_384 })
  return malformed("the request is not well-formed HTTP/1.1")
}

/**
 * Answers a request whose long body nobody reads, on its last exchange. The answer is whole, but ends with the body: to close the
 * connection on somebody who still sends could take the answer with it.
 */
const endWithBody = (request: IncomingMessage, response: ServerResponse, body: string) => {
  if (request.method === "HEAD") response.flushHeaders()
  else response.write(body)
  awaitingEnd.add(response)
  request.once("end", () => response.end())
}
/** Answers that are whole, and have not ended. */
const awaitingEnd = new WeakSet<ServerResponse>()

/** Answers behind which came what is no HTTP: each piece of it is an error of its own. */
const endsConnection = new WeakSet<ServerResponse>()

/** The answer that this connection is at. */
const current = ({ _httpMessage: answer }: Duplex & { readonly _httpMessage?: ServerResponse | null }) =>
  answer ?? undefined

/** Sees every request before the framework does: refuses ambiguous ones and hands raw routes their bytes. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { server, intercept } = yield* HttpListener
    const routes = yield* RawRoutes
    const deployment = yield* Deployment
    const clock = yield* Clock.Clock
    const context = yield* Effect.context<never>()
    const fork = Effect.runForkWith(context)
    const observe = Metrics.make(context)
    const isDebugging = LogLevel.isLessThanOrEqualTo(yield* References.MinimumLogLevel, "Debug")
    const always = Uniform.always(deployment)
    const ofEveryExchange = Uniform.ofEveryExchange(deployment)
    const names = new Set([deployment.publicUrl, deployment.scannerUrl].map((url) => new URL(url).host))

    /** The whole refusal: status, headers and body. */
    const render = (refusal: Refusal, requestId: string) => {
      const problem = toProblem(refusal) ?? toProblem(new InternalError())
      if (problem === undefined) return { status: 500, headers: {}, body: "" }
      const body = JSON.stringify(Uniform.complete(problem, requestId, deployment))
      return {
        status: problem.status,
        headers: {
          ...always,
          ...Uniform.crossOrigin,
          ...Uniform.ofProblem(problem),
          "x-request-id": requestId,
          "content-type": "application/problem+json",
          "content-length": String(Buffer.byteLength(body))
        },
        body
      }
    }

    /** `name` is the route as metrics and logs know it. */
    const exchangeOf = (
      request: IncomingMessage,
      response: ServerResponse,
      requestId: string,
      name: string
    ): RawExchange => {
      const refuse: RawExchange["refuse"] = (refusal, added = []) => {
        if (response.headersSent) {
          response.destroy()
          return
        }
        const { status, headers, body } = render(refusal, requestId)
        for (let index = 0; index + 1 < added.length; index += 2) {
          response.appendHeader(added[index] ?? "", added[index + 1] ?? "")
        }
        const rest = request.complete ? "none" : bodyKind(request)
        if (rest === "streamed") response.shouldKeepAlive = false
        response.writeHead(status, headers)
        if (rest === "streamed") endWithBody(request, response, body)
        else response.end(request.method === "HEAD" ? undefined : body)
        if (rest !== "none") dropRest(request)
      }
      return {
        requestId,
        headers: ["X-Request-Id", requestId, ...ofEveryExchange],
        refuse,
        fail: (fault, added) => {
          const cause = Cause.isCause(fault) ? fault : Cause.die(fault)
          fork(Effect.annotateLogs(logFault(`${request.method} ${name}`, cause), { request_id: requestId }))
          refuse(refusalOf(cause) ?? new InternalError(), added)
        }
      }
    }

    yield* intercept((request, response) => {
      const { headers, url = "" } = request
      const addressed = isPath(url) ? undefined : ofAbsoluteForm(url, headers.host, names)
      const refused = ambiguity(request, addressed)
      if (refused === undefined && addressed !== undefined) {
        // From here on there is one address to read: the host of an absolute-form counts in place of `Host`.
        request.url = addressed.target
        headers.host = addressed.host
      }
      const route = refused === undefined ? routes.find(request) : undefined
      if (refused === undefined && route === undefined) {
        readKeys(headers)
        forgetTypeOfNothing(headers)
        return false
      }
      const started = monotonic(clock)
      const name = route === undefined ? "none" : route.prefix.endsWith("/") ? `${route.prefix}*` : route.prefix
      const requestId = RequestId.of(request)
      const exchange = exchangeOf(request, response, requestId, name)
      response.once("close", () => {
        // Of a body that nobody read the rest would hold the connection as long as its sender likes.
        dropRest(request)
        const { method = "" } = request
        const status = response.headersSent ? response.statusCode : Metrics.callerGone
        const ms = monotonic(clock) - started
        observe(method, name, status, ms)
        if (!isDebugging) return
        const facts = { request_id: requestId, route: name, status, ms: Math.round(ms) }
        fork(Effect.annotateLogs(Effect.logDebug(`${method} ${name} ${status}`), facts))
      })
      try {
        if (refused !== undefined) exchange.refuse(refused, ["Connection", "close"])
        else route?.handle(request, response, exchange)
      } catch (fault) {
        // Nobody is above us: what is thrown here would end the process.
        exchange.fail(fault)
      }
      return true
    })

    /** The last words on a connection whose requests nobody reads any more. */
    const endWith = (socket: Duplex, refusal: Refusal, then?: () => void) => {
      const { status, headers, body } = render(refusal, RequestId.fresh())
      const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body}`, then)
    }
    const onMalformed = (error: Error & { readonly code?: string }, socket: Duplex) => {
      if (!socket.writable || error.code === "ECONNRESET") {
        socket.destroy()
        return
      }
      const answer = current(socket)
      if (answer?.req.complete === true) {
        // What it asked for may be done: it must not be told the refusal of the bytes behind it.
        answer.shouldKeepAlive = false
        // It may have said already that others can follow. Whoever sends on is told of once.
        if (!endsConnection.has(answer)) answer.once("close", () => socket.end())
        endsConnection.add(answer)
        // Node has one listener for all that is wrong with a connection, Deno adds one for each piece.
        for (const listener of socket.listeners("error").slice(1)) {
          if (listener.name === "noop") Reflect.apply(socket.off, socket, ["error", listener])
        }
        return
      }
      if (answer?.headersSent === true) {
        // What would be said now would be read as a part of it.
        if (awaitingEnd.has(answer)) socket.end()
        else answer.destroy()
        return
      }
      endWith(socket, ofParser(error))
    }
    /** Without a listener Node closes without a word. With one it takes all of its own off, so that no other answer could end. */
    const onConnect = (_request: IncomingMessage, socket: Duplex) => {
      if (current(socket) !== undefined) return socket.destroy()
      socket.on("error", () => socket.destroy())
      endWith(socket, new MethodNotAllowed({ method: "CONNECT", allow: Uniform.everyMethod }), () => socket.destroy())
    }
    // Without a listener Node answers expectations other than 100-continue itself, with nothing of ours. They may be ignored.
    const onExpectation = (request: IncomingMessage, response: ServerResponse) => {
      server.emit("request", request, response)
    }
    server.on("clientError", onMalformed)
    server.on("connect", onConnect)
    server.on("checkExpectation", onExpectation)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() =>
        server.off("clientError", onMalformed).off("connect", onConnect).off("checkExpectation", onExpectation)
      )
    )
  })
)
