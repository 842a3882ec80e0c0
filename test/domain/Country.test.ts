import { assert, describe, it } from "@effect/vitest"
import { isCountry } from "#domain/Country.ts"

const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index))
const pairs = letters.flatMap((first) => letters.map((second) => first + second))

describe("a country's code", () => {
  it("is one of the 249 that are assigned, in any case", () => {
    assert.strictEqual(pairs.filter(isCountry).length, 249)
    for (const code of ["US", "us", "De", "BR", "SS", "BQ", "AX", "ZW"]) assert.isTrue(isCountry(code), code)
  })
  it("is none that is reserved, left to users, withdrawn or no code at all", () => {
    const none = ["ZZ", "XK", "UK", "EU", "UN", "AN", "YU", "SU", "AA", "QM", "XX", "USA", "U", "", " US", "00"]
    for (const code of none) assert.isFalse(isCountry(code), code)
  })
})
