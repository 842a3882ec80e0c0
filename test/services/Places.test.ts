import { assert, describe, it } from "vitest"
import { type Entrant, Places } from "#services/PublicHttp/Places.ts"

/** A call of this payer's, and what it heard. */
const callOf = (payer: string) => {
  const heard: Array<string> = []
  const call: Entrant = {
    endpoint: "weather",
    payer,
    enter: () => heard.push("in"),
    stand: () => heard.push("in line"),
    turnAway: (reason) => heard.push(reason)
  }
  return { call, heard }
}

describe("places with an origin", () => {
  it("are counted for each payer one by one, as its calls come and as they leave", () => {
    const places = new Places(10, 2)
    const come = (payer: string) => {
      const { call, heard } = callOf(payer)
      places.take(call)
      return { call, heard }
    }
    const first = come("a")
    assert.deepStrictEqual(
      [first, come("a"), come("a"), come("b")].map(({ heard }) => heard.join()),
      ["in", "in", "PayerCrowded", "in"]
    )
    places.leave(first.call)
    assert.deepStrictEqual(
      [come("a"), come("a")].map(({ heard }) => heard.join()),
      ["in", "PayerCrowded"]
    )
  })

  it("count for their payer while they are waited for", () => {
    const places = new Places(2, 2)
    const calls = ["a", "c", "b", "b", "b"].map(callOf)
    for (const { call } of calls) places.take(call)
    assert.deepStrictEqual(
      calls.map(({ heard }) => heard.join()),
      ["in", "in", "in line", "in line", "PayerCrowded"]
    )
  })
})
