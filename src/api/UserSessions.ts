import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { refreshCookie } from "#domain/Cookies.ts"
import {
  ExpiredJwt,
  InvalidJwt,
  InvalidSessionToken,
  MalformedAuthHeader,
  MissingAuthHeader,
  SessionExpired
} from "#domain/Credential.ts"
import { SessionId } from "#domain/Ids.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import { Access, InvalidCredentials, Login, UserSession } from "#domain/UserSession.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { RateLimitExceeded } from "./Refusals.ts"
import { Claimants, Visitors } from "./Visitors.ts"

const access = {
  access_token: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMDFoNDU1dmI0cGV4NXZza25rMDg0c24wMnMifQ.c2lnbmF0dXJl",
  token_type: "Bearer",
  expires_in: 900,
  user: {
    id: "usr_01h455vb4pex5vsknk084sn02s",
    email: "ada@acme.example",
    role: "owner",
    created_at: "2026-01-02T03:04:05.678Z"
  }
} as const

const byCookie = { [refreshCookie]: [] }

const create = HttpApiEndpoint.post("create", "/sessions", {
  payload: Login,
  success: Access.pipe(HttpApiSchema.status(201)),
  error: problems(InvalidCredentials, RateLimitExceeded)
})
  .middleware(Claimants)
  .annotateMerge(
    documented({
      summary: "Log in",
      description:
        "Answers with an access token, which is a Bearer credential for 15 minutes, and sets the cookie `refresh_token` (HttpOnly, " +
        "SameSite=Strict, only sent to `/v1/sessions`) for the 30 days that the session lasts. An unknown address and a wrong " +
        "password are the same 401 `INVALID_CREDENTIALS`. A caller's address may try ten times a minute, and all together 60 times for " +
        "one user.",
      body: { email: access.user.email, password: "correct horse battery staple" },
      answer: access
    })
  )

const refresh = HttpApiEndpoint.post("refresh", "/sessions/refresh", {
  success: Access,
  error: problems(InvalidSessionToken, SessionExpired, Forbidden)
})
  .middleware(Visitors)
  .annotateMerge(
    documented({
      summary: "Go on with a session",
      description:
        "Takes the cookie `refresh_token` and answers with another access token and the next cookie. Each refresh token is used once: " +
        "one that was followed by another more than ten seconds ago was copied, and ends the session for everybody who has it. A " +
        "request from a page of another origin is refused with 403 `FORBIDDEN`.",
      answer: access
    })
  )
  .annotate(OpenApi.Override, { security: [byCookie] })

const end = HttpApiEndpoint.delete("end", "/sessions", {
  success: HttpApiSchema.NoContent,
  error: problems(MissingAuthHeader, MalformedAuthHeader, InvalidJwt, ExpiredJwt, Forbidden)
})
  .middleware(Visitors)
  .annotateMerge(
    documented({
      summary: "Log out",
      description:
        "Ends the session of the cookie `refresh_token`, and that of the access token where one is shown; one of the two is enough. " +
        "The access tokens of the session stop working everywhere at once. A cookie whose session is over already is cleared all the " +
        "same. A request with the cookie from a page of another origin is refused with 403 `FORBIDDEN`."
    })
  )
  .annotate(OpenApi.Override, { security: [{ bearer: [] }, byCookie] })

const list = HttpApiEndpoint.get("list", "/sessions", { query: pageQuery, success: page(UserSession) })
  .middleware(Authorization)
  .annotate(Requires, { kinds: ["jwt"] })
  .annotateMerge(
    documented({
      summary: "List your sessions",
      description:
        "The calling user's own sessions, newest first; at most 100 are kept, and another login ends the oldest. Takes an access " +
        "token.",
      answer: {
        data: [
          {
            id: "ses_01h455vb4pex5vsknk084sn02t",
            user_agent: "curl/8.5.0",
            created_at: "2026-01-02T03:04:05.678Z",
            refreshed_at: "2026-01-02T03:19:05.678Z",
            expires_at: "2026-02-01T03:04:05.678Z",
            current: true
          }
        ],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      }
    })
  )

const revoke = HttpApiEndpoint.delete("revoke", "/sessions/:id", {
  params: { id: SessionId },
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .middleware(Authorization)
  .annotate(Requires, { kinds: ["jwt"] })
  .annotateMerge(
    documented({
      summary: "End one of your sessions",
      description:
        "Its refresh token and its access tokens stop working everywhere at once. Takes an access token; another user's session is " +
        "not found."
    })
  )

export class UserSessionsApi extends HttpApiGroup.make("sessions")
  .add(create, refresh, end, list, revoke)
  .prefix("/v1")
  .annotateMerge(OpenApi.annotations({ title: "Sessions", description: "Logins of users." })) {}
