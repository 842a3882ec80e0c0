import { Cause, Clock, Context, Effect, Exit, Layer, Option } from "effect"
import { dropOldest } from "#domain/BoundedMap.ts"
import { allowed, serves } from "#domain/Endpoint.ts"
import { originPath, parseGatewayTarget } from "#domain/GatewayPath.ts"
import { AmbiguousPath, EndpointPaused } from "#domain/GatewayRefusal.ts"
import { fromTypeId } from "#domain/Ids.ts"
import type { ProofRefusal } from "#domain/Payment.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { priceAt } from "#domain/Price.ts"
import { tokenKey } from "#domain/PaymentToken.ts"
import type { Demanded } from "#domain/protocol/Demand.ts"
import { signedIn } from "#domain/protocol/Siwx.ts"
import type { Presented } from "#domain/protocol/X402Payload.ts"
import * as RateLimit from "#domain/RateLimit.ts"
import { NotFound } from "#domain/Refusal.ts"
import { Credentials } from "./Credentials.ts"
import { Endpoints, type Snapshot, withoutOrigin } from "./Endpoints.ts"
import * as Accepting from "./Gateway/Accepting.ts"
import type { Call, Closure, Route } from "./Gateway/Call.ts"
import * as Payers from "./Gateway/Payers.ts"
import * as Quotes from "./Gateway/Quotes.ts"
import * as Settlers from "./Gateway/Settlers.ts"
import { isDatabaseAway } from "./Health.ts"
import { Ledger } from "./Ledger.ts"
import type { Grant, UseRefused } from "./Payments.ts"
import { monotonic } from "./RealTime.ts"
import { Secrets } from "./Secrets.ts"
import { SignatureRecovery } from "./SignatureRecovery.ts"
import { Wallets } from "./Wallets.ts"

export type { Call, Route } from "./Gateway/Call.ts"

/** How a caller says who it is before it is asked for money: a credential of ours, or an address that it proves. */
export interface Identity {
  readonly token?: string | undefined
  readonly signIn?: string | undefined
}

/** What a caller who says who it is is asked for, and whether that was made up. */
export interface Quoted {
  readonly demanded: Demanded
  readonly isStranger: boolean
}

/** How many payers' call rates are remembered. */
const rememberedPayers = 50_000

/** What becomes of a request to the gateway, decided in memory. Knows nothing of bytes. */
export class Gateway extends Context.Service<
  Gateway,
  {
    route(method: string, target: string): Route
    load(endpoint: string): Effect.Effect<void>
    /** Asks for the list price. Touches no database. */
    quote(call: Call, reason: ProofRefusal): Demanded
    /** Asks a caller who says who it is for its own price, which its completed calls decide. The list price if that is unknown. */
    quoteFor(call: Call, identity: Identity, reason: ProofRefusal): Effect.Effect<Quoted>
    /** Whether it costs next to nothing to find out who this is. */
    remembers(identity: Identity): Effect.Effect<boolean>
    /** Takes what the caller signed as payment for this call; see `Payments.present`. */
    take(
      call: Call,
      presented: Presented,
      fingerprint: string,
      uploads: boolean
    ): Effect.Effect<Grant, UseRefused | IdempotencyKeyReused>
    /** What an earlier call did with what the caller signed, or is doing; see `Payments.recall`. */
    recall(call: Call, presented: Presented, fingerprint: string, uploads: boolean): Effect.Effect<Grant, UseRefused>
    /** Whether some callers pay less than the list price. */
    hasDiscounts(call: Call): boolean
    /** Counts a call of this payer; undefined when the endpoint sets no limit. Counted by each process for itself. */
    count(call: Call, payer: string): RateLimit.Allowance | undefined
  }
>()("turnpike/services/Gateway") {
  static readonly layer = Layer.effect(
    Gateway,
    Effect.gen(function* () {
      const { directory } = yield* Endpoints
      const credentials = yield* Credentials
      const wallets = yield* Wallets
      const ledger = yield* Ledger
      const clock = yield* Clock.Clock
      const { recover } = yield* SignatureRecovery
      const { secret } = yield* Secrets
      const key = tokenKey(yield* secret("payments"))
      const settlers = yield* Settlers.make
      const payers = yield* Payers.make
      const quoteAt = yield* Quotes.make(key, settlers)
      const { recall, take } = yield* Accepting.make(key, settlers, payers)

      const refused = (refusal: Extract<Route, { _tag: "Refused" }>["refusal"]): Route => ({ _tag: "Refused", refusal })
      const notFound = (id: string, resource = "endpoint") => refused(new NotFound({ resource, id: id.slice(0, 100) }))

      const closed = (snapshot: Snapshot, method: string, refusal: Closure): Route => ({
        _tag: "Closed",
        call: { _tag: "Call", snapshot, method, origin: "", path: "" },
        refusal
      })

      const route = (method: string, target: string): Route => {
        const parsed = parseGatewayTarget(target)
        if (parsed === undefined) return refused(new AmbiguousPath())
        const id = fromTypeId("epd", parsed.endpoint)
        if (id === undefined) return notFound(parsed.endpoint)
        const snapshot = directory.peek(id)
        if (snapshot === undefined) return { _tag: "Unloaded", endpoint: id }
        if (snapshot === null) return notFound(id)
        const { endpoint, origin } = snapshot
        const path = originPath(endpoint.path, parsed.rest)
        if (path === undefined) return endpoint.status === "disabled" ? notFound(id) : notFound(parsed.rest, "path")
        if (endpoint.status === "disabled") return closed(snapshot, method, new NotFound({ resource: "endpoint", id }))
        if (method === "OPTIONS") return { _tag: "Preflight", allow: allowed(endpoint.method) }
        if (!serves(endpoint.method, method)) return { _tag: "MethodNotAllowed", allow: allowed(endpoint.method) }
        if (endpoint.status === "paused")
          return closed(snapshot, method, new EndpointPaused({ endpoint_id: id, retry_after: 60 }))
        if (origin === undefined) return closed(snapshot, method, withoutOrigin(snapshot))
        const base = origin.path === "/" ? "" : origin.path
        const more = parsed.rest + parsed.query
        const url = more === "" ? undefined : endpoint.gatewayUrl + more
        return { _tag: "Call", snapshot, method, origin: origin.origin, path: base + path + parsed.query, url }
      }

      const quote = (call: Call, reason: ProofRefusal) => quoteAt(call, call.snapshot.price.base, reason)

      const priceOfHolder = Effect.fnUntraced(function* ({ endpoint, price }: Snapshot, token: string) {
        const principal = yield* credentials.authenticate(token)
        const wallet = yield* wallets.purseOf(principal, endpoint.currency, endpoint.network)
        if (Option.isNone(wallet)) return { price: price.base, payer: undefined }
        const { count } = yield* ledger.tally(endpoint.id, wallet.value.id)
        return { price: priceAt(price, count), payer: wallet.value.address }
      })
      const priceOfAddress = Effect.fnUntraced(function* (snapshot: Snapshot, header: string) {
        const proven = signedIn(header, snapshot.endpoint, { key, now: clock.currentTimeMillisUnsafe(), recover })
        if (proven._tag === "Refused") return yield* Effect.fail(proven.reason)
        return { price: yield* payers.priceAt(snapshot, proven.address), payer: proven.address }
      })
      const quoteFor = Effect.fn("Gateway.quoteFor")(function* (call: Call, identity: Identity, reason: ProofRefusal) {
        const { snapshot } = call
        const { signIn, token = "" } = identity
        const found: Exit.Exit<{ readonly price: bigint; readonly payer?: string | undefined }, unknown> =
          yield* signIn === undefined
            ? Effect.exit(priceOfHolder(snapshot, token))
            : Effect.exit(priceOfAddress(snapshot, signIn))
        if (Exit.isSuccess(found)) {
          const { payer, price } = found.value
          return { demanded: quoteAt(call, price, reason, payer), isStranger: false }
        }
        // Whoever cannot be told apart, for whatever cause, is asked for what everybody is asked for.
        const isStranger = !Cause.hasDies(found.cause)
        if (!isStranger && !isDatabaseAway(Cause.squash(found.cause)))
          yield* Effect.logError("What a known caller pays could not be found out", found.cause)
        return { demanded: quote(call, reason), isStranger }
      })
      const remembers = ({ signIn, token = "" }: Identity) =>
        signIn === undefined ? credentials.isRemembered(token) : Effect.succeed(false)

      const buckets = new Map<string, RateLimit.Bucket>()
      const count = ({ snapshot: { endpoint } }: Call, payer: string): RateLimit.Allowance | undefined => {
        if (endpoint.rateLimit === null) return undefined
        const name = `${endpoint.id} ${payer}`
        const { allowance, bucket } = RateLimit.take(buckets.get(name), endpoint.rateLimit, monotonic(clock))
        buckets.delete(name)
        buckets.set(name, bucket)
        dropOldest(buckets, rememberedPayers)
        return allowance
      }

      return Gateway.of({
        route,
        load: (endpoint) => Effect.asVoid(directory.load(endpoint)),
        quote,
        quoteFor,
        remembers,
        take,
        recall,
        hasDiscounts: ({ snapshot }) => snapshot.price.tiers.length > 0,
        count
      })
    })
  )
}
