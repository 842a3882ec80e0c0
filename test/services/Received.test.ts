import { assert, describe, it } from "vitest"
import { Received } from "#services/SiteVisits/Received.ts"

describe("bytes that arrive in pieces", () => {
  it("are one, in a buffer of their own, whatever becomes of the pieces", () => {
    const received = new Received()
    const all = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251)
    for (let from = 0; from < all.length; from += 777) {
      const piece = all.slice(from, from + 777)
      received.add(piece)
      piece.fill(0)
    }
    assert.strictEqual(received.size, all.length)
    const taken = received.take()
    assert.deepStrictEqual(taken, all)
    assert.strictEqual(taken.buffer.byteLength, all.length)
  })

  it("are cut where one says, and nothing of them is left", () => {
    const received = new Received()
    received.add(Uint8Array.of(1, 2, 3))
    assert.deepStrictEqual(received.take(2), Uint8Array.of(1, 2))
    assert.strictEqual(received.size, 0)
    received.expect(1_000)
    received.add(Uint8Array.of(4))
    assert.deepStrictEqual(received.take(9), Uint8Array.of(4))
  })
})
