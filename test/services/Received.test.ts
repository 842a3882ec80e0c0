import { setImmediate } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import { giveBack, Received } from "#services/SiteVisits/Received.ts"

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

  it("are given back when their turn is over, but never with what others have in the same buffer", async () => {
    const own = new Uint8Array(100_000).fill(1)
    const [head, body] = [own.subarray(0, 100), own.subarray(100)]
    const pooled = Buffer.from("pooled")
    const neighbour = Buffer.from("neighbour")
    giveBack(head)
    giveBack(body)
    giveBack(pooled)
    assert.deepStrictEqual([...body.subarray(0, 2)], [1, 1])
    await setImmediate()
    assert.strictEqual(own.buffer.byteLength, 0)
    assert.deepStrictEqual([String(pooled), String(neighbour)], ["pooled", "neighbour"])
  })
})
