import { assert, describe, it } from "@effect/vitest"
import { Bodies } from "#services/WebhookDeliveries/Bodies.ts"

describe("the bodies that were sent last", () => {
  it("take the bytes of their text, and nothing of a pool", () => {
    const body = new Bodies(1000).remember("1", "à peu près")
    assert.strictEqual(body.toString(), "à peu près")
    assert.strictEqual(body.buffer.byteLength, body.byteLength)
  })

  it("are forgotten, the oldest first, where they would take more than they may", () => {
    const bodies = new Bodies(250)
    for (const event of ["1", "2", "3"]) bodies.remember(event, "x".repeat(100))
    assert.isUndefined(bodies.get("1"))
    assert.lengthOf(bodies.get("2") ?? "", 100)
    assert.lengthOf(bodies.get("3") ?? "", 100)
  })

  it("are counted once, however often they are read", () => {
    const bodies = new Bodies(250)
    for (const event of ["1", "1", "1", "2"]) bodies.remember(event, "x".repeat(100))
    assert.lengthOf(bodies.get("1") ?? "", 100)
    assert.lengthOf(bodies.get("2") ?? "", 100)
  })
})
