import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { startLoad } from "./Load.ts"
import { compare } from "./Oracle.ts"
import { api, type Client, must } from "./Paying.ts"
import { isReady, pause, startOrigin, startServer } from "./Servers.ts"

it.live(
  "Postgres stands still under load: every request ends by our limit with 503 and Retry-After, the process lives, nothing is doubled",
  () =>
    Effect.gen(function* () {
      const dir = mkdtempSync(join(tmpdir(), "turnpike-chaos-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
      const origin = yield* Effect.promise(startOrigin)
      const server = yield* Effect.promise(() => startServer({ TURNPIKE_DATA_DIR: dir }))
      const told = yield* Effect.promise(() => freezing(dir, server.base, origin.url))
      const { database, socketDir, username } = yield* EmbeddedPostgres.running(join(dir, "postgres"))
      const counts = yield* compare(
        `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`,
        told
      )
      process.stdout.write(`chaos, Postgres frozen: ${JSON.stringify(counts)}\n`)
      assert.strictEqual(yield* Effect.promise(() => server.kill("SIGTERM")), 0)
      yield* Effect.promise(origin.stop)
    }),
  { timeout: 180_000 }
)

/** Nobody waits longer, in milliseconds: our own limits are eight seconds for money and twelve for the rest, and machines are slow. */
const longest = 40_000

const freezing = async (dir: string, base: string, originUrl: string) => {
  const { account_id, api_key } = JSON.parse(readFileSync(join(dir, "credentials.json"), "utf8"))
  const client: Client = { key: api_key, bases: () => [base] }
  const load = await startLoad(client, account_id, originUrl, 4)
  const { wallets } = load.told.trades
  const quoted = await fetch(`${base}/x402/${load.endpoint}`)
  const { payment_request_id } = (await quoted.json()) as { readonly payment_request_id: string }
  const payment = { payment_request_id, from_wallet_id: load.told.payers[0] }
  const { proof } = await must(client, "POST", "/v1/x402/pay", payment)
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${api_key}`,
        "content-type": "application/json",
        ...(path.startsWith("/x402/") ? { "x-payment-proof": proof } : {})
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(longest)
    })
    const { code } = (await response.json()) as { readonly code: string }
    return [method, path, response.status, code, response.headers.get("retry-after") !== null]
  }
  const [from_wallet_id, to_wallet_id] = wallets
  const order = { from_wallet_id, to_wallet_id, amount: "0.01", currency: "USDC", idempotency_key: crypto.randomUUID() }
  const questions: ReadonlyArray<readonly [method: string, path: string, body?: object]> = [
    ["POST", "/v1/transfers", order],
    ["POST", "/v1/wallets", {}],
    ["GET", `/v1/wallets/${from_wallet_id}`],
    ["GET", "/v1/transfers"],
    ["GET", `/x402/${load.endpoint}`]
  ]

  const frozen = await freeze(dir)
  const asked = Promise.all(questions.map((question) => ask(...question)))
  const answered = asked.then(() => true)
  do {
    assert.isFalse(await isReady(base), "not ready while its database stands still")
    const live = await fetch(`${base}/health/live`, { signal: AbortSignal.timeout(10_000) })
    assert.strictEqual(live.status, 200, "alive all the time")
  } while (!(await Promise.race([answered, pause(500)])))
  for (const [method, path, status, code, advised] of await asked) {
    assert.deepStrictEqual([method, path, status, code, advised], [method, path, 503, "SERVICE_UNAVAILABLE", true])
  }
  for (const pid of frozen) process.kill(pid, "SIGCONT")
  for (let back = false; !back; await pause(25)) back = await isReady(base)
  const { body: made, status } = await api(client, "POST", "/v1/transfers", order)
  assert.strictEqual(status, 201)
  load.told.trades.transfers.set(made.id, { status: made.status, amount: 10_000n })
  const before = load.told.trades.transfers.size
  while (load.told.trades.transfers.size < before + 5) await pause(25)
  const told = await load.stop()
  return told
}

/** Stops the postmaster, and then everything it started: it must not start another meanwhile. */
const freeze = async (dir: string): Promise<ReadonlyArray<number>> => {
  const [pid] = readFileSync(join(dir, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")
  process.kill(Number(pid), "SIGSTOP")
  while (!/^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) await pause(1)
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number)
  for (const child of children) process.kill(child, "SIGSTOP")
  return [Number(pid), ...children]
}
