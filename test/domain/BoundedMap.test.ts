import { assert, describe, it } from "@effect/vitest"
import { dropOldest } from "#domain/BoundedMap.ts"

const numbered = (count: number) => new Map(Array.from({ length: count }, (_, number) => [number, "value"]))

describe("dropOldest", () => {
  it("leaves a map alone that holds no more than it may", () => {
    const map = numbered(64)
    dropOldest(map, 64)
    assert.strictEqual(map.size, 64)
  })

  it("makes room for a sixteenth once there is one too many, and keeps what came last", () => {
    const map = numbered(65)
    dropOldest(map, 64)
    assert.deepStrictEqual(
      [...map.keys()],
      Array.from({ length: 60 }, (_, number) => number + 5)
    )
  })

  it("keeps the newest entry, however little a map may hold", () => {
    const map = numbered(2)
    dropOldest(map, 1)
    assert.deepStrictEqual([...map.keys()], [1])
  })
})
