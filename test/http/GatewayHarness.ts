import { createServer, type IncomingMessage, request as httpRequest, type RequestListener } from "node:http"
import { ConfigProvider, Duration, Effect, Layer } from "effect"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Node from "#layers/Node.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import type { WalletId } from "#domain/Ids.ts"
import { Principal } from "#domain/Principal.ts"
import * as Http from "#http/Http.ts"
import { LimitedPurposes } from "#http/RateLimiter.ts"
import { Credentials } from "#services/Credentials.ts"
import { Deployment } from "#services/Deployment.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { ScanLimits } from "#services/ScanEngine/Limits.ts"
import { ShoppingPolicy } from "#services/ShoppingEngine/Policy.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { listening } from "../layers/Listening.ts"
import { cheapPasswords } from "../services/UsersHarness.ts"
import { Shop } from "./Corpus.ts"

/** Shops of a test that may be looked at; a test adds its own. */
export const listed: Array<string> = []

const policy = Layer.effect(
  PublicHttpPolicy,
  Effect.gen(function* () {
    listed.push((yield* Shop).domain)
    return { ...(yield* PublicHttpPolicy), allowLoopback: true, allowHosts: listed }
  })
)

/** Our own shops need no consideration, and are as slow as the machine. */
const hurry = Layer.mergeAll(
  Layer.succeed(ScanLimits, {
    ...ScanLimits.defaultValue(),
    pace: Duration.millis(1),
    duration: Duration.seconds(20),
    perRequest: Duration.seconds(10)
  }),
  Layer.succeed(ShoppingPolicy, { ...ShoppingPolicy.defaultValue(), pace: Duration.millis(1) })
)

/** The listening process with these settings in its environment. */
export const listener = (settings: Record<string, string>) =>
  Node.layer.pipe(
    Layer.provide(
      ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0", TURNPIKE_RATE_LIMIT: "off", ...settings }))
    )
  )

/** Every service over a private database; where it is deployed is still open. */
export const services = Platform.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, policy, hurry, cheapPasswords)),
  Layer.provideMerge(Shop.layer)
)

/** The whole server on a free port. */
export const serverWith = (settings: Record<string, string>) =>
  Http.layer.pipe(
    Layer.provideMerge(services),
    Layer.provideMerge(listener(settings)),
    // Its tests log in more often than anybody may.
    Layer.provide(Layer.succeed(LimitedPurposes, false))
  )
export const server = serverWith({})

/** A new tenant, as its API key sees it. */
export const tenant = Effect.gen(function* () {
  const { id, account_id } = yield* (yield* Tenants).create({ name: "A tenant" })
  const { key } = yield* (yield* Credentials).issue({ tenant_id: id, kind: "api_key", name: "key", scopes: ["*:*"] })
  const principal = new Principal({
    tenant_id: id,
    environment: "sandbox",
    actor_type: "api_key",
    actor_id: "key",
    account_id,
    scopes: ["*:*"]
  })
  return { key, principal }
})

export const wallet = Effect.fnUntraced(function* (owner: Principal, funds = 0n) {
  const wallets = yield* Wallets
  const { id } = yield* wallets.create(owner, {})
  if (funds > 0n) yield* wallets.fund(owner, id, { amount: funds, currency: "USDC" })
  return id
})

export const balance = Effect.fnUntraced(function* (id: WalletId) {
  const { held, posted } = yield* (yield* Ledger).account(id)
  return { posted, held }
})

/** An HTTP server on loopback until the scope ends, that counts its requests. */
export const origin = Effect.fnUntraced(function* (listener: RequestListener) {
  const seen: Array<IncomingMessage> = []
  const http = createServer((request, response) => {
    seen.push(request)
    listener(request, response)
  })
  const url = `http://${yield* listening(http)}`
  return { url, seen, http }
})

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as they come.
  readonly json: any
}

/** A request byte for byte as given; fails with a defect when the answer was cut. */
export const send = Effect.fnUntraced(function* (
  path: string,
  options: {
    readonly method?: string
    readonly headers?: Record<string, string | Array<string>>
    readonly body?: string | object
  } = {}
) {
  const { publicUrl } = yield* Deployment
  const { body, headers = {}, method = "GET" } = options
  const text = typeof body === "object" ? JSON.stringify(body) : body
  const type: Record<string, string> = typeof body === "object" ? { "content-type": "application/json" } : {}
  return yield* Effect.callback<Answer>((resume) => {
    const port = new URL(publicUrl).port
    const request = httpRequest({ port, method, path, headers: { ...type, ...headers } }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", (error) => resume(Effect.die(error)))
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        const isJson = /json/.test(response.headers["content-type"] ?? "") && text !== ""
        resume(
          Effect.succeed({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: text,
            json: isJson ? JSON.parse(text) : undefined
          })
        )
      })
    })
    request.on("error", (error) => resume(Effect.die(error)))
    // With a body that is text Node sends the headers in its encoding, and in their own otherwise.
    request.end(text === undefined ? undefined : Buffer.from(text))
    return Effect.sync(() => request.destroy())
  })
})

/** A tenant with an endpoint in front of an origin. */
export const seller = Effect.fnUntraced(function* (listener: RequestListener, endpoint: Partial<NewEndpoint> = {}) {
  const { key, principal } = yield* tenant
  const till = yield* wallet(principal)
  const backend = yield* origin(listener)
  const record = yield* (yield* Endpoints).create(principal, {
    name: "Weather",
    path: "/forecast",
    method: "GET",
    originUrl: backend.url,
    ...endpoint
  })
  return { key, principal, till, backend, endpoint: record, path: `/x402/${record.id}` }
})

/** A tenant with a funded wallet. */
export const buyer = Effect.fnUntraced(function* (funds: bigint) {
  const { key, principal } = yield* tenant
  return { key, principal, purse: yield* wallet(principal, funds) }
})

/** Pays a 402 over HTTP and gives the answer of `POST /v1/x402/pay`. */
export const pay = (key: string, body: object) =>
  send("/v1/x402/pay", { method: "POST", headers: { authorization: `Bearer ${key}` }, body })

/** Pays an address and calls it once. */
export const paidCall = Effect.fnUntraced(function* (
  agent: { readonly key: string; readonly purse: WalletId },
  path: string,
  options: Parameters<typeof send>[1] = {}
) {
  const challenge = yield* send(path, options)
  const paid = yield* pay(agent.key, {
    payment_request_id: challenge.json.payment_request_id,
    from_wallet_id: agent.purse
  })
  const proof: string = paid.json.proof
  return yield* send(path, { ...options, headers: { ...options.headers, "x-payment-proof": proof } })
})

/** What has left a wallet that began with `funds`. */
export const charged = (id: WalletId, funds: bigint) => Effect.map(balance(id), ({ posted }) => funds - posted)

/** A call whose answer is read chunk by chunk. */
export const openStream = Effect.fnUntraced(function* (path: string, headers: Record<string, string>) {
  const port = new URL((yield* Deployment).publicUrl).port
  const response = yield* Effect.callback<IncomingMessage>((resume) => {
    const request = httpRequest({ port, path, headers }, (response) => resume(Effect.succeed(response)))
    request.on("error", (error) => resume(Effect.die(error))).end()
    return Effect.sync(() => request.destroy())
  })
  const chunks: Array<string> = []
  const waiting: Array<() => void> = []
  let closed = false
  const changed = () => {
    for (const check of waiting.splice(0)) check()
  }
  response.on("data", (chunk: Buffer) => {
    chunks.push(chunk.toString())
    changed()
  })
  response.on("error", () => {})
  response.on("close", () => {
    closed = true
    changed()
  })
  const until = <A>(ready: () => A | undefined) =>
    Effect.callback<A>((resume) => {
      const check = () => {
        const value = ready()
        if (value === undefined) waiting.push(check)
        else resume(Effect.succeed(value))
      }
      check()
    })
  return {
    headers: response.headers,
    next: until(() => chunks.shift()),
    /** Whether the answer ended whole. */
    ended: until(() => (closed ? response.complete : undefined)),
    leave: Effect.sync(() => void response.destroy())
  }
})
