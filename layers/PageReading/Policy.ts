import { Context, Duration } from "effect"

/** What reading strangers' documents may take. */
export interface PageReadingPolicy {
  /** The program of the thread. */
  readonly program: URL
  /** Longest time for one document, for its turn before that, and for a thread to start. */
  readonly duration: Duration.Duration
  readonly turn: Duration.Duration
  readonly start: Duration.Duration
  /** How many may wait for their turn. */
  readonly waiting: number
  /** How long a thread without work is kept. */
  readonly idle: Duration.Duration
  /** The thread's heap, in megabytes. The young part is small, so that what is thrown away is thrown away soon. */
  readonly memory: { readonly young: number; readonly old: number }
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const PageReadingPolicy = Context.Reference<PageReadingPolicy>("turnpike/layers/PageReading/Policy", {
  defaultValue: () => ({
    program: new URL("./PageThread.ts", import.meta.url),
    duration: Duration.seconds(5),
    turn: Duration.seconds(8),
    start: Duration.seconds(15),
    waiting: 128,
    idle: Duration.seconds(30),
    memory: { young: 8, old: 96 }
  })
})
