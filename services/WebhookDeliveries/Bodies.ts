/**
 * The bodies that were sent last, by the place of their event in the log: at most `most` bytes of them, and no memory beside these. A
 * buffer that the runtime cuts from its pool would keep all of the pool's 64 KB for as long as it is remembered itself.
 */
export class Bodies {
  readonly #most: number
  readonly #known = new Map<bigint, Buffer>()
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  get(seq: bigint): Buffer | undefined {
    return this.#known.get(seq)
  }

  /** The body of this text, which is remembered until it is the oldest and there is no room for it. */
  remember(seq: bigint, text: string): Buffer {
    const before = this.#known.get(seq)
    if (before !== undefined) return before
    const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    body.write(text)
    this.#known.set(seq, body)
    this.#size += body.length
    for (const [oldest, old] of this.#known) {
      if (this.#size <= this.#most) break
      this.#known.delete(oldest)
      this.#size -= old.length
    }
    return body
  }
}
