import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as EmbeddedPostgres from "#layers/EmbeddedPostgres.ts"
import { api, ask, type Client, must, payOnce } from "./Paying.ts"
import { pause, type Server, startOrigin, startServer } from "./Servers.ts"

const anHourAhead = ["--import", join(import.meta.dirname, "AnHourAhead.ts")]

/** How far two instants are apart, in seconds. */
const apart = (one: string, other: string | number) =>
  Math.abs(new Date(one).getTime() - new Date(other).getTime()) / 1000

/** Whether it was between then and now, give or take a second. */
const isSince = (at: string, then: number) => Date.parse(at) > then - 1_000 && Date.parse(at) < Date.now() + 1_000

it.live("two servers on one database, one an hour ahead: quotes, holds, times and order are decided by one clock", () =>
  Effect.gen(function* () {
    const dir = mkdtempSync(join(tmpdir(), "turnpike-chaos-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true, force: true })))
    const { database, socketDir, username } = yield* EmbeddedPostgres.make({ dataDir: join(dir, "postgres") })
    yield* Effect.promise(() =>
      skewed(dir, `postgres://${username}@localhost/${database}?host=${encodeURIComponent(socketDir)}`)
    )
  })
)

const skewed = async (dir: string, url: string) => {
  const origin = await startOrigin()
  const start = (name: string, flags: ReadonlyArray<string> = []) =>
    startServer(
      {
        DATABASE_URL: url,
        TURNPIKE_DATA_DIR: join(dir, name),
        TURNPIKE_ALLOW_HOSTS: `127.0.0.1:${origin.port}`
      },
      flags
    )
  const right: Server = await start("right")
  const { account_id, api_key } = JSON.parse(readFileSync(join(dir, "right", "credentials.json"), "utf8"))
  const clientOf = ({ base }: Server): Client => ({ key: api_key, bases: () => [base] })
  const atRight = clientOf(right)
  const network = "base-sepolia"
  const walletOf = async (currency: string) =>
    String((await must(atRight, "POST", "/v1/wallets", { currency, network })).id)
  const [payer, revenue, euros] = [await walletOf("USDC"), await walletOf("USDC"), await walletOf("EURC")]
  await must(atRight, "POST", `/v1/wallets/${payer}/fund`, { amount: "10.00", currency: "USDC" })
  const order = { from_wallet_id: payer, to_wallet_id: revenue, amount: "0.01", currency: "USDC" }
  const inHalfAnHour = new Date(Date.now() + 1_800_000).toISOString()
  const rent = await must(atRight, "POST", "/v1/scheduled-transfers", { ...order, scheduled_at: inHalfAnHour })

  // It looks for what is due as soon as it is up.
  const ahead: Server = await start("ahead", anHourAhead)
  const atAhead = clientOf(ahead)
  const endpoint = await must(atRight, "POST", "/v1/x402/endpoints", {
    name: "An hour apart",
    path: "/",
    method: "GET",
    accountId: account_id,
    basePrice: 0.01,
    currency: "USDC",
    network,
    originUrl: origin.url,
    walletId: revenue
  })

  // A price told by one is paid at the other, and called for at either.
  for (const [told, paid, called] of [
    [atRight, atAhead, atRight],
    [atAhead, atRight, atAhead],
    [atRight, atRight, atAhead],
    [atAhead, atAhead, atRight]
  ] as const) {
    const quote = await ask(told, `/x402/${endpoint.id}`, {})
    const body = { payment_request_id: quote.body.payment_request_id, from_wallet_id: payer }
    const payment = await api(paid, "POST", "/v1/x402/pay", body)
    assert.strictEqual(payment.status, 201, JSON.stringify(payment.body))
    assert.isBelow(apart(payment.body.expires_at, Date.now()), 70)
    const call = await ask(called, `/x402/${endpoint.id}`, { headers: { "x-payment-proof": payment.body.proof } })
    assert.strictEqual(call.status, 200, JSON.stringify(call.body))
  }

  // Whoever is ahead expires the holds of others every second, and must not.
  const { body: request } = await ask(atRight, `/x402/${endpoint.id}`, {})
  const held = await must(atRight, "POST", "/v1/x402/pay", {
    payment_request_id: request.payment_request_id,
    from_wallet_id: payer
  })
  await pause(2_500)
  const { body: wallet } = await api(atRight, "GET", `/v1/wallets/${payer}`)
  assert.strictEqual(wallet.balance_pending, "0.01", "the hold is still there")
  const late = await ask(atAhead, `/x402/${endpoint.id}`, { headers: { "x-payment-proof": held.proof } })
  assert.strictEqual(late.status, 200, JSON.stringify(late.body))
  assert.strictEqual((await payOnce(atAhead, endpoint.id, payer))?.outcome, "served")

  for (const [told, used] of [
    [atRight, atAhead],
    [atAhead, atRight]
  ] as const) {
    const asked = { from_currency: "USDC", to_currency: "EURC", amount: "0.10" }
    const { id: quote_id } = await must(told, "POST", "/v1/quotes", asked)
    const crossing = { type: "cross_border", from_wallet_id: payer, to_wallet_id: euros, quote_id }
    const askedAt = Date.now()
    const transfer = await must(used, "POST", "/v1/transfers", crossing)
    assert.isTrue(isSince(transfer.created_at, askedAt), transfer.created_at)
  }

  // Transfers made in turn are listed in that order, with the time that it is.
  const made: Array<string> = []
  const since = new Date(Date.now() - 60_000).toISOString()
  for (let index = 0; index < 8; index++) {
    const askedAt = Date.now()
    const transfer = await must(index % 2 === 0 ? atRight : atAhead, "POST", "/v1/transfers", order)
    assert.isTrue(isSince(transfer.created_at, askedAt), transfer.created_at)
    made.unshift(transfer.id)
    // Ids carry milliseconds, and two clocks agree as well as the database answers quickly.
    await pause(250)
  }
  for (const client of [atRight, atAhead]) {
    const { body: list } = await api(client, "GET", `/v1/transfers?to_wallet_id=${revenue}&created_after=${since}`)
    assert.deepStrictEqual(
      list.data.map((transfer: { readonly id: string }) => transfer.id),
      made
    )
  }

  const { body: schedule } = await api(atRight, "GET", `/v1/scheduled-transfers/${rent.id}`)
  assert.deepStrictEqual([schedule.status, schedule.executions_completed], ["scheduled", 0], "nothing is paid early")

  for (const server of [right, ahead]) assert.strictEqual(await server.kill("SIGTERM"), 0)
  await origin.stop()
}
