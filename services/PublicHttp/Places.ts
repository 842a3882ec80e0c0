import { outsideUndici } from "./Failure.ts"

/** A call that wants to go on to an origin. */
export interface Entrant {
  readonly endpoint: string
  readonly payer: string
  enter(): void
  /** It has to stand in line, and will `enter` unless it leaves before. */
  stand(): void
  turnAway(reason: "Crowded" | "PayerCrowded"): void
}

interface Door {
  calls: number
  readonly waiting: Set<Entrant>
  /** Calls of each payer, also those that wait. */
  readonly payers: Map<string, number>
}

/** How many endpoints without a call are remembered, so that the next one finds everything in place. */
const remembered = 1000

/**
 * How many calls of one endpoint may be with its origin at once, and how many of one payer. Endpoints share connections to one origin
 * and never places: whoever fills an endpoint is in nobody else's way.
 */
export class Places {
  readonly #most: number
  readonly #mostOfPayer: number
  readonly #doors = new Map<string, Door>()

  constructor(most: number, mostOfPayer: number) {
    this.#most = most
    this.#mostOfPayer = mostOfPayer
  }

  /** Calls back at once. As many as may be there may wait. */
  take(call: Entrant): void {
    const door = this.#doorOf(call.endpoint)
    const own = door.payers.get(call.payer) ?? 0
    const isFull = door.calls >= this.#most
    if (own >= this.#mostOfPayer) call.turnAway("PayerCrowded")
    else if (isFull && door.waiting.size >= this.#most) call.turnAway("Crowded")
    else {
      door.payers.set(call.payer, own + 1)
      if (isFull) door.waiting.add(call)
      else door.calls++
      if (isFull) call.stand()
      else call.enter()
    }
  }

  /** Of a call that entered or stands in line; once. */
  leave(call: Entrant): void {
    const { endpoint, payer } = call
    const door = this.#doorOf(endpoint)
    const own = door.payers.get(payer) ?? 0
    if (own > 1) door.payers.set(payer, own - 1)
    else door.payers.delete(payer)
    if (!door.waiting.delete(call)) door.calls--
    if (door.waiting.size > 0 && door.calls < this.#most) this.#admitOne(door)
    if (door.calls === 0 && this.#doors.size > remembered) this.#doors.delete(endpoint)
  }

  #admitOne(door: Door) {
    const [next] = door.waiting
    if (next === undefined) return
    door.waiting.delete(next)
    door.calls++
    outsideUndici(() => next.enter())
  }

  #doorOf(endpoint: string): Door {
    const known = this.#doors.get(endpoint)
    if (known !== undefined) return known
    const door: Door = { calls: 0, waiting: new Set(), payers: new Map() }
    this.#doors.set(endpoint, door)
    return door
  }
}
