import { DateTime, Effect } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { CurrentPrincipal } from "#api/Authorization.ts"
import { pageOf } from "#api/Pagination.ts"
import { refreshCookie } from "#domain/Cookies.ts"
import { InvalidJwt, InvalidSessionToken, readAuthorization } from "#domain/Credential.ts"
import { SessionId } from "#domain/Ids.ts"
import { publicPrefix } from "#domain/PublicPrefix.ts"
import { Forbidden } from "#domain/Refusal.ts"
import { Deployment } from "#services/Deployment.ts"
import { type Opened, UserSessions } from "#services/UserSessions.ts"
import { RateLimiter, spend } from "./RateLimiter.ts"

/** How many passwords a minute are tried for one user. More than one address may try: nobody alone locks anybody out. */
const guesses = 60

const cookieOf = ({ cookies }: HttpServerRequest.HttpServerRequest): string | undefined => cookies[refreshCookie]

/** What the caller's program calls itself, as far as it is worth showing again. */
const userAgentOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | null =>
  headers["user-agent"]?.replace(/[^ -~]/g, "?").slice(0, 200) ?? null

/**
 * Whether a browser says that a page of another origin is asking. A cookie is sent to all ports of a host alike, so that it is
 * SameSite does not tell a page on another port from ours.
 */
const isForeign = ({ headers }: HttpServerRequest.HttpServerRequest, publicUrl: string): boolean => {
  const { host, origin } = headers
  if (origin === undefined || origin === new URL(publicUrl).origin) return false
  if (!URL.canParse(origin)) return true
  // Behind https nothing that came over http is ours: anybody on the way may have written it.
  if (publicUrl.startsWith("https:") && !origin.startsWith("https:")) return true
  return new URL(origin).host !== host
}

export const layer = HttpApiBuilder.group(
  Api,
  "sessions",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* UserSessions
    const limiter = yield* RateLimiter
    const { publicUrl } = yield* Deployment
    const attributes = {
      httpOnly: true,
      sameSite: "strict",
      path: `${publicPrefix(publicUrl)}/v1/sessions`,
      secure: publicUrl.startsWith("https:")
    } as const

    const shown = Effect.fnUntraced(function* ({ access, expires_at, refresh_token }: Opened) {
      const left = expires_at.getTime() - (yield* DateTime.nowAsDate).getTime()
      const maxAge = Math.ceil(left / 1000) * 1000
      yield* HttpEffect.appendPreResponseHandler((_, response) =>
        Effect.succeed(
          HttpServerResponse.setCookieUnsafe(response, refreshCookie, refresh_token, { ...attributes, maxAge })
        )
      )
      return access
    })
    const cleared = HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.expireCookieUnsafe(response, refreshCookie, attributes))
    )
    const ours = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
      if (isForeign(request, publicUrl)) return yield* new Forbidden({ reason: "a page of another origin is asking" })
    })

    /** Ends the session of the access token that is shown. */
    const leaveByToken = Effect.fnUntraced(
      function* ({ headers }: HttpServerRequest.HttpServerRequest) {
        const token = yield* Effect.fromResult(readAuthorization(headers["authorization"]))
        const principal = yield* sessions.authenticate(token)
        yield* sessions.end(principal, SessionId.make(principal.credential?.id ?? ""))
      },
      Effect.catchTag("NOT_FOUND", () => Effect.fail(new InvalidJwt()))
    )

    /** Guesses from many addresses at one user's password, whether there is such a user or not. */
    const guess = (email: string) => spend(limiter, `login ${email.toLowerCase()}`, guesses)

    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ payload }) {
        yield* guess(payload.email)
        const request = yield* HttpServerRequest.HttpServerRequest
        return yield* shown(yield* sessions.open(payload, userAgentOf(request)))
      }),
      refresh: Effect.fnUntraced(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        yield* ours(request)
        const token = cookieOf(request)
        if (token === undefined) return yield* new InvalidSessionToken()
        return yield* shown(yield* sessions.refresh(token))
      }),
      end: Effect.fnUntraced(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const token = cookieOf(request)
        if (token === undefined) return yield* leaveByToken(request)
        yield* ours(request)
        yield* sessions.leave(token)
        // Whoever has the cookie is logged out in any case; the token may be of the same session, which is over now.
        yield* Effect.ignore(leaveByToken(request))
        yield* cleared
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const { data, total } = yield* sessions.list(yield* CurrentPrincipal, query)
        return pageOf(query, data, total)
      }),
      revoke: Effect.fnUntraced(function* ({ params }) {
        return yield* sessions.end(yield* CurrentPrincipal, params.id)
      })
    })
  })
)
