import { assert, describe, it } from "vitest"
import { joined, keep } from "#services/PublicHttp/Pieces.ts"

/** The memory that is kept for some pieces: of what several are parts of, all of it once. */
const taken = (pieces: ReadonlyArray<Buffer>) =>
  [...new Set(pieces.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0)

describe("pieces that are kept", () => {
  it("take memory in proportion to their bytes, of a peer that sends one of them with 64 kB of something else", () => {
    const pieces: Array<Buffer> = []
    for (let piece = 0; piece < 4000; piece++) keep(pieces, Buffer.from(new ArrayBuffer(65_536), 7, 1).fill("x"))
    assert.isAtMost(taken(pieces), 300_000)
    assert.strictEqual(joined(pieces)?.toString(), "x".repeat(4000))
  })

  it("are few, of a peer that sends a byte at a time", () => {
    const pieces: Array<Buffer> = []
    for (let piece = 0; piece < 65_536; piece++) keep(pieces, Buffer.from(String(piece % 10)))
    assert.isBelow(pieces.length, 256)
    assert.strictEqual(joined(pieces)?.toString(), "0123456789".repeat(6554).slice(0, 65_536))
  })

  it("are what arrived where that is most of what was read", () => {
    const pieces: Array<Buffer> = []
    const read = new ArrayBuffer(65_536)
    keep(pieces, Buffer.from(read, 0, 60_000))
    assert.strictEqual(joined(pieces)?.buffer, read)
  })

  it("are nothing where there is none", () => assert.isUndefined(joined([])))
})
