import { hash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Cause, Effect, Exit } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { connectAgent } from "#api/AgentChannel.ts"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { isRefusal, type Refusal } from "#api/Problems.ts"
import { MethodNotAllowed } from "#api/Refusals.ts"
import { readLastEventId } from "#domain/Channel.ts"
import { withoutField } from "#domain/HttpHeaders.ts"
import { fromTypeId, toTypeId } from "#domain/Ids.ts"
import { InvalidRequest, NotFound, ServiceUnavailable } from "#domain/Refusal.ts"
import { AgentChannel } from "#services/AgentChannel.ts"
import type { Line, Outlet } from "#services/AgentChannel/Line.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"
import * as Admission from "./Admission.ts"
import { late, Patience } from "./Patience.ts"
import * as RawRoutes from "./RawRoutes.ts"
import { hasBody } from "./ReadableBody.ts"
import { SocketOutlet } from "./SocketOutlet.ts"
import * as Uniform from "./Uniform.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "agent_channel",
  Effect.fnUntraced(function* (handlers) {
    const channel = yield* AgentChannel
    return handlers.handleAll({
      // The raw route takes every spelling of the path that agents use.
      connect: ({ params }) => Effect.fail(new NotFound({ resource: "agent", id: toTypeId("agt", params.id) })),
      liveness: Effect.fnUntraced(function* ({ params }) {
        return yield* channel.liveness(yield* CurrentPrincipal, params.id)
      })
    })
  })
)

/** What is left of a request once its connection is open. */
interface Visit {
  line: Line | undefined
  /** Gives up what is under way until then. */
  stop: (() => void) | undefined
}
/** Apart from everything else, so that an open connection holds nothing else. */
const leaving = (visit: Visit, left: (visit: Visit) => void) => () => left(visit)

const path = /^\/v1\/agents\/([^/?]+)\/connect\/?(?:\?(.*))?$/

/** Without HEAD, which other paths take beside GET: of a stream there is nothing to say but the stream. */
const methods = ["GET", "OPTIONS"]

const bodyless = new InvalidRequest({ errors: [{ path: "", message: "this request has no body" }] })

/**
 * Where the client wants to go on: the header, which a reconnecting browser sends, counts more than the address it has from before, unless
 * it is empty and says nothing.
 */
const wantedOf = (request: IncomingMessage, query: string | undefined) =>
  readLastEventId(
    request.headers["last-event-id"]?.toString() || (new URLSearchParams(query).get("last_event_id") ?? undefined)
  )

/** The channel itself: `GET /v1/agents/{id}/connect`. */
const route = Effect.gen(function* () {
  const channel = yield* AgentChannel
  const admit = yield* Admission.make
  const patience = yield* Patience
  const { onDrain, server, stopping } = yield* HttpListener
  const deployment = yield* Deployment
  const common = Uniform.always(deployment)
  const always = withoutField(Uniform.ofOurAnswers(deployment), "cache-control")
  const run = Effect.runCallbackWith(yield* Effect.context<never>())
  yield* onDrain(channel.drain)
  let open = 0
  /** Whoever asks something else finds room. */
  const isFull = () => open >= 0.9 * (server.maxConnections || Number.POSITIVE_INFINITY)

  const entered = Effect.fnUntraced(function* (
    request: IncomingMessage,
    notes: Admission.Notes,
    [, shown = "", query]: ReadonlyArray<string | undefined>,
    outlet: (limits: ReadonlyArray<string>) => Outlet,
    limits: () => ReadonlyArray<string>
  ): Effect.fn.Return<Line, Refusal> {
    const principal = yield* admit(request, connectAgent.annotations, notes)
    const { actor_id, credential, tenant_id } = principal
    if (fromTypeId("agt", shown) !== actor_id || credential === undefined) {
      return yield* new NotFound({ resource: "agent", id: shown.slice(0, 100) })
    }
    if (hasBody(request.headers)) return yield* bodyless
    if (stopping() || isFull()) return yield* new ServiceUnavailable({ retry_after: 1 })
    const token = request.headers.authorization?.trim().split(/ +/)[1] ?? ""
    return yield* channel.open(
      {
        session_id: credential.id,
        agent_id: actor_id,
        tenant_id,
        hash: hash("sha256", token),
        wanted: wantedOf(request, query)
      },
      outlet(limits())
    )
  })

  const left = ({ line, stop }: Visit) => {
    open--
    stop?.()
    if (line !== undefined) channel.gone(line)
  }

  const handle: RawRoutes.RawRoute["handle"] = (request, response, exchange) => {
    const { method = "", socket, url = "" } = request
    if (method === "OPTIONS") {
      const headers = { ...common, ...Uniform.crossOrigin, ...Uniform.preflight(methods) }
      response.writeHead(204, { ...headers, "x-request-id": exchange.requestId }).end()
      return
    }
    if (method !== "GET") return exchange.refuse(new MethodNotAllowed({ method, allow: methods }))
    const notes: Admission.Notes = { principal: undefined, allowance: undefined }
    const limits = () =>
      notes.allowance === undefined ? [] : Object.entries(Uniform.rateLimit(notes.allowance)).flat()
    const outlet = (limits: ReadonlyArray<string>) =>
      new SocketOutlet(
        response,
        socket,
        [
          ...always,
          ...Object.entries(Uniform.crossOrigin).flat(),
          ...exchange.headers,
          ...limits,
          "Content-Type",
          "text/event-stream; charset=utf-8",
          "Cache-Control",
          "no-store, no-transform",
          "X-Accel-Buffering",
          "no",
          "Connection",
          "close"
        ],
        over
      )
    const visit: Visit = { line: undefined, stop: undefined }
    const over = leaving(visit, left)
    let isOver = false
    open++
    response.once("close", over)
    const refuse = (refusal: Refusal) => {
      // Its answer has begun, and is nobody's any more.
      if (response.headersSent) socket.destroy()
      else exchange.refuse(refusal, request.complete ? limits() : [...limits(), "connection", "close"])
    }
    const done = patience.watch(() => {
      isOver = true
      stop()
      if (response.headersSent) socket.destroy()
      else exchange.fail(late, limits())
    })
    const stop = run(entered(request, notes, path.exec(url) ?? [], outlet, limits), {
      onExit: (exit) => {
        done()
        if (isOver) return
        if (Exit.isSuccess(exit)) {
          visit.line = exit.value
          visit.stop = undefined
          if (socket.destroyed) channel.gone(exit.value)
          return
        }
        const refusal = exit.cause.reasons.find(Cause.isFailReason)?.error
        if (Cause.hasInterruptsOnly(exit.cause)) return
        if (isRefusal(refusal)) refuse(refusal)
        else if (response.headersSent) socket.destroy()
        else exchange.fail(exit.cause, limits())
      }
    })
    if (visit.line === undefined) visit.stop = stop
  }
  return {
    prefix: "/v1/agents/",
    takes: ({ url = "" }: IncomingMessage) => path.test(url),
    handle
  }
})

export const layerRaw = RawRoutes.layer(route)
