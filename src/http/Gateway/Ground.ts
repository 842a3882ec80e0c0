import type { Effect, Exit } from "effect"
import type { Gateway } from "#services/Gateway.ts"
import type { Payments } from "#services/Payments.ts"
import type { PublicHttp } from "#services/PublicHttp.ts"

/** What the byte path stands on. `run` starts an effect and tells how it ended. */
export interface Ground {
  readonly payments: Payments["Service"]
  readonly gateway: Gateway["Service"]
  /** Sends the call to where it is answered. */
  readonly forward: PublicHttp["Service"]["forward"]
  /** How long a caller may take for its request (milliseconds); as long does the payment belong to its call. */
  readonly uploadMillis: number
  /** How many calls of one payer may be with an endpoint's origin at once. */
  readonly callsPerPayer: number
  readonly host: string
  readonly scheme: string
  /** Peers that are proxies of ours. */
  readonly trusted: ReadonlySet<string>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Whole milliseconds that only go on: by these it is told how long something lasts. */
  readonly passed: () => number
  readonly run: <A, E>(effect: Effect.Effect<A, E>, onExit: (exit: Exit.Exit<A, E>) => void) => void
}
