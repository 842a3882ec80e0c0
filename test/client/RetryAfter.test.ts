import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { now, retryAfter } from "#client/Time.ts"

const asked = (text: string) => retryAfter(new Response(null, { headers: { "retry-after": text } }))

describe("what a server asks to wait", () => {
  const { TZ } = process.env
  // Where a date that does not say its zone would be hours off.
  beforeAll(() => {
    process.env.TZ = "Asia/Tokyo"
  })
  afterAll(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })

  it("is a number of seconds", () => {
    assert.deepStrictEqual([asked("0"), asked(" 120 ")], [0, 120_000])
  })

  for (const text of [
    "Thu, 01 Jan 2099 00:00:00 GMT",
    "Thursday, 01-Jan-2099 00:00:00 GMT",
    "Thu Jan  1 00:00:00 2099"
  ]) {
    it(`is until a date, in UTC whatever the clock here: ${text}`, () => {
      const before = now()
      const wait = asked(text)
      assert.isAtMost(wait ?? Number.NaN, Date.UTC(2099, 0) - before)
      assert.isAtLeast(wait ?? Number.NaN, Date.UTC(2099, 0) - now())
    })
  }

  it("is nothing until a date gone by", () => {
    assert.strictEqual(asked("Wed, 21 Oct 2015 07:28:00 GMT"), 0)
  })

  for (const text of ["", "-5", "1.5", "60.5", "1, 1", "soon 5", "120 seconds", "1:x"]) {
    it(`is unknown where it is neither: "${text}"`, () => {
      assert.isUndefined(asked(text))
    })
  }
})
