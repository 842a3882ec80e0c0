import { assert, it } from "@effect/vitest"
import * as Room from "#services/Room.ts"

it("of what somebody has, what he does not leave goes on counting for his share", () => {
  const { enter, leave } = Room.make(8, 0.5)
  for (let place = 0; place < 4; place++) assert.isTrue(enter("a"))
  leave("a")
  assert.isTrue(enter("a"))
  assert.isFalse(enter("a"))
})
