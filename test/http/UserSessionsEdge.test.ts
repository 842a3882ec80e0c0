import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Users } from "#services/Users.ts"
import { cheapPasswords } from "../services/UsersHarness.ts"
import * as Harness from "./PlatformHarness.ts"
import { ask, entrance } from "./PlatformHarness.ts"

const port = Effect.map(entrance, (found) => `http://127.0.0.1:${found.port}`)
const json = { "content-type": "application/json" }

const secure = Harness.layer({ TURNPIKE_PUBLIC_URL: "https://pay.example" }).pipe(Layer.provide(cheapPasswords))
layer(secure, { excludeTestServices: true, timeout: "60 seconds" })("behind https", (it) => {
  it.effect("the cookie is secure, and the public address is the page's own origin", () =>
    Effect.gen(function* () {
      const { issued, owner_email } = yield* (yield* Bootstrap).ensure
      const base = yield* port
      const body = JSON.stringify({ email: owner_email, password: issued?.owner_password })
      const login = yield* ask(`${base}/v1/sessions`, { method: "POST", headers: json, body })
      assert.strictEqual(login.status, 201)
      const cookie = login.headers.get("set-cookie") ?? ""
      assert.include(cookie.split("; "), "Secure")
      const refresh = (origin: string) =>
        ask(`${base}/v1/sessions/refresh`, { method: "POST", headers: { cookie: cookie.split(";")[0] ?? "", origin } })
      assert.strictEqual((yield* refresh("http://pay.example")).status, 403)
      // By the name that is asked for, but in the clear.
      assert.strictEqual((yield* refresh(base)).status, 403)
      assert.strictEqual((yield* refresh("https://pay.example")).status, 200)
    })
  )
})

layer(secure, { excludeTestServices: true, timeout: "60 seconds" })("an answer behind https", (it) => {
  it.effect("says that this host is asked over https only, whoever wrote the rest of it", () =>
    Effect.gen(function* () {
      const { key, port } = yield* entrance
      const base = `http://127.0.0.1:${port}`
      const headers = { ...json, authorization: `Bearer ${key}` }
      const post = (path: string, body: unknown) =>
        ask(base + path, { method: "POST", headers, body: JSON.stringify(body) })
      const { account_id: owner_id } = (yield* ask(`${base}/v1/context`, { headers })).body
      const network = "solana-devnet"
      yield* post("/v1/wallets", { owner_type: "account", owner_id, currency: "USDC", network })
      const sold = { name: "Sold", path: "/a", method: "GET", originUrl: "https://api.example.com", network }
      const endpoint = yield* post("/v1/x402/endpoints", sold)
      const gateway = new URL(String(endpoint.body["gatewayUrl"])).pathname
      const answers = {
        framework: yield* ask(`${base}/v1/context`, { headers }),
        plain: yield* post("/v1/transfers", {}),
        gateway: yield* ask(base + gateway),
        page: yield* ask(base + gateway, { headers: { accept: "text/html" } }),
        nowhere: yield* ask(`${base}/x402/nowhere`)
      }
      const statuses = Object.values(answers).map(({ status }) => status)
      assert.deepStrictEqual(statuses, [200, 400, 402, 402, 404], JSON.stringify(endpoint.body))
      for (const [name, { headers }] of Object.entries(answers)) {
        assert.strictEqual(headers.get("strict-transport-security"), "max-age=31536000", name)
        assert.strictEqual(headers.get("x-environment"), "test", name)
      }
    })
  )
})

const scraped = Harness.layer({
  TURNPIKE_RATE_LIMIT: "off",
  TURNPIKE_TRUSTED_PROXIES: "127.0.0.1",
  TURNPIKE_METRICS_TOKEN: "of-the-scraper"
})
layer(scraped, { excludeTestServices: true, timeout: "60 seconds" })("the metrics", (it) => {
  it.effect("open for their token from anywhere, and an address tries ten wrong ones a minute", () =>
    Effect.gen(function* () {
      const base = yield* port
      const metrics = (address: string, token: string) =>
        ask(`${base}/metrics`, { headers: { "x-forwarded-for": address, authorization: `Bearer ${token}` } })
      assert.strictEqual((yield* metrics("203.0.113.1", "of-the-scraper")).status, 200)
      const wrong = yield* Effect.replicateEffect(metrics("203.0.113.2", "of-somebody-else"), 12)
      assert.deepStrictEqual(
        wrong.map(({ status }) => status),
        [...Array<number>(11).fill(401), 429]
      )
      assert.isAbove(Number(wrong.at(-1)?.headers.get("retry-after")), 0)
      // Who waits does not learn which one is right, and nobody else waits.
      assert.strictEqual((yield* metrics("203.0.113.2", "of-the-scraper")).status, 429)
      const scrapes = yield* Effect.replicateEffect(metrics("203.0.113.1", "of-the-scraper"), 12)
      assert.isTrue(scrapes.every(({ status }) => status === 200))
    })
  )
})

/** Also where nothing else is limited: guessing always is. */
const limited = Harness.layer({ TURNPIKE_RATE_LIMIT: "off", TURNPIKE_TRUSTED_PROXIES: "127.0.0.1" }).pipe(
  Layer.provide(cheapPasswords)
)
layer(limited, { excludeTestServices: true, timeout: "60 seconds" })("with the rate limit off", (it) => {
  it.effect("an address tries ten logins a minute, and is otherwise not held up", () =>
    Effect.gen(function* () {
      const base = yield* port
      const body = JSON.stringify({ email: "nobody", password: "wrong" })
      const login = ask(`${base}/v1/sessions`, { method: "POST", headers: json, body })
      const answers = yield* Effect.replicateEffect(login, 12)
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [...Array<number>(10).fill(401), 429, 429]
      )
      assert.isAbove(Number(answers.at(-1)?.headers.get("retry-after")), 0)
      assert.strictEqual((yield* ask(`${base}/v1/sessions/refresh`, { method: "POST" })).status, 401)
    })
  )

  it.effect("many addresses together try sixty logins a minute for one user, and for another one still", () =>
    Effect.gen(function* () {
      const base = yield* port
      let address = 0
      const login = (email: string) => {
        const headers = { ...json, "x-forwarded-for": `10.0.0.${address++}` }
        const body = JSON.stringify({ email, password: "wrong" })
        return Effect.map(ask(`${base}/v1/sessions`, { method: "POST", headers, body }), ({ status }) => status)
      }
      const answers = yield* Effect.forEach(
        Array.from({ length: 120 }),
        (_, index) => login(index % 2 === 0 ? "ada@acme.example" : "ADA@acme.example"),
        { concurrency: 20 }
      )
      // One more comes with every second that this takes.
      const tried = answers.filter((status) => status === 401).length
      assert.isTrue(tried >= 60 && tried < 120, `${tried}`)
      assert.deepStrictEqual([...new Set(answers)].sort(), [401, 429])
      assert.strictEqual(yield* login("bob@acme.example"), 401)
    })
  )

  it.effect("whoever is logged in sets and tries twenty passwords a minute, and does everything else", () =>
    Effect.gen(function* () {
      const base = yield* port
      const { tenant_id } = yield* (yield* Bootstrap).ensure
      const owner = { email: "carol@acme.example", password: "correct horse battery staple" }
      const { create } = yield* Users
      yield* Effect.provide(create("operator", tenant_id, { ...owner, role: "owner" }), cheapPasswords)
      const post = (path: string, body: object, headers: object = {}) =>
        ask(`${base}/v1${path}`, { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) })
      const opened = yield* post("/sessions", owner, { "x-forwarded-for": "10.1.0.1" })
      const bearer = { authorization: `Bearer ${opened.body.access_token}` }
      const user = { ...owner, email: "eve@acme.example", role: "viewer" }
      const many = <A, E, R>(one: Effect.Effect<A, E, R>) =>
        Effect.all(
          Array.from({ length: 30 }, () => one),
          { concurrency: 30 }
        )
      const guess = post("/users/me/password", { current_password: "wrong", password: user.password }, bearer)
      const tried = (yield* many(guess)).filter(({ status }) => status === 403).length
      // One more comes with every three seconds that this takes.
      assert.isTrue(tried >= 20 && tried < 30, `${tried}`)
      const made = (yield* many(post("/users", user, bearer))).map(({ status }) => status)
      assert.include(made, 429)
      assert.strictEqual((yield* ask(`${base}/v1/users`, { headers: bearer })).status, 200)
    })
  )
})
