/** Bytes that arrive in pieces. The pieces are copied, so that none of them keeps the buffer in memory that it was cut from. */
export class Received {
  #buffer = new ArrayBuffer(0)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Makes room for so many at once. Memory that nothing is written to is not taken. */
  expect(size: number): void {
    if (size > this.#buffer.byteLength) this.#buffer = this.#buffer.transfer(size)
  }

  add(piece: Uint8Array): void {
    const size = this.#size + piece.length
    // Outgrown buffers are given back at once.
    if (size > this.#buffer.byteLength) this.expect(Math.max(size, 2 * this.#size, 16_384))
    new Uint8Array(this.#buffer).set(piece, this.#size)
    this.#size = size
  }

  /** The first `most` of them, in a buffer of their own; nothing is left here. */
  take(most = this.#size): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#buffer.transfer(Math.min(most, this.#size)))
    this.#buffer = new ArrayBuffer(0)
    this.#size = 0
    return bytes
  }
}

/** Shorter pieces may have been cut from a buffer that others use, too. */
const ownFrom = Buffer.poolSize / 2

/**
 * Gives back what was read from a socket, all of it, once this turn is over, and not when somebody collects garbage: sites send faster
 * than that.
 */
export const giveBack = ({ buffer, length }: Uint8Array): void => {
  const isOwn = length >= ownFrom || buffer.byteLength !== Buffer.poolSize
  if (!(buffer instanceof ArrayBuffer) || !isOwn) return
  setImmediate(() => {
    if (!buffer.detached) buffer.transfer(0)
  })
}
