import { Clock, Effect } from "effect"
import type { IncomingMessage } from "node:http"
import { RateLimitExceeded } from "#api/Refusals.ts"
import { dropOldest } from "#domain/BoundedMap.ts"
import { monotonic } from "#services/RealTime.ts"
import { RateLimiter } from "./RateLimiter.ts"

/** How many addresses that have to wait are remembered. */
const remembered = 10_000

/**
 * Strangers can make us work for nothing, as by payments whose signature has to be checked: addresses that do something of this kind all
 * the time wait. What is paid for is never limited here.
 */
export const make = Effect.fnUntraced(function* (kind: string, perMinute?: number) {
  const limiter = yield* RateLimiter
  const clock = yield* Clock.Clock
  // Not the refusals themselves: an error keeps what was on the stack when it was made, such as the request and its connection.
  const waiting = new Map<string, { readonly limit: number; readonly retry_after: number; readonly until: number }>()

  return {
    /** Why this caller's are not looked at now; undefined when they are. */
    refusal(request: IncomingMessage): RateLimitExceeded | undefined {
      if (waiting.size === 0) return undefined
      const address = limiter.addressOf(request)
      const wait = waiting.get(address)
      if (wait === undefined) return undefined
      const { limit, retry_after, until } = wait
      if (until > monotonic(clock)) return new RateLimitExceeded({ limit, retry_after })
      waiting.delete(address)
      return undefined
    },
    /** This caller has done it once more. */
    count(request: IncomingMessage): void {
      const address = limiter.addressOf(request)
      const allowance = limiter.take(`${kind} ${address}`, perMinute)
      if (allowance === undefined || allowance.allowed) return
      const { limit, retryAfter } = allowance
      waiting.set(address, { limit, retry_after: retryAfter, until: monotonic(clock) + retryAfter * 1000 })
      dropOldest(waiting, remembered)
    }
  }
})
