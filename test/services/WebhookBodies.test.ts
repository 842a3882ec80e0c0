import { assert, describe, it } from "@effect/vitest"
import { Bodies } from "#services/WebhookDeliveries/Bodies.ts"

describe("the bodies that were sent last", () => {
  it("take the bytes of their text, and nothing of a pool", () => {
    const body = new Bodies(1000).remember(1n, "à peu près")
    assert.strictEqual(body.toString(), "à peu près")
    assert.strictEqual(body.buffer.byteLength, body.byteLength)
  })

  it("are forgotten, the oldest first, where they would take more than they may", () => {
    const bodies = new Bodies(250)
    for (const seq of [1n, 2n, 3n]) bodies.remember(seq, "x".repeat(100))
    assert.isUndefined(bodies.get(1n))
    assert.lengthOf(bodies.get(2n) ?? "", 100)
    assert.lengthOf(bodies.get(3n) ?? "", 100)
  })

  it("are counted once, however often they are read", () => {
    const bodies = new Bodies(250)
    for (const seq of [1n, 1n, 1n, 2n]) bodies.remember(seq, "x".repeat(100))
    assert.lengthOf(bodies.get(1n) ?? "", 100)
    assert.lengthOf(bodies.get(2n) ?? "", 100)
  })
})
