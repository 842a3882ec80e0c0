import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "#api/Api.ts"
import { asksOf } from "#api/Credentials.ts"
import { toTypeId } from "#domain/Ids.ts"
import { CrossBorder } from "#services/CrossBorder.ts"
import { MoneyStreams } from "#services/MoneyStreams.ts"
import { newUuid } from "#services/NewId.ts"
import { Quotes } from "#services/Quotes.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { agentOf } from "./Callers.ts"
import { fieldsOf, operationOf } from "./Description.ts"
import { seller, server } from "./GatewayHarness.ts"
import { everything, nobodys, seen } from "./Tables.ts"

const conversion = { from_currency: "USDC", to_currency: "EURC", amount: 1_000_000n } as const

/** Two agents of one account, of which the second has one of everything that agents have. */
const world = Effect.gen(function* () {
  const { endpoint, principal, till } = yield* seller((_, response) => response.end("served"))
  const [mine, theirs] = [yield* agentOf(principal, 5_000_000n), yield* agentOf(principal, 20_000_000n)]
  const abroad = (yield* (yield* Wallets).create(principal, { currency: "EURC" })).id
  const quotes = yield* Quotes
  const [used, quote] = [
    yield* quotes.create(theirs.principal, conversion),
    yield* quotes.create(theirs.principal, conversion)
  ]
  const between = { from_wallet_id: theirs.wallet, to_wallet_id: till } as const
  const plain = { ...between, type: "internal", amount: 1_000n, currency: "USDC" } as const
  const { transfer } = yield* (yield* Transfers).create(theirs.principal, plain)
  const crossing = { type: "cross_border", ...between, to_wallet_id: abroad, quote_id: used.id } as const
  const pending = yield* (yield* CrossBorder).create(theirs.principal, crossing)
  const flow = { flow_rate: 10n ** 15n, initial_deposit: 1_000_000n } as const
  const { stream } = yield* (yield* MoneyStreams).open(theirs.principal, { ...between, ...flow })
  return {
    mine,
    till: toTypeId("wal", till),
    abroad: toTypeId("wal", abroad),
    url: endpoint.gatewayUrl,
    own: toTypeId("wal", mine.wallet),
    agent: toTypeId("agt", theirs.id),
    wallet: toTypeId("wal", theirs.wallet),
    quote: toTypeId("qt", quote.id),
    ownQuote: toTypeId("qt", (yield* quotes.create(mine.principal, conversion)).id),
    transfer: toTypeId("tx", transfer.id),
    pending: toTypeId("tx", pending.transfer.id),
    stream: toTypeId("str", stream.id)
  }
})
type World = Effect.Success<typeof world>

interface Attempt {
  /** The other agent's thing. */
  readonly about: (world: World) => string
  /** What is sent about it, otherwise with what is one's own. */
  readonly body?: (thing: string, world: World) => object
}

const wallet = ({ wallet }: World) => wallet
const stream = ({ stream }: World) => stream
const agent = ({ agent }: World) => agent
const amount = { amount: "1.00", currency: "USDC" }
const nothing = () => ({})

/** What an agent may try with a thing of another's: the operation, the field that names the thing, and in which case. */
const attempts: Readonly<Record<string, Attempt>> = {
  "agents.get id": { about: agent },
  "agents.sessions id": { about: agent },
  "agents.endSession id": { about: agent },
  "wallets.get id": { about: wallet },
  "wallets.entries id": { about: wallet },
  "wallets.fund id": { about: wallet, body: () => amount },
  "transfers.get id": { about: ({ transfer }) => transfer },
  "transfers.cancel id": { about: ({ pending }) => pending },
  "transfers.create from_wallet_id": {
    about: wallet,
    body: (from_wallet_id, { till }) => ({ from_wallet_id, to_wallet_id: till, ...amount })
  },
  "transfers.create from_wallet_id of a stream": {
    about: wallet,
    body: (from_wallet_id, { till }) => ({
      type: "stream_start",
      from_wallet_id,
      to_wallet_id: till,
      flow_rate: "0.001",
      ...amount
    })
  },
  "transfers.create from_wallet_id across currencies": {
    about: wallet,
    body: (from_wallet_id, { abroad, ownQuote }) => ({
      type: "cross_border",
      from_wallet_id,
      to_wallet_id: abroad,
      quote_id: ownQuote
    })
  },
  "transfers.create quote_id": {
    about: ({ quote }) => quote,
    body: (quote_id, { abroad, own }) => ({
      type: "cross_border",
      from_wallet_id: own,
      to_wallet_id: abroad,
      quote_id
    })
  },
  "transfers.create stream_id": { about: stream, body: (stream_id) => ({ type: "stream_cancel", stream_id }) },
  "quotes.get id": { about: ({ quote }) => quote },
  "payments.pay from_wallet_id": { about: wallet, body: (from_wallet_id, { url }) => ({ from_wallet_id, url }) },
  "streams.create from_wallet_id": {
    about: wallet,
    body: (from_wallet_id, { till }) => ({
      from_wallet_id,
      to_wallet_id: till,
      flow_rate: "0.001",
      initial_deposit: "1.00"
    })
  },
  "streams.get id": { about: stream },
  "streams.top_up id": { about: stream, body: () => ({ amount: "1.00" }) },
  "streams.pause id": { about: stream },
  "streams.resume id": { about: stream },
  "streams.rate id": { about: stream, body: () => ({ flow_rate: "0.002" }) },
  "streams.withdraw id": { about: stream, body: nothing },
  "streams.cancel id": { about: stream, body: nothing }
}

/** Lists, by the filters that name a thing. */
const filters: Readonly<Record<string, (world: World) => string>> = {
  "wallets.list owner_id": agent,
  "transfers.list from_wallet_id": wallet,
  "transfers.list to_wallet_id": wallet,
  "streams.list from_wallet_id": wallet,
  "streams.list to_wallet_id": wallet
}

const ofAgents = asksOf(Api).filter(({ kinds }) => kinds.includes("agent_token"))
const naming = /^(?:from_wallet_id|quote_id|stream_id|owner_id)$/

layer(server, { timeout: "60 seconds", excludeTestServices: true })("another agent of the same account", (it) => {
  it.effect("is tried with everything that agents may name", () =>
    Effect.sync(() => {
      const places = ofAgents.flatMap(({ operation }) => {
        const described = operationOf(operation)
        const fields = Object.keys(fieldsOf(described)).filter((field) => naming.test(field))
        return [...(described.params.length > 0 ? ["id"] : []), ...fields].map((field) => `${operation} ${field}`)
      })
      const tried = Object.keys(attempts).map((name) => name.split(" ", 2).join(" "))
      assert.deepStrictEqual(places.sort(), [...new Set(tried)].sort())
    })
  )

  for (const [name, { about, body }] of Object.entries(attempts)) {
    it.effect(`${name}: is as unknown as nobody's, and nothing changes`, () =>
      Effect.gen(function* () {
        const its = yield* world
        const { method, path } = operationOf(name.slice(0, name.indexOf(" ")))
        const thing = about(its)
        const before = yield* everything
        const attempt = (id: string) =>
          its.mine.call(method, path.replace("{id}", id).replace(/\{\w+\}/, newUuid()), body?.(id, its))
        const [foreign, absent] = [yield* attempt(thing), yield* attempt(nobodys(thing))]
        assert.deepStrictEqual([foreign.status, foreign.json.code], [404, "NOT_FOUND"], foreign.body)
        assert.deepStrictEqual(seen(foreign), seen(absent))
        assert.deepStrictEqual(yield* everything, before)
      })
    )
  }

  for (const [name, about] of Object.entries(filters)) {
    it.effect(`${name}: finds nothing`, () =>
      Effect.gen(function* () {
        const its = yield* world
        const [operation = "", filter = ""] = name.split(" ")
        const found = yield* its.mine.call("GET", `${operationOf(operation).path}?${filter}=${about(its)}`)
        assert.deepStrictEqual([found.status, found.json.data], [200, []], found.body)
      })
    )
  }

  it.effect("is in no list, whatever the list is asked for", () =>
    Effect.gen(function* () {
      const its = yield* world
      const account = toTypeId("acc", its.mine.principal.account_id)
      for (const path of ["/v1/wallets", "/v1/transfers", `/v1/transfers?account_id=${account}`, "/v1/streams"]) {
        const { body, status } = yield* its.mine.call("GET", path)
        assert.strictEqual(status, 200)
        for (const id of [its.wallet, its.transfer, its.pending, its.stream, its.till])
          assert.notInclude(body, id, path)
      }
    })
  )
})
