import { reading } from "../RealTime.ts"
import type { ForwardFailure, ForwardInput } from "./Exchange.ts"
import type { Way } from "./Way.ts"

const failures = { caller: "CallerSlow", origin: "Timeout", place: "Crowded" } as const satisfies Record<
  string,
  ForwardFailure
>

/**
 * Whom a call waits for until the body of its answer begins, so that a caller who sends slowly is not taken for an origin that
 * answers slowly. It changes with every part of a body: the timer is left alone meanwhile and looks, when it rings, whose time is
 * over.
 */
export class Turn {
  readonly #way: Way
  readonly #input: ForwardInput
  readonly #over: (failure: ForwardFailure) => void
  readonly #began = performance.now()
  #since = this.#began
  #whose: keyof typeof failures = "origin"
  #uploading: boolean
  #isLate = false
  #timer: NodeJS.Timeout | undefined

  constructor(way: Way, input: ForwardInput, uploading: boolean, over: (failure: ForwardFailure) => void) {
    this.#way = way
    this.#input = input
    this.#uploading = uploading
    this.#over = over
    this.#set(this.#end() - this.#began)
  }

  ofCaller() {
    this.#whose = "caller"
    this.#since = performance.now()
  }

  ofOrigin() {
    // What was set for a wait in line could ring too late.
    const stood = this.#whose === "place"
    this.#whose = "origin"
    this.#since = performance.now()
    if (stood) this.#set(this.#end() - this.#since)
  }

  inLine() {
    this.#whose = "place"
    this.#since = performance.now()
    this.#set(this.#end() - this.#since)
  }

  /** The request is whole: from here on the origin has all its time. */
  uploaded() {
    this.#uploading = false
    this.ofOrigin()
  }

  stop() {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #end(): number {
    const { timeoutMillis, totalMillis, uploadMillis } = this.#input
    const { placeMillis, stallMillis } = this.#way
    const all = this.#began + (this.#uploading ? Math.min(uploadMillis, totalMillis) : totalMillis)
    const own = this.#whose === "origin" ? timeoutMillis : this.#whose === "caller" ? stallMillis : placeMillis
    return Math.min(this.#since + own, all)
  }

  #look() {
    const left = this.#end() - performance.now()
    if (left <= 0 && this.#isLate) return this.#over(failures[this.#whose])
    // What came while this process stood still is not late.
    this.#isLate = left <= 0
    this.#set(this.#isLate ? reading : left)
  }

  /** While a body is on its way the turn may pass to somebody whose time is shorter. */
  #set(left: number) {
    clearTimeout(this.#timer)
    const soonest = this.#uploading ? Math.min(left, this.#input.timeoutMillis, this.#way.stallMillis) : left
    // @effect-diagnostics-next-line globalTimers:off
    this.#timer = setTimeout(() => this.#look(), soonest)
  }
}
