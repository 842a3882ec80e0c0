import type { IncomingMessage, ServerResponse } from "node:http"
import { type Environment, environmentWord } from "#domain/Principal.ts"
import * as RequestId from "#services/RequestId.ts"

const isLivenessProbe = ({ method, url = "" }: IncomingMessage) =>
  (method === "GET" || method === "HEAD") && /^\/health\/live(?:\?|$)/.test(url)

/** Answers while nothing stands behind the listener yet: whoever asks is told that the process lives, all others to come again. */
export const make =
  (environment: Environment, publicUrl: () => string) => (request: IncomingMessage, response: ServerResponse) => {
    const request_id = RequestId.of(request)
    const isProbe = isLivenessProbe(request)
    const body = isProbe
      ? { status: "live" }
      : {
          type: `${publicUrl()}/docs/errors#SERVICE_UNAVAILABLE`,
          title: "Try again shortly",
          status: 503,
          detail: "The server is starting",
          code: "SERVICE_UNAVAILABLE",
          details: { retry_after: 1 },
          request_id
        }
    response.writeHead(isProbe ? 200 : 503, {
      "content-type": isProbe ? "application/json" : "application/problem+json",
      "x-request-id": request_id,
      "x-environment": environmentWord(environment),
      "cache-control": "no-store",
      "access-control-allow-origin": "*",
      connection: "close",
      ...(isProbe ? {} : { "retry-after": "1", "x-service-error": "SERVICE_UNAVAILABLE" })
    })
    response.end(JSON.stringify(body))
  }
