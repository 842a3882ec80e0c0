import { toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Cause, Clock, Context, Effect, LogLevel, References } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type ProblemBody, type Refusal, toProblem } from "#api/Problems.ts"
import { InternalError, MethodNotAllowed } from "#api/Refusals.ts"
import { InvalidRequest, NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { Deployment } from "#services/Deployment.ts"
import { monotonic } from "#services/RealTime.ts"
import * as RequestId from "#services/RequestId.ts"
import { dropRest } from "#services/PublicHttp/CallerBody.ts"
import { BodyRoom, type Enter, leaveWith } from "./BodyRoom.ts"
import { CurrentExchange, Exchange, sourceOf } from "./Exchange.ts"
import { logFault, refusalOf } from "./Faults.ts"
import * as Metrics from "./Metrics.ts"
import { Paths } from "./Paths.ts"
import * as ReadableBody from "./ReadableBody.ts"
import { policyOf } from "./ScriptPolicy.ts"
import * as Uniform from "./Uniform.ts"

const maxBody = ByteSize.bytes(ReadableBody.limits.bytes)
const problemJson = "application/problem+json"

/** Where answers are made for each request anew. */
const made = /^\/(?:v1|\.well-known)\//

const untaken = ServiceUnavailable.because("too many answers wait to be taken")

/** No path of ours has a NUL, and the router would take what follows the others for a query. */
const unroutable = /%00|[;#]/

const pathOf = (url: string): string => {
  const end = url.indexOf("?")
  return end === -1 ? url : url.slice(0, end)
}

const isUnknownRoute = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some(
    (reason) =>
      reason._tag === "Fail" &&
      HttpServerError.isHttpServerError(reason.error) &&
      reason.error.reason._tag === "RouteNotFound"
  )

const textOf = ({ body }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? (body.text ?? new TextDecoder().decode(body.body)) : ""

/** What every answer of every route has in common, and the answer when there is no route or something broke. */
export const layer = HttpRouter.middleware(
  Effect.gen(function* () {
    const deployment = yield* Deployment
    const paths = yield* Paths
    const observe = Metrics.make(yield* Effect.context<never>())
    const always = Uniform.always(deployment)
    const policies = new WeakMap<object, string>()

    const problemResponse = (problem: ProblemBody, exchange: Exchange) =>
      HttpServerResponse.text(JSON.stringify(Uniform.complete(problem, exchange.requestId, deployment)), {
        status: problem.status,
        contentType: problemJson,
        headers: Uniform.ofProblem(problem)
      })

    const refuse = (refusal: Refusal, exchange: Exchange) => problemResponse(toProblem(refusal) ?? internal, exchange)

    const unrouted = (request: HttpServerRequest.HttpServerRequest): Refusal => {
      const path = pathOf(request.url)
      const allow = paths.methodsOf(path)
      if (request.method === ("TRACE" as string)) {
        return new MethodNotAllowed({ method: "TRACE", allow: allow.length === 0 ? Uniform.everyMethod : allow })
      }
      return allow.length === 0 || allow.includes(request.method)
        ? new NotFound({ resource: "path", id: path.slice(0, 200) })
        : new MethodNotAllowed({ method: request.method, allow })
    }

    /** The answer when something broke. */
    const recover = (cause: Cause.Cause<unknown>, request: HttpServerRequest.HttpServerRequest, exchange: Exchange) => {
      if (isUnknownRoute(cause)) return Effect.succeed(refuse(unrouted(request), exchange))
      const answer = refuse(refusalOf(cause) ?? new InternalError(), exchange)
      return Effect.as(logFault(`${request.method} ${pathOf(request.url)}`, cause), answer)
    }

    /** A record or a list has room until its caller took it. What was done is answered in any case, and pages are there once for all. */
    const withRoom = (
      response: HttpServerResponse.HttpServerResponse,
      request: HttpServerRequest.HttpServerRequest,
      exchange: Exchange,
      enter: Enter
    ): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
      const { body } = response
      if (request.method !== "GET" || body._tag !== "Uint8Array" || !made.test(request.url)) {
        return Effect.succeed(response)
      }
      const place = enter(exchange.principal?.tenant_id ?? "")
      if (!place.take(body.contentLength)) return recover(Cause.die(untaken), request, exchange)
      leaveWith(toServerResponse(request), place)
      return Effect.succeed(response)
    }

    const preflight = (request: HttpServerRequest.HttpServerRequest, exchange: Exchange) => {
      const path = pathOf(request.url)
      const methods = path === "*" ? Uniform.everyMethod : paths.methodsOf(path)
      // Browsers show a page no answer to a call whose preflight was refused: it is the call that is told of it.
      const isAsking = request.headers["access-control-request-method"] !== undefined
      if (methods.length === 0 && isAsking) {
        return HttpServerResponse.empty({ status: 204, headers: Uniform.preflight(Uniform.everyMethod) })
      }
      return methods.length === 0
        ? refuse(new NotFound({ resource: "path", id: path.slice(0, 200) }), exchange)
        : HttpServerResponse.empty({ status: 204, headers: Uniform.preflight(methods) })
    }

    /** What no route should have to look at. */
    const refusedAtOnce = (
      { method, url }: HttpServerRequest.HttpServerRequest,
      exchange: Exchange
    ): HttpServerResponse.HttpServerResponse | undefined => {
      const path = pathOf(url)
      // The router would take the name for an id, and say that there is no such thing.
      if (!paths.mayTake(method, path)) {
        return refuse(new MethodNotAllowed({ method, allow: paths.methodsOf(path) }), exchange)
      }
      if (!unroutable.test(url)) return undefined
      if (unroutable.test(path)) return refuse(new NotFound({ resource: "path", id: path.slice(0, 200) }), exchange)
      return url.includes("%00")
        ? refuse(new InvalidRequest({ errors: [{ path: "", message: "the query has a NUL" }] }), exchange)
        : undefined
    }

    const dress = (response: HttpServerResponse.HttpServerResponse, exchange: Exchange) => {
      const { source } = exchange
      let dressed = response
      const type = response.headers["content-type"]
      if (type === problemJson) {
        // The member itself, not the word: a caller's own words may be quoted.
        const problem = JSON.parse(textOf(response)) as ProblemBody
        if (problem.request_id === undefined) dressed = problemResponse(problem, exchange)
      }
      const headers: Record<string, string> = { ...always, "x-request-id": exchange.requestId }
      if (exchange.allowance !== undefined) Object.assign(headers, Uniform.rateLimit(exchange.allowance))
      if (source.headers.origin !== undefined) Object.assign(headers, Uniform.crossOrigin)
      const isBare = response.headers["content-security-policy"] === undefined
      if (isBare && type?.startsWith("text/html") === true && response.body._tag === "Uint8Array") {
        const policy = policies.get(response.body) ?? policyOf(textOf(response))
        policies.set(response.body, policy)
        headers["content-security-policy"] = policy
      }
      if (response.headers["cache-control"] !== undefined) delete headers["cache-control"]
      // What is left of a body that nobody read would hold the connection as long as its sender likes. Until that ends somebody takes it:
      // who sends all of it before it reads would not come to its answer.
      if (!source.complete && ReadableBody.hasBody(source.headers)) headers["connection"] = "close"
      dropRest(source)
      return HttpServerResponse.setHeaders(dressed, headers)
    }

    return (app) =>
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const source = sourceOf(request)
        const clock = fiber.getRef(Clock.Clock)
        const started = monotonic(clock)
        const exchange = new Exchange(RequestId.of(source), source)
        const context = fiber.context.pipe(
          Context.add(CurrentExchange, exchange),
          Context.add(HttpIncomingMessage.MaxBodySize, maxBody),
          Context.add(References.CurrentLogAnnotations, { request_id: exchange.requestId })
        )
        const count = (status: number) => {
          const route = Context.getOrUndefined(fiber.context, HttpRouter.RouteContext)?.route.path ?? "none"
          const took = monotonic(clock) - started
          observe(request.method, route, status, took)
          return { route, took }
        }
        const finish = (response: HttpServerResponse.HttpServerResponse) => {
          const dressed = dress(response, exchange)
          const { route, took } = count(dressed.status)
          if (LogLevel.isGreaterThan(fiber.getRef(References.MinimumLogLevel), "Debug")) return Effect.succeed(dressed)
          const line = Effect.annotateLogs(Effect.logDebug(`${request.method} ${route} ${dressed.status}`), {
            route,
            status: dressed.status,
            ms: Math.round(took),
            ...(exchange.principal === undefined ? {} : { tenant_id: exchange.principal.tenant_id })
          })
          return Effect.as(line, dressed)
        }
        fiber.setContext(context)
        if (request.method === "OPTIONS") return finish(preflight(request, exchange))
        const refused = refusedAtOnce(request, exchange)
        if (refused !== undefined) return finish(refused)
        return Effect.matchCauseEffect(app, {
          onSuccess: (response) =>
            Effect.flatMap(withRoom(response, request, exchange, fiber.getRef(BodyRoom)), finish),
          onFailure: (cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.flatMap(recover(cause, request, exchange), finish)
        }).pipe(Effect.onInterrupt(() => Effect.sync(() => void count(Metrics.callerGone))))
      })
  }),
  { global: true }
)

const internal: ProblemBody = {
  type: "about:blank",
  title: "Internal error",
  status: 500,
  detail: "",
  code: "INTERNAL_ERROR"
}
