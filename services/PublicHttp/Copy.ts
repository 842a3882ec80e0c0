import { keep } from "./Pieces.ts"

/** Keeps what passes by, up to a size. Answers once: with the whole, or with nothing as soon as it is too large. */
export class Copy {
  readonly #most: number
  readonly #then: (whole: Buffer | undefined) => void
  #chunks: Array<Buffer> | undefined = []
  #size = 0

  constructor(most: number, then: (whole: Buffer | undefined) => void) {
    this.#most = most
    this.#then = then
  }

  /** Whether it may have the whole, or has it. */
  get isOpen(): boolean {
    return this.#chunks !== undefined
  }

  add(chunk: Buffer) {
    if (this.#chunks === undefined) return
    this.#size += chunk.length
    if (this.#size <= this.#most) {
      keep(this.#chunks, chunk)
      return
    }
    this.#chunks = undefined
    this.#then(undefined)
  }

  end() {
    if (this.#chunks !== undefined) this.#then(Buffer.concat(this.#chunks))
  }
}
