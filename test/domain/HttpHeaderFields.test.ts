import { assert, describe, it } from "vitest"
import { headerValues, isEventStream, withHeaders } from "#domain/HttpHeaders.ts"

describe("an event stream", () => {
  it("is what its type says", () => {
    for (const type of [
      "text/event-stream",
      "Text/Event-Stream; charset=utf-8",
      "application/x-ndjson",
      "application/jsonl",
      "application/json-seq"
    ]) {
      assert.isTrue(isEventStream(["Content-Type", type]), type)
    }
    for (const type of ["application/json", "text/event-streams", "text/plain; text/event-stream"]) {
      assert.isFalse(isEventStream(["Content-Type", type]), type)
    }
    assert.isFalse(isEventStream([]))
  })
})

describe("the values of a field", () => {
  it("are one list, on however many lines", () => {
    const raw = ["Vary", "Accept", "X", "1", "vary", "Cookie", "Vary", "Origin"]
    assert.strictEqual(headerValues(raw, "vary"), "Accept, Cookie, Origin")
    assert.isUndefined(headerValues(raw, "cache-control"))
    assert.isUndefined(headerValues(raw, "date"))
  })
})

describe("adding header fields", () => {
  it("replaces fields of the same name", () => {
    assert.deepStrictEqual(withHeaders(["A", "1", "b", "2", "a", "3"], ["a", "new"]), ["b", "2", "a", "new"])
  })
})
