/**
 * The bodies that were sent last, by their event's id: at its place in the log another event may stand by now, where the database is back
 * at an earlier state. At most `most` bytes of them, and no memory beside these: a buffer that the runtime cuts from its pool would keep
 * all of the pool's 64 KB for as long as it is remembered itself.
 */
export class Bodies {
  readonly #most: number
  readonly #known = new Map<string, Buffer>()
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  get(event: string): Buffer | undefined {
    return this.#known.get(event)
  }

  /** The body of this text, which is remembered until it is the oldest and there is no room for it. */
  remember(event: string, text: string): Buffer {
    const before = this.#known.get(event)
    if (before !== undefined) return before
    const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
    body.write(text)
    this.#known.set(event, body)
    this.#size += body.length
    for (const [oldest, old] of this.#known) {
      if (this.#size <= this.#most) break
      this.#known.delete(oldest)
      this.#size -= old.length
    }
    return body
  }
}
