import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { api, type Client, must } from "./Paying.ts"
import { isReady, pause, startServer } from "./Servers.ts"

/** The connections that Postgres has. */
const places = 40

it.live(
  "somebody else takes every connection of Postgres: 503 with Retry-After, alive, and in order again when there are some",
  () =>
    Effect.gen(function* () {
      const dir = mkdtempSync(join(tmpdir(), "turnpike-chaos-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
      const { database, socketDir, username } = yield* EmbeddedPostgres.make({
        dataDir: join(dir, "postgres"),
        settings: { max_connections: String(places) }
      })
      const url = `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`
      const server = yield* Effect.promise(() => startServer({ DATABASE_URL: url, TURNPIKE_DATA_DIR: join(dir, "a") }))
      const { api_key } = JSON.parse(readFileSync(join(dir, "a", "credentials.json"), "utf8"))
      const client: Client = { key: api_key, bases: () => [server.base] }
      const [payer, receiver] = yield* Effect.promise(() => twoWallets(client))

      const crowd = yield* Scope.make()
      yield* crowded(url).pipe(Scope.provide(crowd))
      const order = { from_wallet_id: payer, to_wallet_id: receiver, amount: "1.00", currency: "USDC" }
      const key = crypto.randomUUID()
      yield* Effect.promise(async () => {
        assert.isFalse(await isReady(server.base))
        assert.strictEqual((await fetch(`${server.base}/health/live`)).status, 200)
        for (const [path, body] of [
          ["/v1/transfers", order],
          ["/v1/wallets", {}]
        ] as const) {
          const response = await fetch(`${server.base}${path}`, {
            method: "POST",
            headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json", "idempotency-key": key },
            body: JSON.stringify(body)
          })
          const { code } = (await response.json()) as { readonly code: string }
          assert.deepStrictEqual([path, response.status, code], [path, 503, "SERVICE_UNAVAILABLE"])
          assert.isNotNull(response.headers.get("retry-after"))
        }
      })

      yield* Scope.close(crowd, Exit.void)
      yield* Effect.promise(async () => {
        const first = await api(client, "POST", "/v1/transfers", order, key)
        const again = await api(client, "POST", "/v1/transfers", order, key)
        assert.deepStrictEqual([first.status, first.body.status], [201, "completed"])
        assert.deepStrictEqual([again.status, again.body], [201, first.body])
        assert.strictEqual((await must(client, "GET", `/v1/wallets/${payer}`)).balance_available, "9.00")
        for (let ready = false; !ready; await pause(25)) ready = await isReady(server.base)
        assert.strictEqual(await server.kill("SIGTERM"), 0)
      })
    }),
  { timeout: 120_000 }
)

const twoWallets = async (client: Client): Promise<readonly [string, string]> => {
  const [{ id: payer }, { id: receiver }] = [
    await must(client, "POST", "/v1/wallets", {}),
    await must(client, "POST", "/v1/wallets", {})
  ]
  await must(client, "POST", `/v1/wallets/${payer}/fund`, { amount: "10.00", currency: "USDC" })
  return [payer, receiver]
}

/** Takes connections until there are none left, and those of Turnpike too, until it has none. */
const crowded = Effect.fnUntraced(function* (url: string) {
  const scope = yield* Effect.scope
  const config = { ...Postgres.fromUrl(Redacted.make(url)), applicationName: "crowd" }
  const join = PgClient.makeClient(config).pipe(
    Scope.provide(scope),
    Effect.provideServiceEffect(Reactivity.Reactivity, Reactivity.make)
  )
  const first = yield* join
  const pushOut = first`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'turnpike%'`
  const ours = first`SELECT pid FROM pg_stat_activity WHERE application_name = 'crowd'`
  const fill = Effect.repeat(Effect.exit(join), { until: Exit.isFailure })
  // A session that ends gives its place up a little after it is seen no more: somebody may slip in.
  while ((yield* ours).length < places) {
    yield* pushOut
    yield* fill
    yield* Effect.promise(() => pause(20))
  }
})
