import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Deployment } from "#services/Deployment.ts"
import { type Answer, send, server, tenant } from "./GatewayHarness.ts"
import { login, password, person } from "./People.ts"

const post = (path: string, headers: Record<string, string> = {}, body?: object) =>
  send(path, { method: "POST", headers, ...(body === undefined ? {} : { body }) })
const leave = (headers: Record<string, string> = {}) => send("/v1/sessions", { method: "DELETE", headers })
const context = (headers: Record<string, string>) => send("/v1/context", { headers })
const cookieOf = ({ headers }: Answer) => headers["set-cookie"]?.[0] ?? ""
const jar = (answer: Answer) => ({ cookie: cookieOf(answer).split(";", 1)[0] ?? "" })
const told = ({ json, status }: Answer) => [status, json?.code]

const user = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  return { ...(yield* person(principal, "owner")), key }
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("sessions over HTTP", (it) => {
  it.effect("a login gives an access token for 15 minutes, and a cookie that no script and no other site gets", () =>
    Effect.gen(function* () {
      const { email } = yield* user
      const answer = yield* post("/v1/sessions", {}, { email: email.toUpperCase(), password })
      assert.strictEqual(answer.status, 201)
      const { access_token, user: shown, ...rest } = answer.json
      assert.deepStrictEqual(rest, { token_type: "Bearer", expires_in: 900 })
      assert.deepStrictEqual(Object.keys(shown), ["id", "email", "role", "created_at"])
      assert.strictEqual(shown.email, email)
      const [value = "", ...attributes] = cookieOf(answer).split("; ")
      assert.match(value, /^refresh_token=refresh_[\w-]{70}$/)
      assert.sameMembers(attributes, ["Max-Age=2592000", "Path=/v1/sessions", "HttpOnly", "SameSite=Strict"])
      assert.notInclude(answer.body, value.slice(14))
      const seen = yield* context({ authorization: `Bearer ${access_token}` })
      assert.deepInclude(seen.json, { actor_type: "user", actor_id: shown.id, scopes: ["*:*"], api_key_id: null })
    })
  )

  it.effect("an unknown address and a wrong password are the same answer, and no cookie", () =>
    Effect.gen(function* () {
      const { email } = yield* user
      const wrong = yield* post("/v1/sessions", {}, { email, password: "wrong" })
      const unknown = yield* post("/v1/sessions", {}, { email: "nobody", password })
      assert.deepStrictEqual(told(wrong), [401, "INVALID_CREDENTIALS"])
      const same = ({ headers, json, status }: Answer) => [status, { ...json, request_id: "" }, Object.keys(headers)]
      assert.deepStrictEqual(same(wrong), same(unknown))
      assert.isUndefined(wrong.headers["set-cookie"])
    })
  )

  it.effect("the cookie is followed by the next, the access token lives until the session is left", () =>
    Effect.gen(function* () {
      const { email } = yield* user
      const first = yield* post("/v1/sessions", {}, { email, password })
      const second = yield* post("/v1/sessions/refresh", jar(first))
      assert.strictEqual(second.status, 200)
      assert.notStrictEqual(jar(second).cookie, jar(first).cookie)
      const authorization = `Bearer ${second.json.access_token}`
      assert.strictEqual((yield* context({ authorization })).status, 200)
      const left = yield* leave(jar(second))
      assert.strictEqual(left.status, 204)
      assert.match(cookieOf(left), /^refresh_token=; Max-Age=0; Path=\/v1\/sessions; .*HttpOnly; SameSite=Strict$/)
      assert.deepStrictEqual(told(yield* context({ authorization })), [401, "INVALID_JWT"])
      assert.deepStrictEqual(told(yield* post("/v1/sessions/refresh", jar(second))), [401, "INVALID_SESSION_TOKEN"])
      assert.strictEqual((yield* leave(jar(second))).status, 204, "what is over may be left again")
    })
  )

  it.effect("without cookie an access token logs its own session out; nothing and nonsense log nobody out", () =>
    Effect.gen(function* () {
      const { email, key } = yield* user
      const [one, other] = [yield* login(email), yield* login(email)]
      assert.deepStrictEqual(told(yield* leave()), [401, "MISSING_AUTH_HEADER"])
      assert.deepStrictEqual(told(yield* leave({ authorization: `Bearer ${key}` })), [401, "INVALID_JWT"])
      assert.deepStrictEqual(told(yield* leave({ authorization: "Bearer eyJ.a.b" })), [401, "INVALID_JWT"])
      assert.strictEqual((yield* leave(one.bearer)).status, 204)
      assert.deepStrictEqual(told(yield* leave(one.bearer)), [401, "INVALID_JWT"])
      assert.strictEqual((yield* context(other.bearer)).status, 200)
      assert.deepStrictEqual(told(yield* post("/v1/sessions/refresh")), [401, "INVALID_SESSION_TOKEN"])
      const nonsense = { cookie: "refresh_token=%ff; refresh_token=x" }
      assert.deepStrictEqual(told(yield* post("/v1/sessions/refresh", nonsense)), [401, "INVALID_SESSION_TOKEN"])
    })
  )

  it.effect("whoever leaves with a cookie and the access token of another session leaves both", () =>
    Effect.gen(function* () {
      const { email } = yield* user
      const [one, other] = [yield* login(email), yield* login(email)]
      assert.strictEqual((yield* leave({ ...one.cookie, ...other.bearer })).status, 204)
      for (const { bearer } of [one, other]) {
        assert.deepStrictEqual(told(yield* context(bearer)), [401, "INVALID_JWT"])
      }
    })
  )

  it.effect("a cookie works for pages of our own origin and for programs, and for no other page", () =>
    Effect.gen(function* () {
      const { email } = yield* user
      const { publicUrl } = yield* Deployment
      const { host, port } = new URL(publicUrl)
      const session = yield* login(email)
      const foreign = [
        "https://evil.example",
        "null",
        `http://127.0.0.1:${Number(port) + 1}`,
        `https://x.${host}`,
        "",
        "x"
      ]
      for (const origin of foreign) {
        const refused = yield* post("/v1/sessions/refresh", { ...session.cookie, origin })
        assert.deepStrictEqual(told(refused), [403, "FORBIDDEN"], origin)
        assert.isUndefined(refused.headers["set-cookie"])
        assert.deepStrictEqual(told(yield* leave({ ...session.cookie, origin })), [403, "FORBIDDEN"], origin)
      }
      const ours = yield* post("/v1/sessions/refresh", { ...session.cookie, origin: publicUrl })
      assert.strictEqual(ours.status, 200)
      // Under another name of the same server the page and the server are still one origin.
      const named = { ...jar(ours), host: `localhost:${port}`, origin: `http://localhost:${port}` }
      assert.strictEqual((yield* leave(named)).status, 204)
    })
  )

  it.effect("no answer lets a page of another origin use cookies", () =>
    Effect.gen(function* () {
      const { email } = yield* user
      const origin = "https://evil.example"
      const preflight = { origin, "access-control-request-method": "POST" }
      const answers = [
        yield* send("/v1/sessions", { method: "OPTIONS", headers: preflight }),
        yield* send("/v1/sessions/refresh", { method: "OPTIONS", headers: preflight }),
        yield* post("/v1/sessions", { origin }, { email, password }),
        yield* post("/v1/sessions/refresh", { origin })
      ]
      for (const { headers } of answers) {
        assert.strictEqual(headers["access-control-allow-origin"], "*")
        assert.isUndefined(headers["access-control-allow-credentials"])
      }
    })
  )

  it.effect("users see and end their own sessions, by access token only", () =>
    Effect.gen(function* () {
      const { email, key } = yield* user
      const stranger = yield* login((yield* user).email)
      const one = yield* login(email)
      const other = yield* post("/v1/sessions", { "user-agent": "Browser \u00e9/1" }, { email, password })
      const list = yield* send("/v1/sessions", { headers: one.bearer })
      assert.strictEqual(list.json.pagination.total, 2)
      const [latest, mine] = list.json.data
      assert.deepStrictEqual([latest.current, mine.current, mine.id], [false, true, one.id])
      assert.match(latest.user_agent, /^Browser \?+\/1$/)
      assert.isAbove(Date.parse(latest.expires_at), Date.parse(latest.created_at) + 29 * 86_400_000)
      const authorization = `Bearer ${key}`
      assert.deepStrictEqual(told(yield* send("/v1/sessions", { headers: { authorization } })), [403, "FORBIDDEN"])
      const end = (headers: Record<string, string>) => send(`/v1/sessions/${latest.id}`, { method: "DELETE", headers })
      assert.deepStrictEqual(told(yield* end({ authorization })), [403, "FORBIDDEN"])
      assert.deepStrictEqual(told(yield* end(stranger.bearer)), [404, "NOT_FOUND"])
      assert.strictEqual((yield* end(one.bearer)).status, 204)
      assert.deepStrictEqual(told(yield* end(one.bearer)), [404, "NOT_FOUND"])
      const ended = { authorization: `Bearer ${other.json.access_token}` }
      assert.deepStrictEqual(told(yield* context(ended)), [401, "INVALID_JWT"])
      assert.strictEqual((yield* context(one.bearer)).status, 200)
    })
  )

  it.effect("what reads as an access token and is none is refused as one, on plain and on raw routes", () =>
    Effect.gen(function* () {
      for (const token of ["eyJ..", "eyJhbGciOiJub25lIn0.e30.", `eyJ${"x".repeat(4_000)}.${"y".repeat(4_000)}.z`]) {
        const authorization = `Bearer ${token}`
        assert.deepStrictEqual(told(yield* context({ authorization })), [401, "INVALID_JWT"], token.slice(0, 30))
        const raw = yield* post("/v1/transfers", { authorization }, { amount: "1" })
        assert.deepStrictEqual(told(raw), [401, "INVALID_JWT"], token.slice(0, 30))
      }
      for (const token of ["eyJ", "eyJ.", "eyJ.a", "eyJ.a.b.c"]) {
        assert.deepStrictEqual(told(yield* context({ authorization: `Bearer ${token}` })), [401, "INVALID_API_KEY"])
      }
    })
  )

  it.effect("a login is text in a JSON body of bounded size", () =>
    Effect.gen(function* () {
      const bodies = [
        {},
        { email: "a@b" },
        { email: 1, password },
        { email: "a@b", password: null },
        { email: "a@b", password: "x".repeat(201) }
      ]
      for (const body of bodies)
        assert.deepStrictEqual(told(yield* post("/v1/sessions", {}, body)), [400, "INVALID_REQUEST"])
    })
  )
})
