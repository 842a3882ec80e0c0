import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { PaymentId } from "#domain/Ids.ts"
import { newId, newUuid, timedBy } from "#services/NewId.ts"

describe("a new id", () => {
  it("is a UUIDv7 of this moment", () => {
    const before = Date.now()
    const id = newUuid()
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const millis = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)
    assert.isAtLeast(millis, before)
    assert.isAtMost(millis, Date.now() + 1)
  })

  it("sorts after every id before it, many in one millisecond included", () => {
    const ids = Array.from({ length: 100_000 }, newUuid)
    assert.isTrue(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? "")))
  })

  it("has 32 random bits that the one before it does not tell", () => {
    const tails = Array.from({ length: 1_000 }, () => newUuid().slice(-8))
    assert.isAtLeast(new Set(tails).size, 999)
  })

  it.effect("carries the time of the clock that is followed, although ids were made by one that is ahead", () =>
    Effect.gen(function* () {
      const local = Clock.Clock.defaultValue()
      const ahead = { ...local, currentTimeMillisUnsafe: () => Date.now() + 3_600_000 }
      const millisOf = (id: string) => Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16)
      yield* timedBy(ahead)
      assert.isAbove(millisOf(newUuid()), Date.now() + 3_000_000)
      yield* timedBy(local)
      assert.isAtMost(millisOf(newUuid()), Date.now() + 1)
    })
  )

  it.effect("carries the brand of its schema", () =>
    Effect.map(newId(PaymentId), (id) => assert.strictEqual(PaymentId.make(id), id))
  )
})
