import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import * as Telemetry from "#layers/Telemetry.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { operations } from "./Description.ts"
import { buyer, pay, send, server } from "./GatewayHarness.ts"
import { world } from "./World.ts"

const written: Array<string> = []
const listening = Layer.merge(
  Logger.layer([Telemetry.json, Telemetry.readable].map((one) => Logger.map(one, (line) => written.push(line)))),
  Layer.succeed(References.MinimumLogLevel, "Trace")
)

/** What opens a door, whatever its value: keys, proofs, signing secrets. */
const credential =
  /\b(?:(?:psk?|agent|portal)_(?:test|live)_[0-9A-Za-z]{32}|sess_[0-9A-Za-z]{32}|refresh_[\w-]{70}|eyJ[\w-]+\.eyJ|pp_[\w-]{20,}|whsec_[\w+/=-]{16,})/

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const names = yield* sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`
  return yield* Effect.forEach(names, ({ name }) =>
    Effect.map(
      sql`SELECT t::text AS row FROM ${sql(String(name))} t`,
      (rows) => [String(name), rows.map(({ row }) => String(row))] as const
    )
  )
})

/** Texts found both in plain and as bytes look in a dump. */
const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64")
]

layer(server.pipe(Layer.provide(listening)), { timeout: "60 seconds", excludeTestServices: true })("secrets", (it) => {
  it.effect("are in no log line and in no table after a story through everything, faults included", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bootstrap = yield* Bootstrap
      const { issued } = yield* bootstrap.ensure
      const teller = yield* world
      const agent = yield* buyer(1_000_000n)
      const secrets = [
        teller.key,
        teller.spare,
        agent.key,
        issued?.owner_password,
        issued?.scanner_key,
        issued?.api_key,
        ...teller.secrets
      ]

      // Everything once, deletions last, so that each finds what it is about.
      for (const deletes of [false, true]) {
        for (const operation of operations.filter(({ method }) => (method === "DELETE") === deletes)) {
          const { json } = yield* teller.call(operation, { headers: { "idempotency-key": operation.id } })
          secrets.push(json?.key, json?.secret, json?.proof, json?.token, json?.access_token)
          secrets.push(json?.credentials?.token, json?.authKey?.privateKey, json?.privateKey, json?.sessionToken)
        }
      }
      const shop = yield* world
      const { proof, url } = yield* shop.told
      yield* send(shop.path, { headers: { "x-payment-proof": proof } })
      yield* send(shop.path, { headers: { "x-payment-proof": proof } })
      yield* send(`${shop.path}?token=${proof}`, { headers: { "x-payment-proof": `${proof}x` } })
      yield* send("/v1/context", { headers: { authorization: `Bearer ${teller.key}x` } })

      // Postgres puts whole rows into what it says about a broken rule.
      yield* sql`ALTER TABLE idempotency_keys ADD CONSTRAINT broken CHECK (false) NOT VALID`
      yield* sql`ALTER TABLE credentials ADD CONSTRAINT broken CHECK (false) NOT VALID`
      const headers = { authorization: `Bearer ${agent.key}`, "idempotency-key": "fault" }
      const body = { url, from_wallet_id: agent.purse }
      const faults = [
        yield* send("/v1/x402/pay", { method: "POST", headers, body }),
        yield* send("/v1/api-keys", { method: "POST", headers, body: { name: "a", scopes: ["*:*"] } }),
        yield* pay(agent.key, { ...body, payment_request_id: "both" })
      ]
      assert.isAtLeast(Math.max(...faults.map(({ status }) => status)), 500)
      yield* sql`ALTER TABLE idempotency_keys DROP CONSTRAINT broken`
      yield* sql`ALTER TABLE credentials DROP CONSTRAINT broken`

      assert.isAbove(written.length, 20)
      const known = [...secrets, proof].filter((secret) => secret !== undefined).map(String)
      assert.isAbove(known.length, 8)
      for (const line of written) {
        assert.notMatch(line, credential)
        for (const secret of known.flatMap(spellings)) assert.notInclude(line, secret)
      }
      const found = yield* tables
      assert.isAbove(found.filter(([, rows]) => rows.length > 0).length, 20)
      for (const [name, rows] of found) {
        for (const row of rows) {
          assert.notMatch(row, credential, `a row of ${name}`)
          for (const secret of known.flatMap(spellings)) assert.notInclude(row, secret, `a row of ${name}`)
        }
      }
    })
  )
})
