import type { Effect, Option } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import type { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import type * as Billing from "./Billing.ts"
import type { Claim, Kind, Words } from "./Claims.ts"
import type { WorkLimits } from "./Policy.ts"

/** A record, and its place among those of its domain. */
export interface Stored<A> {
  readonly place: bigint
  readonly record: A
}

/** A kind of work on a site. `variant` tells orders for one domain apart that one record does not answer. */
export interface Work<A, F> {
  readonly kind: Kind
  readonly credits: number
  readonly limits: WorkLimits
  /** The place of the newest; zero where there is none. */
  readonly last: (domain: string, variant: string) => Effect.Effect<bigint>
  readonly newest: (domain: string, variant: string) => Effect.Effect<Option.Option<Stored<A>>>
  readonly look: (claim: Claim, words: Words) => Effect.Effect<F, DomainNotAllowed | ScannerUnavailable>
  /** Joins the caller's transaction. */
  readonly store: (claim: Claim, findings: F, words: Words) => Effect.Effect<A>
  /** Words that came too late for the record. Joins the caller's transaction. */
  readonly remember: (domain: string, words: Words) => Effect.Effect<void>
  readonly ended: (record: A) => Billing.Ended
}

export interface Wanted {
  readonly domain: string
  readonly variant: string
  readonly words: Words
  /** The key under which it is charged. */
  readonly claim?: IdempotencyClaim | undefined
}
