/** One share of a memory that many use. */
export interface Held {
  /** How much more may be kept. */
  room(): number
  add(bytes: number): void
  release(): void
}

/**
 * What all visits together keep of sites. A little is everybody's; when many want much at once, what is beyond is cut, so that no
 * number of hostile sites takes more than a bound, and none keeps an ordinary page from being read.
 */
export class Memory {
  readonly #most: number
  readonly #own: number
  #held = 0

  /** `most` for all together, and `own` for each in any case. */
  constructor(most: number, own: number) {
    this.#most = most
    this.#own = own
  }

  hold(): Held {
    let held = 0
    return {
      room: () => Math.max(this.#own - held, this.#most - this.#held, 0),
      add: (bytes) => {
        held += bytes
        this.#held += bytes
      },
      release: () => {
        this.#held -= held
        held = 0
      }
    }
  }
}
