import { assert, describe, it } from "vitest"
import { headersForOrigin, headerValues, isEventStream, withHeaders } from "#domain/HttpHeaders.ts"

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

describe("fields by which a caller would speak for its proxy", () => {
  /** What an origin sees of fields with these names. */
  const seen = (...names: ReadonlyArray<string>) =>
    headersForOrigin(
      names.flatMap((name) => [name, "v"]),
      []
    ).filter((field, index) => index % 2 === 0 && field !== "Via")

  it("say nothing to an origin of another path than the one that was paid for", () => {
    const names = ["SCRIPT_NAME", "Script-Name", "X-Script-Name", "PATH_INFO", "X-Sendfile-Type", "X-Accel-Mapping"]
    assert.deepStrictEqual(seen(...names, "X-Path"), ["X-Path"])
  })

  it("say nothing of whom they were called by, whichever proxy has the name", () => {
    const names = [
      ...["Client-IP", "Client_IP", "Fly-Client-IP", "DO-Connecting-IP", "CF-Connecting-IPv6", "CF-Pseudo-IPv4"],
      ...["CloudFront-Viewer-Address", "X-Appengine-User-IP", "X-Azure-ClientIP", "X-Azure-SocketIP"],
      ...["X-Envoy-External-Address", "X-HTTP-Host-Override", "X-NF-Client-Connection-IP", "X-Originating-IP"],
      ...["X-Remote-Addr", "X-Remote-IP", "X-Vercel-Forwarded-For"]
    ]
    assert.deepStrictEqual(seen(...names, "X-IP"), ["X-IP"])
  })

  it("name no proxy for calls of the origin's own", () => {
    assert.deepStrictEqual(seen("Proxy", "X-Proxy"), ["X-Proxy"])
  })
})

describe("credentials of ours beside a caller's own, in one field", () => {
  const seen = (value: string) => headerValues(headersForOrigin(["Authorization", value], []), "authorization")

  it("are left out: an origin could cash a payment that bought nothing", () => {
    assert.strictEqual(seen("Bearer theirs, Payment eyJh"), "Bearer theirs")
    assert.strictEqual(seen('payment id="1", sig="2", Basic dXNlcg=='), " Basic dXNlcg==")
    assert.strictEqual(seen("Bearer theirs,Bearer pk_live_1"), "Bearer theirs")
    assert.isUndefined(seen("Bearer pk_test_1, Payment eyJh"))
  })

  it("are none where a credential has many parts", () => {
    const theirs = 'Digest username="pay, payment x", realm="a,b", uri="/", response="1"'
    assert.strictEqual(seen(theirs), theirs)
    assert.strictEqual(seen('Own "x, Payment eyJh'), 'Own "x')
  })
})
