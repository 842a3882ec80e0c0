import { Context, Duration } from "effect"
import type { Name } from "./Calls.ts"

/** What the process that handles what strangers wrote may take. */
export interface QuarantinePolicy {
  /** Its program. */
  readonly program: URL
  /** How long it may take to start, and to end. */
  readonly start: Duration.Duration
  readonly end: Duration.Duration
  /** How long one without work is kept. */
  readonly idle: Duration.Duration
  /** Longest time for each call. Every one ends well before that by itself, unless the process does nothing any more. */
  readonly patience: Readonly<Record<Name, Duration.Duration>>
  /** Its heap, in megabytes; what it may hold in all, in bytes; and how often that is looked at. Its browser has bounds of its own. */
  readonly memory: { readonly heap: number; readonly most: number; readonly every: Duration.Duration }
}

const step = Duration.seconds(60)

/** A reference, so a deployment or a test changes it without touching the code. */
export const QuarantinePolicy = Context.Reference<QuarantinePolicy>("turnpike/layers/Quarantine/Policy", {
  defaultValue: () => ({
    program: new URL("./Program.ts", import.meta.url),
    start: Duration.seconds(20),
    end: Duration.seconds(9),
    idle: Duration.seconds(75),
    patience: {
      read: Duration.seconds(60),
      open: Duration.minutes(2),
      close: Duration.seconds(20),
      show: step,
      later: step,
      cart: step,
      checkout: step,
      payment: step,
      cleanUp: step
    },
    memory: { heap: 512, most: 1_000_000_000, every: Duration.seconds(1) }
  })
})
