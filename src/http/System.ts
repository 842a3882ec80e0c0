import { Context, Effect, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Api } from "#api/Api.ts"
import type { RateLimitExceeded } from "#api/Refusals.ts"
import { Readiness } from "#api/System.ts"
import { InvalidApiKey, readAuthorization } from "#domain/Credential.ts"
import { asksForOthers } from "#domain/HttpHeaders.ts"
import { Health } from "#services/Health.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"
import { Ledger } from "#services/Ledger.ts"
import { sourceOf } from "./Exchange.ts"
import { Paths } from "./Paths.ts"
import * as Suspects from "./Suspects.ts"

/** The probes of whoever runs Turnpike. */
export const layer = HttpApiBuilder.group(
  Api,
  "system",
  Effect.fn(function* (handlers) {
    const health = yield* Health
    const ledger = yield* Ledger
    const { stopping } = yield* HttpListener
    return handlers.handleAll({
      live: () => Effect.succeed({ status: "live" as const }),
      ready: Effect.fnUntraced(function* () {
        const [found, state] = yield* Effect.all([health.database, health.bus], { concurrency: 2 })
        const serving = stopping() ? "stopping" : "yes"
        const posting = ledger.isServing() ? "up" : "down"
        // A process that cannot move money, and one whose database is a standby now, would refuse all that matters.
        const founded = found.migrations === "done" && found.writable === "up" && posting === "up"
        const ready = founded && serving === "yes"
        const readiness = new Readiness({
          status: ready ? "ready" : "unavailable",
          checks: { ...found, ledger: posting, bus: state, serving }
        })
        return yield* ready ? Effect.succeed(readiness) : Effect.fail(readiness)
      })
    })
  })
)

/** How many wrong tokens a minute an address may show, even where nothing else is limited. */
const wrongTokens = 10

const digest = (text: string) => createHash("sha256").update(text).digest()
const loopback = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"])

/** Prometheus metrics, for this machine and for holders of the metrics token. */
export const metrics = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const { metricsToken } = yield* HttpPolicy
    const paths = yield* Paths
    const guessers = yield* Suspects.make("wrong metrics tokens of", wrongTokens)
    const refusal = (source: IncomingMessage): InvalidApiKey | RateLimitExceeded | undefined => {
      const read = readAuthorization(source.headers.authorization)
      if (metricsToken === undefined || read._tag === "Failure") {
        // Behind a proxy on this machine everybody comes from loopback.
        const isHere = loopback.has(source.socket.remoteAddress ?? "") && !asksForOthers(source.headers)
        return isHere ? undefined : new InvalidApiKey()
      }
      const waits = guessers.refusal(source)
      if (waits !== undefined) return waits
      if (timingSafeEqual(digest(read.success), digest(Redacted.value(metricsToken)))) return undefined
      guessers.count(source)
      return new InvalidApiKey()
    }
    paths.add("GET", "/metrics")
    yield* router.add(
      "GET",
      "/metrics",
      Effect.withFiber((fiber) => {
        const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
        const refused = refusal(sourceOf(request))
        return refused === undefined
          ? Effect.map(PrometheusMetrics.format(), (text) =>
              HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4; charset=utf-8" })
            )
          : Effect.die(refused)
      })
    )
  })
)
