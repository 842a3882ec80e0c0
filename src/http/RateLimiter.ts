import { Clock, Context, Effect, Layer } from "effect"
import { isIPv6 } from "node:net"
import type { IncomingMessage } from "node:http"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { dropOldest } from "#domain/BoundedMap.ts"
import { type Allowance, type Bucket, take } from "#domain/RateLimit.ts"
import { HttpPolicy } from "#services/HttpPolicy.ts"
import { monotonic } from "#services/RealTime.ts"

/** How many callers are remembered; the one that was silent longest is forgotten, which gives it a full bucket. */
const remembered = 50_000

/**
 * Whether tries at secrets, and other work of one purpose, have their own limit whatever `HttpPolicy` says. A reference, because a
 * test logs in more often than anybody else may.
 */
export const LimitedPurposes = Context.Reference<boolean>("turnpike/http/RateLimiter/LimitedPurposes", {
  defaultValue: () => true
})

/** Counts requests of this process, by credential or by address. */
export class RateLimiter extends Context.Service<
  RateLimiter,
  {
    /**
     * Takes one request from the caller's bucket. A bucket for one purpose holds `perMinute`, or what is usual where that is less,
     * and is counted also where requests are not limited otherwise; undefined when this one is not.
     */
    take(caller: string, perMinute?: number): Allowance | undefined
    /** The address that a request without a credential counts for. */
    addressOf(request: IncomingMessage): string
  }
>()("turnpike/http/RateLimiter") {
  static readonly layer = Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const { requestsPerMinute = Infinity, trustedProxies } = yield* HttpPolicy
      const limitedPurposes = yield* LimitedPurposes
      const clock = yield* Clock.Clock
      const buckets = new Map<string, Bucket>()
      const trusted = new Set(trustedProxies)

      const addressOf = (request: IncomingMessage): string => network(callerOf(request, trusted))

      return RateLimiter.of({
        addressOf,
        take(caller, perMinute = Infinity) {
          const limit = Math.min(limitedPurposes ? perMinute : Infinity, requestsPerMinute)
          if (limit === Infinity) return undefined
          const { bucket, allowance } = take(buckets.get(caller), limit, monotonic(clock))
          buckets.delete(caller)
          buckets.set(caller, bucket)
          dropOldest(buckets, remembered)
          return allowance
        }
      })
    })
  )
}

/** Takes one from a bucket that is for one purpose, beside those that every request counts in. */
export const spend = Effect.fnUntraced(function* (limiter: RateLimiter["Service"], purpose: string, perMinute: number) {
  const allowance = limiter.take(purpose, perMinute)
  if (allowance?.allowed !== false) return
  return yield* new RateLimitExceeded({ limit: allowance.limit, retry_after: allowance.retryAfter })
})

/** The whole address that a request comes from, when these peers are proxies of ours. */
export const callerOf = (request: IncomingMessage, trusted: ReadonlySet<string>): string => {
  const peer = plain(request.socket.remoteAddress ?? "")
  if (!trusted.has(peer)) return peer
  // The nearest hop that is no proxy of ours: what stands before it in the header is the caller's own invention.
  const hops = String(request.headers["x-forwarded-for"] ?? "")
    .split(",")
    .map((hop) => plain(hop.trim()))
  return hops.findLast((hop) => hop !== "" && !trusted.has(hop)) ?? peer
}

/** An address behind which a proxy names the port too, as some do: each connection comes from another one. */
const withPort = /^(?:\[([^\]]+)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/

const plain = (shown: string): string => {
  const [, v6, v4] = withPort.exec(shown) ?? []
  const address = v6 ?? v4 ?? shown
  return address.startsWith("::ffff:") ? address.slice(7) : address
}

/** IPv6 callers own whole networks: the first 64 bits count as one. */
const network = (address: string): string => {
  if (!isIPv6(address)) return address
  const [head = "", tail = ""] = address.split("::")
  const left = head.split(":").filter((part) => part !== "")
  const right = address.includes("::") ? tail.split(":").filter((part) => part !== "") : []
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0")
  return [...left, ...zeros, ...right].slice(0, 4).join(":")
}
