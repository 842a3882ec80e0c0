import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fromTypeId, toTypeId, WalletId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { Accounts } from "#services/Accounts.ts"
import { Agents } from "#services/Agents.ts"
import { Wallets } from "#services/Wallets.ts"
import { agentOf, callsWith, portalOf } from "./Callers.ts"
import { balance, pay, seller, send, server, tenant, wallet } from "./GatewayHarness.ts"

const usd = (amount: string) => ({ amount, currency: "USDC" })

/** A tenant with a till and two agents, of which the first has money. */
const world = Effect.gen(function* () {
  const { key, principal } = yield* tenant
  const till = yield* wallet(principal, 1_000_000n)
  const [one, two] = [yield* agentOf(principal, 5_000_000n), yield* agentOf(principal)]
  return { key, principal, till, to: toTypeId("wal", till), one, two, call: callsWith(key) }
})

const customer = Effect.fnUntraced(function* ({ tenant_id }: Principal) {
  return (yield* (yield* Accounts).create(tenant_id, { name: "A customer" })).id
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("an agent", (it) => {
  it.effect("is told who it is and what it pays from, by its token and by its session", () =>
    Effect.gen(function* () {
      const { one, principal } = yield* world
      for (const token of [one.token, one.session]) {
        const { json } = yield* callsWith(token)("GET", "/v1/context")
        assert.deepStrictEqual(
          [json.actor_type, json.actor_id, json.agent_id, json.wallet_id, json.account_id, json.api_key_id],
          [
            "agent",
            toTypeId("agt", one.id),
            toTypeId("agt", one.id),
            toTypeId("wal", one.wallet),
            toTypeId("acc", principal.account_id),
            null
          ]
        )
      }
    })
  )

  it.effect("sees its wallet as its own, and fills it from the faucet", () =>
    Effect.gen(function* () {
      const { call, one, two } = yield* world
      const own = yield* one.call("GET", `/v1/wallets/${toTypeId("wal", one.wallet)}`)
      assert.deepInclude(own.json, { owner_type: "agent", owner_id: toTypeId("agt", one.id) })
      assert.deepStrictEqual((yield* one.call("GET", "/v1/wallets")).json.data, [own.json])
      for (const owner_id of [toTypeId("agt", one.id), one.id]) {
        assert.deepStrictEqual((yield* call("GET", `/v1/wallets?owner_id=${owner_id}`)).json.data, [own.json])
      }
      const funded = yield* two.call("POST", `/v1/wallets/${toTypeId("wal", two.wallet)}/fund`, usd("3.00"))
      assert.deepStrictEqual([funded.status, funded.json.wallet.balance_available], [201, "3.00"])
    })
  )

  it.effect(
    "pays any wallet of its tenant out of its own, which it need not name; its account has it on its books",
    () =>
      Effect.gen(function* () {
        const { one, principal, till, to } = yield* world
        const made = yield* one.call("POST", "/v1/transfers", { to_wallet_id: to, ...usd("1.50") })
        assert.strictEqual(made.status, 201, made.body)
        const account = toTypeId("acc", principal.account_id)
        assert.deepInclude(made.json, {
          status: "completed",
          from_wallet_id: toTypeId("wal", one.wallet),
          from_account_id: account,
          to_account_id: account,
          initiated_by: { type: "agent", id: toTypeId("agt", one.id) }
        })
        assert.strictEqual((yield* balance(till)).posted, 2_500_000n)
        assert.deepStrictEqual((yield* one.call("GET", "/v1/transfers")).json.data, [made.json])
      })
  )

  it.effect("pays from its wallet of the currency and network that are wanted, if it has one", () =>
    Effect.gen(function* () {
      const { one, principal } = yield* world
      const wallets = yield* Wallets
      const euros = { currency: "EURC", network: "base-sepolia" } as const
      const { id: till } = yield* wallets.create(principal, euros)
      const order = { to_wallet_id: toTypeId("wal", till), amount: "1.00", currency: "EURC" }
      const lacking = yield* one.call("POST", "/v1/transfers", order)
      assert.deepStrictEqual([lacking.status, lacking.json.code], [422, "CURRENCY_MISMATCH"])
      const { id: own } = yield* wallets.create(principal, { ...euros, owner_type: "agent", owner_id: one.id })
      yield* wallets.fund(principal, own, { amount: 2_000_000n, currency: "EURC" })
      const made = yield* one.call("POST", "/v1/transfers", order)
      assert.deepStrictEqual([made.status, made.json.from_wallet_id], [201, toTypeId("wal", own)], made.body)
      // A quote says what it is paid in, so that nobody has to repeat it.
      const conversion = { from_currency: "EURC", to_currency: "USDC", amount: "0.50" }
      const quote = yield* one.call("POST", "/v1/quotes", conversion)
      const crossing = { type: "cross_border", to_wallet_id: toTypeId("wal", one.wallet), quote_id: quote.json.id }
      const crossed = yield* one.call("POST", "/v1/transfers", { ...crossing, idempotency_key: "quoted" })
      assert.deepStrictEqual([crossed.status, crossed.json.from_wallet_id], [201, toTypeId("wal", own)], crossed.body)
      const named = { ...crossing, from_wallet_id: toTypeId("wal", own), idempotency_key: "quoted" }
      assert.strictEqual((yield* one.call("POST", "/v1/transfers", named)).json.id, crossed.json.id)
    })
  )

  it.effect("of nobody else is the wallet that a transfer without one comes out of", () =>
    Effect.gen(function* () {
      const { call, to } = yield* world
      const refused = yield* call("POST", "/v1/transfers", { to_wallet_id: to, ...usd("1.50") })
      assert.deepStrictEqual([refused.status, refused.json.details.errors[0].path], [400, "from_wallet_id"])
      const unpaid = yield* call("POST", "/v1/x402/pay", { url: "http://127.0.0.1/x402/x" })
      assert.deepStrictEqual([unpaid.status, unpaid.json.details.errors[0].path], [400, "from_wallet_id"])
    })
  )

  it.effect("repeats a request under its own keys only", () =>
    Effect.gen(function* () {
      const { call, one, principal, to } = yield* world
      const two = yield* agentOf(principal, 5_000_000n)
      const order = { to_wallet_id: to, ...usd("1.00"), idempotency_key: "the same" }
      const first = yield* one.call("POST", "/v1/transfers", order)
      const again = yield* callsWith(one.session)("POST", "/v1/transfers", order)
      assert.deepStrictEqual([again.json, again.headers["idempotency-replayed"]], [first.json, "true"])
      const other = yield* two.call("POST", "/v1/transfers", order)
      assert.strictEqual(other.json.from_wallet_id, toTypeId("wal", two.wallet))
      const named = { ...order, from_wallet_id: toTypeId("wal", one.wallet) }
      const tenants = yield* call("POST", "/v1/transfers", named)
      assert.notStrictEqual(tenants.json.id, first.json.id)
      // The wallet by default and by name are one.
      assert.strictEqual((yield* one.call("POST", "/v1/transfers", named)).json.id, first.json.id)
    })
  )

  it.effect("cancels a transfer that it pays, not one that it is paid", () =>
    Effect.gen(function* () {
      const { call, one, principal, two } = yield* world
      const wallets = yield* Wallets
      const euros = yield* wallets.create(principal, { owner_type: "agent", owner_id: two.id, currency: "EURC" })
      const conversion = { from_currency: "USDC", to_currency: "EURC", amount: "1.00" }
      const quote = yield* one.call("POST", "/v1/quotes", conversion)
      const order = { type: "cross_border", to_wallet_id: toTypeId("wal", euros.id), quote_id: quote.json.id }
      const made = yield* one.call("POST", "/v1/transfers", order)
      assert.deepStrictEqual([made.status, made.json.status], [201, "pending"], made.body)
      const path = `/v1/transfers/${made.json.id}`
      assert.strictEqual((yield* two.call("GET", path)).json.status, "pending")
      const refused = yield* two.call("POST", `${path}/cancel`)
      assert.deepStrictEqual([refused.status, refused.json.code], [403, "FORBIDDEN"])
      assert.strictEqual((yield* call("GET", path)).json.status, "pending")
      assert.strictEqual((yield* one.call("POST", `${path}/cancel`)).json.status, "cancelled")
    })
  )

  it.effect("steers a stream from its end of it", () =>
    Effect.gen(function* () {
      const { one, to, two } = yield* world
      const ends = { from_wallet_id: toTypeId("wal", one.wallet), to_wallet_id: toTypeId("wal", two.wallet) }
      // All of it has flown at once.
      const flow = { flow_rate: "1000000", initial_deposit: "2.00" }
      const { json: stream } = yield* one.call("POST", "/v1/streams", { ...ends, ...flow })
      const path = `/v1/streams/${stream.id}`
      for (const agent of [one, two]) {
        assert.strictEqual((yield* agent.call("GET", path)).json.id, stream.id)
        assert.strictEqual((yield* agent.call("GET", "/v1/streams")).json.data[0].id, stream.id)
      }
      const ofSender = [
        ["top-up", { amount: "1.00" }],
        ["pause"],
        ["resume"],
        ["rate", { flow_rate: "1" }],
        ["cancel", {}]
      ] as const
      for (const [action, body] of ofSender) {
        const refused = yield* two.call("POST", `${path}/${action}`, body)
        assert.deepStrictEqual([refused.status, refused.json.code], [403, "FORBIDDEN"], action)
      }
      const byTransfer = yield* two.call("POST", "/v1/transfers", { type: "stream_cancel", stream_id: stream.id })
      assert.deepStrictEqual([byTransfer.status, byTransfer.json.code], [403, "FORBIDDEN"])
      const mine = yield* one.call("POST", `${path}/withdraw`, {})
      assert.deepStrictEqual([mine.status, mine.json.code], [403, "FORBIDDEN"])
      const taken = yield* two.call("POST", `${path}/withdraw`, {})
      assert.deepStrictEqual([taken.status, taken.json.withdrawn], [201, "2.00"], taken.body)
      assert.strictEqual((yield* one.call("POST", `${path}/cancel`, {})).json.status, "cancelled")
      const started = { type: "stream_start", to_wallet_id: to, flow_rate: "0.001", ...usd("1.00") }
      assert.strictEqual((yield* one.call("POST", "/v1/transfers", started)).json.from_wallet_id, ends.from_wallet_id)
    })
  )

  it.effect("pays for calls from its own wallet, at the price that its own calls have earned", () =>
    Effect.gen(function* () {
      const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0.5 }]
      const { endpoint, path } = yield* seller((_, response) => response.end("served"), { volumeDiscounts })
      const { key, one, two } = yield* world
      const price = (token?: string) =>
        Effect.map(
          send(path, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
          (answer) => [answer.status, answer.json.price]
        )
      const paid = yield* pay(one.token, { url: endpoint.gatewayUrl })
      assert.strictEqual(paid.status, 201, paid.body)
      assert.deepStrictEqual((yield* balance(one.wallet)).held, 10_000n)
      const called = yield* send(path, { headers: { "x-payment-proof": paid.json.proof } })
      assert.strictEqual(called.body, "served")
      assert.deepStrictEqual(yield* price(one.token), [402, "0.005"])
      assert.deepStrictEqual(yield* price(one.session), [402, "0.005"])
      for (const token of [two.token, key, undefined]) assert.deepStrictEqual(yield* price(token), [402, "0.01"])
      const quoted = (yield* send(path)).json.payment_request_id
      assert.strictEqual((yield* pay(one.token, { payment_request_id: quoted })).json.amount, "0.005")
      const spent = (yield* one.call("GET", "/v1/wallets")).json.data[0].id
      const [line] = (yield* one.call("GET", `/v1/wallets/${spent}/entries`)).json.data
      assert.deepInclude((yield* one.call("GET", `/v1/transfers/${line.transfer_id}`)).json, {
        from_wallet_id: spent,
        protocol: "x402",
        to_account_id: null
      })
    })
  )

  it.effect("pays a request once, also when another wallet of it would by now", () =>
    Effect.gen(function* () {
      const { path } = yield* seller((_, response) => response.end("served"))
      const { call, principal } = yield* world
      const { json: made } = yield* call("POST", "/v1/agents", { name: "Elsewhere", walletNetwork: "base-sepolia" })
      const wallets = yield* Wallets
      const usdc = { amount: 1_000_000n, currency: "USDC" } as const
      const agent = fromTypeId("agt", made.data.id) ?? ""
      yield* wallets.fund(principal, WalletId.make(fromTypeId("wal", made.data.wallet_id) ?? ""), usdc)
      const request = { payment_request_id: (yield* send(path)).json.payment_request_id }
      const first = yield* pay(made.credentials.token, request)
      const nearer = yield* wallets.create(principal, { owner_type: "agent", owner_id: agent })
      yield* wallets.fund(principal, nearer.id, usdc)
      const again = yield* pay(made.credentials.token, request)
      assert.deepStrictEqual([again.json, again.headers["idempotency-replayed"]], [first.json, "true"])
      assert.strictEqual((yield* balance(nearer.id)).held, 0n)
    })
  )

  it.effect("that was deleted still owns its wallet, and what it moved stays on its account's books", () =>
    Effect.gen(function* () {
      const { call, principal, to } = yield* world
      const account = yield* customer(principal)
      const gone = yield* agentOf(principal, 2_000_000n, account)
      const { json: moved } = yield* gone.call("POST", "/v1/transfers", { to_wallet_id: to, ...usd("1.00") })
      yield* (yield* Agents).remove(principal, gone.id)
      assert.strictEqual((yield* gone.call("GET", "/v1/wallets")).status, 401)
      const shown = yield* call("GET", `/v1/wallets/${toTypeId("wal", gone.wallet)}`)
      assert.strictEqual(shown.json.owner_id, toTypeId("agt", gone.id))
      const listed = yield* call("GET", `/v1/transfers?account_id=${toTypeId("acc", account)}`)
      assert.deepStrictEqual(listed.json.data, [moved])
    })
  )
})

layer(server, { timeout: "60 seconds", excludeTestServices: true })("a portal", (it) => {
  it.effect("reads the transfers of its customer and of the customer's agents; no filter shows it more", () =>
    Effect.gen(function* () {
      const { call, one, principal, to } = yield* world
      const portal = yield* portalOf(principal, ["transfers:read"])
      const agent = yield* agentOf(principal, 3_000_000n, portal.account_id)
      const purse = yield* (yield* Wallets).create(principal, { owner_id: portal.account_id })
      const others = yield* one.call("POST", "/v1/transfers", { to_wallet_id: to, ...usd("1.00") })
      const sent = yield* agent.call("POST", "/v1/transfers", { to_wallet_id: to, ...usd("1.00") })
      const got = yield* one.call("POST", "/v1/transfers", { to_wallet_id: toTypeId("wal", purse.id), ...usd("1.00") })
      const read = (query: string) => Effect.map(portal.call("GET", `/v1/transfers${query}`), ({ json }) => json.data)
      const all = [got.json, sent.json]
      assert.deepStrictEqual(yield* read(""), all)
      assert.deepStrictEqual(yield* read(`?account_id=${toTypeId("acc", portal.account_id)}`), all)
      // The tenant's own account has a side in each of them.
      assert.deepStrictEqual(yield* read(`?account_id=${toTypeId("acc", principal.account_id)}`), all)
      assert.deepStrictEqual(yield* read(`?to_wallet_id=${to}`), [sent.json])
      assert.deepStrictEqual(yield* read("?limit=1"), [got.json])
      assert.strictEqual((yield* portal.call("GET", `/v1/transfers/${sent.json.id}`)).status, 200)
      const hidden = yield* portal.call("GET", `/v1/transfers/${others.json.id}`)
      assert.deepStrictEqual([hidden.status, hidden.json.code], [404, "NOT_FOUND"])
      assert.strictEqual((yield* call("GET", `/v1/transfers/${others.json.id}`)).status, 200)
    })
  )

  it.effect("is asked for the list price, whatever its customer has earned", () =>
    Effect.gen(function* () {
      const volumeDiscounts = [{ threshold: 1, priceMultiplier: 0.5 }]
      const { endpoint, path } = yield* seller((_, response) => response.end("served"), { volumeDiscounts })
      const { key, principal } = yield* tenant
      const portal = yield* portalOf(principal)
      const purse = yield* (yield* Wallets).create(principal, { owner_id: portal.account_id })
      yield* (yield* Wallets).fund(principal, purse.id, { amount: 1_000_000n, currency: "USDC" })
      const { json } = yield* pay(key, { url: endpoint.gatewayUrl, from_wallet_id: toTypeId("wal", purse.id) })
      yield* send(path, { headers: { "x-payment-proof": json.proof } })
      const asked = yield* send(path, { headers: { authorization: `Bearer ${portal.token}` } })
      assert.deepStrictEqual([asked.status, asked.json.price], [402, "0.01"])
    })
  )
})
