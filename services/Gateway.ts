import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { allowed, serves } from "#domain/Endpoint.ts"
import { originPath, parseGatewayTarget } from "#domain/GatewayPath.ts"
import { AmbiguousPath, EndpointPaused, OriginNotConfigured } from "#domain/GatewayRefusal.ts"
import { fromTypeId } from "#domain/Ids.ts"
import type { ProofRefusal } from "#domain/Payment.ts"
import { priceAt } from "#domain/Price.ts"
import { type PreparedQuote, prepareQuote } from "#domain/protocol/X402.ts"
import { type Allowance, type Bucket, take } from "#domain/RateLimit.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Credentials } from "./Credentials.ts"
import { Deployment } from "./Deployment.ts"
import { Endpoints, type Snapshot } from "./Endpoints.ts"
import { Ledger } from "./Ledger.ts"
import { Payments } from "./Payments.ts"
import { PaymentPolicy } from "./Payments/Policy.ts"
import { Wallets } from "./Wallets.ts"

/** A request that the gateway would forward once it is paid for: where to, byte for byte. */
export interface Call {
  readonly _tag: "Call"
  readonly snapshot: Snapshot
  readonly method: string
  readonly origin: string
  readonly path: string
}

export type Route =
  | Call
  | { readonly _tag: "Refused"; readonly refusal: AmbiguousPath | NotFound | EndpointPaused | OriginNotConfigured }
  | { readonly _tag: "MethodNotAllowed"; readonly allow: string }
  | { readonly _tag: "Preflight"; readonly allow: string }
  /** The endpoint is not in memory: load it and ask again. */
  | { readonly _tag: "Unloaded"; readonly endpoint: string }

/** A 402: the value of `PAYMENT-REQUIRED`, and the body. */
export interface Quote {
  readonly header: string
  readonly body: string
}

/** How many payers' call rates, and how many prices of one endpoint, are remembered. */
const remembered = { payers: 50_000, quotes: 64 }

/** What becomes of a request to the gateway, decided in memory. Knows nothing of bytes. */
export class Gateway extends Context.Service<
  Gateway,
  {
    route(method: string, target: string): Route
    load(endpoint: string): Effect.Effect<void>
    /** Asks for the list price. Touches no database. */
    quote(call: Call, reason: ProofRefusal): Quote
    /** Asks this credential's holder for its own price, which its completed calls decide. The list price if that is unknown. */
    quoteFor(call: Call, token: string, reason: ProofRefusal): Effect.Effect<Quote>
    /** Whether some callers pay less than the list price. */
    hasDiscounts(call: Call): boolean
    /** Counts a call of this payer; undefined when the endpoint sets no limit. Counted by each process for itself. */
    count(call: Call, payer: string): Allowance | undefined
  }
>()("turnpike/services/Gateway") {
  static readonly layer = Layer.effect(
    Gateway,
    Effect.gen(function* () {
      const { directory } = yield* Endpoints
      const payments = yield* Payments
      const credentials = yield* Credentials
      const wallets = yield* Wallets
      const ledger = yield* Ledger
      const clock = yield* Clock.Clock
      const { publicUrl } = yield* Deployment
      const { requestLife } = yield* PaymentPolicy
      const expiresIn = Math.floor(Duration.toSeconds(requestLife))
      const payUrl = `${publicUrl}/v1/x402/pay`

      const refused = (refusal: Extract<Route, { _tag: "Refused" }>["refusal"]): Route => ({ _tag: "Refused", refusal })
      const notFound = (id: string) => refused(new NotFound({ resource: "endpoint", id: id.slice(0, 100) }))

      const route = (method: string, target: string): Route => {
        const parsed = parseGatewayTarget(target)
        if (parsed === undefined) return refused(new AmbiguousPath())
        const id = fromTypeId("epd", parsed.endpoint)
        if (id === undefined) return notFound(parsed.endpoint)
        const snapshot = directory.peek(id)
        if (snapshot === undefined) return { _tag: "Unloaded", endpoint: id }
        if (snapshot === null || snapshot.endpoint.status === "disabled") return notFound(id)
        const { endpoint, origin } = snapshot
        const path = originPath(endpoint.path, parsed.rest)
        if (path === undefined) return notFound(id)
        if (method === "OPTIONS") return { _tag: "Preflight", allow: allowed(endpoint.method) }
        if (!serves(endpoint.method, method)) return { _tag: "MethodNotAllowed", allow: allowed(endpoint.method) }
        if (endpoint.status === "paused") return refused(new EndpointPaused({ endpoint_id: id, retry_after: 60 }))
        if (origin === undefined) return refused(new OriginNotConfigured({ endpoint_id: id }))
        const base = origin.path === "/" ? "" : origin.path
        return { _tag: "Call", snapshot, method, origin: origin.origin, path: base + path + parsed.query }
      }

      const prepared = new WeakMap<Snapshot, Map<string, PreparedQuote>>()
      const prepare = (snapshot: Snapshot, price: bigint, error: string): PreparedQuote => {
        const quotes = prepared.get(snapshot) ?? new Map<string, PreparedQuote>()
        if (quotes.size === 0) prepared.set(snapshot, quotes)
        const name = price === snapshot.price.base ? error : `${price} ${error}`
        let quote = quotes.get(name)
        if (quote === undefined) {
          quote = prepareQuote(snapshot.endpoint, price, { error, expiresIn, payUrl })
          if (quotes.size < remembered.quotes) quotes.set(name, quote)
        }
        return quote
      }
      const quoteAt = ({ method, snapshot }: Call, price: bigint, reason: ProofRefusal): Quote => {
        const { after, before, header } = prepare(snapshot, price, reason)
        return { header, body: before + payments.request(snapshot, method) + after }
      }
      const quote = (call: Call, reason: ProofRefusal) => quoteAt(call, call.snapshot.price.base, reason)

      const priceFor = Effect.fnUntraced(function* ({ endpoint, price }: Snapshot, token: string) {
        const principal = yield* credentials.authenticate(token)
        const wallet = yield* wallets.byAccount(principal.account_id, endpoint.currency, endpoint.network)
        if (Option.isNone(wallet)) return price.base
        const { count } = yield* ledger.tally(endpoint.id, wallet.value.id)
        return priceAt(price, count)
      })
      const quoteFor = Effect.fn("Gateway.quoteFor")((call: Call, token: string, reason: ProofRefusal) =>
        priceFor(call.snapshot, token).pipe(
          Effect.map((price) => quoteAt(call, price, reason)),
          // Whoever cannot be told apart, for whatever cause, is asked for what everybody is asked for.
          Effect.catchCause(() => Effect.sync(() => quote(call, reason)))
        )
      )

      const buckets = new Map<string, Bucket>()
      const count = ({ snapshot: { endpoint } }: Call, payer: string): Allowance | undefined => {
        if (endpoint.rateLimit === null) return undefined
        const name = `${endpoint.id} ${payer}`
        const { allowance, bucket } = take(buckets.get(name), endpoint.rateLimit, clock.currentTimeMillisUnsafe())
        buckets.delete(name)
        buckets.set(name, bucket)
        if (buckets.size > remembered.payers) buckets.delete(buckets.keys().next().value ?? "")
        return allowance
      }

      return Gateway.of({
        route,
        load: (endpoint) => Effect.asVoid(directory.load(endpoint)),
        quote,
        quoteFor,
        hasDiscounts: ({ snapshot }) => snapshot.price.tiers.length > 0,
        count
      })
    })
  )
}
