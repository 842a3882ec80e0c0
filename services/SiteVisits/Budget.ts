import { Duration } from "effect"
import type { Challenge } from "#domain/page/Challenge.ts"
import type { RequestMade } from "#domain/Scan.ts"
import { enoughRead, type Failure } from "./Failure.ts"
import type { Held } from "./Memory.ts"
import type { SiteRequest, VisitLimits } from "./Visit.ts"

/** As whom something is asked. A comparison is the one look as a browser that is allowed after a wall. */
export interface Turn {
  readonly as: "agent" | "browser"
  readonly isComparison: boolean
  /** What puts things back may also read what is kept for that. */
  readonly isTidying: boolean
}

/** What one visit may still do, and what it did. Time is in milliseconds of a clock that only goes forward. */
export class Budget {
  readonly #limits: VisitLimits
  readonly #now: () => number
  readonly #endsAt: number
  readonly #kept: Held
  #requests: number
  #bytes: number
  #challenge: Challenge | undefined
  #waits: Failure | undefined
  #compared = false
  #browserStopped: Failure | undefined
  #lastStart = Number.NEGATIVE_INFINITY
  readonly #made: Array<RequestMade> = []

  constructor(limits: VisitLimits, bytes: number, kept: Held, now: () => number) {
    this.#kept = kept
    this.#limits = limits
    this.#now = now
    this.#endsAt = now() + Duration.toMillis(limits.duration)
    this.#requests = limits.requests
    this.#bytes = bytes
  }

  get challenge(): Challenge | undefined {
    return this.#challenge
  }

  /** How many bytes of bodies may still be read. */
  bytes({ isTidying }: Turn): number {
    const reserve = isTidying ? 0 : (this.#limits.reserveBytes ?? 0)
    return Math.min(this.#bytes - reserve, this.#kept.room())
  }

  get made(): ReadonlyArray<RequestMade> {
    return this.#made
  }

  remaining(): number {
    return Math.max(0, this.#endsAt - this.#now())
  }

  /** Takes the turn of a whole ask, redirects included. */
  turn({ as = "agent", isTidying = false }: Pick<SiteRequest, "as" | "isTidying">): Turn {
    const isComparison = as === "browser" && this.#isStopped() && !this.#compared
    if (isComparison) this.#compared = true
    return { as, isComparison, isTidying }
  }

  /** Why nothing more may be asked; undefined when it may. */
  refusal(turn: Turn): Failure | undefined {
    const { as, isComparison } = turn
    if (as === "browser" && this.#browserStopped !== undefined) return this.#browserStopped
    if (this.#isStopped() && !isComparison) {
      return this.#challenge === undefined ? this.#waits : stoppedBy(this.#challenge)
    }
    if (this.remaining() <= 0) return outOfTime
    if (this.#requests <= 0) return { reason: "budget", detail: `all ${this.#limits.requests} requests are spent` }
    return this.bytes(turn) <= 0 ? enoughRead : undefined
  }

  /** How long the next request has to wait for its place. */
  wait(): number {
    return Math.max(0, this.#lastStart + Duration.toMillis(this.#limits.pace) - this.#now())
  }

  /** A request begins. What is said of it is put in its place when it is known. */
  begin(made: RequestMade): (known: RequestMade) => void {
    this.#requests--
    this.#lastStart = this.#now()
    const at = this.#made.push(made) - 1
    return (known) => {
      this.#made[at] = known
    }
  }

  read(bytes: number) {
    this.#bytes -= bytes
    this.#kept.add(bytes)
  }

  /** What was kept was let go. It counts among what the visit reads all the same. */
  release(bytes: number) {
    this.#kept.add(-bytes)
  }

  /** A wall for us ends the visit; one for a browser only ends the comparison. */
  challenged(as: Turn["as"], challenge: Challenge) {
    if (as === "agent") this.#challenge ??= challenge
    else this.#browserStopped ??= stoppedBy(challenge)
  }

  /** The site asks for patience. Having been told for how long, we do not even compare. */
  mustWait(as: Turn["as"], status: number, retryAfter: string | undefined) {
    const detail = retryAfter === undefined ? String(status) : `${status}, Retry-After: ${retryAfter.slice(0, 40)}`
    const failure: Failure = { reason: "rate_limited", detail }
    if (as === "agent") this.#waits ??= failure
    if (as === "browser" || retryAfter !== undefined) this.#browserStopped ??= failure
  }

  #isStopped() {
    return this.#challenge !== undefined || this.#waits !== undefined
  }
}

const stoppedBy = ({ marker, vendor }: Challenge): Failure => ({ reason: "challenged", detail: `${vendor}: ${marker}` })

export const outOfTime: Failure = { reason: "deadline", detail: "the time for this visit is over" }
