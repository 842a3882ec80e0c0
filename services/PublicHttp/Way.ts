import { Duration } from "effect"
import type { Dispatcher } from "undici"
import { Places } from "./Places.ts"
import type { PublicHttpPolicy } from "./Policy.ts"

/** By which callers' requests leave, and how long they may take there (milliseconds). */
export interface Way {
  readonly dispatcher: Dispatcher
  /** Uses no connection twice: for calls that ended with a connection of others before them. Without it none is made again. */
  readonly fresh: Dispatcher | undefined
  readonly places: Places
  readonly idleMillis: number
  readonly stallMillis: number
  readonly placeMillis: number
}

/** The dispatcher opens as many connections as it is asked for: calls are counted by the endpoint they are for. */
export const wayOf = (dispatcher: Dispatcher, policy: PublicHttpPolicy, fresh?: Dispatcher): Way => ({
  dispatcher,
  fresh,
  places: new Places(policy.callsPerEndpoint, policy.callsPerPayer),
  idleMillis: Duration.toMillis(policy.idleTimeout),
  stallMillis: Duration.toMillis(policy.stallTimeout),
  placeMillis: Duration.toMillis(policy.placeTimeout)
})
