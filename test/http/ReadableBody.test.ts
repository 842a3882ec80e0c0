import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parse } from "#http/ReadableBody.ts"

/** What is said of a body, and where; `read` when nothing is. */
const said = (text: string) => {
  const parsed = parse(text)
  if (Result.isSuccess(parsed)) return "read"
  const { failure } = parsed
  return failure._tag === "INVALID_REQUEST"
    ? failure.errors.map(({ message, path }) => `${path}: ${message}`).join()
    : `${failure.param}: ${failure._tag}`
}
const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
const list = (values: number) => `[${Array(values).fill("1").join()}]`

const unstorable = "has a character that cannot be stored (NUL or half a surrogate)"

describe("a JSON body", () => {
  it("may be 64 levels deep, and as often as it likes", () => {
    assert.strictEqual(said(nested(64)), "read")
    assert.strictEqual(said(`[${Array(100).fill(nested(63)).join()}]`), "read")
    assert.strictEqual(said(`[${Array(100).fill('{"a":{}}').join()}]`), "read")
    assert.strictEqual(said(nested(65)), ": is nested deeper than 64 levels")
    assert.strictEqual(said(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`), ": is nested deeper than 64 levels")
  })

  it("may have 20,000 values", () => {
    assert.strictEqual(said(list(20_000)), "read")
    assert.strictEqual(said(list(20_001)), ": has more than 20000 values")
    assert.strictEqual(said(`[${Array(19_999).fill("[]").join()}]`), "read")
  })

  it("has a list within a list among its values, although no comma stands before it", () => {
    const lists = (count: number) => `[${Array(count).fill(nested(51)).join()}]`
    assert.strictEqual(said(lists(390)), "read")
    assert.strictEqual(said(lists(400)), ": has more than 20000 values")
  })

  it("is measured by what stands outside of its texts", () => {
    const text = `\\"${"[{,:".repeat(30_000)}\\\\`
    assert.strictEqual(said(`{"a":"${text}","b":"${text}"}`), "read")
    assert.strictEqual(said(`{"\\":":1,"b":2}`), "read")
  })

  it("names each member once, wherever that is", () => {
    assert.strictEqual(said('{"a":1,"a":1}'), "a: must be given once")
    assert.strictEqual(said('{"a":[{"b":1},{"b":1,"c":{"d":1,"\\u0064":2}}]}'), "a.1.c.d: must be given once")
  })

  it("carries nothing that cannot be stored, in a text or in a name", () => {
    for (const text of ["\\u0000", "\\ud800", "\\uDFFF", "\\uDC00\\uD800"]) {
      assert.strictEqual(said(`{"a":["x",{"b":"${text}"}]}`), `a.1.b: ${unstorable}`, text)
      assert.strictEqual(said(`{"a":{"${text}":1}}`), `a: ${unstorable}`, text)
    }
    assert.strictEqual(said('{"a":"\\\\u0000 \\uD83D\\uDE00"}'), "read")
  })

  it("has no amount with more digits than a number keeps, or so small that it is read as 0", () => {
    assert.strictEqual(said('{"amount":1.000000000000001}'), "read")
    for (const amount of ["1.00000000000000000001", "9007199254740993", "1e-400", "1E-400"]) {
      assert.strictEqual(said(`{"amount":${amount}}`), "amount: INVALID_AMOUNT", amount)
      assert.strictEqual(
        said(`{"transfers":[{"amount":1},{"amount":${amount}}]}`),
        "transfers.1.amount: INVALID_AMOUNT"
      )
      assert.strictEqual(said(`{"other":[{"amount":${amount}}]}`), "read", amount)
    }
  })

  it("has no whole number in metadata that would come back as another one", () => {
    const rounded = "is a whole number that readers of JSON round: send it as text"
    for (const id of ["9007199254740993", "-9223372036854775807", "123456789012345678901234567890"]) {
      assert.strictEqual(said(`{"metadata":{"a":1,"orders":[{"id":${id}}]}}`), `metadata.orders.0.id: ${rounded}`, id)
      assert.strictEqual(said(`{"metadata":{"id":"${id}"}}`), "read", id)
    }
    for (const kept of [
      "9007199254740991",
      "-9007199254740992",
      "100000000000000000000",
      "0.10000000000000001",
      "1e-400"
    ]) {
      assert.strictEqual(said(`{"metadata":{"amount":${kept}}}`), "read", kept)
    }
  })
})
