import { assert, describe, it } from "vitest"
import { ofAbsoluteForm } from "#domain/RequestTarget.ts"

const names = new Set(["pay.example", "127.0.0.1:4020", "[::1]:4020"])

describe("a request target in absolute-form", () => {
  it("is the path and query behind its authority, byte for byte", () => {
    for (const rest of ["/", "/a//b/../%2e%2f;c?d=%zz#e", "/?", "//pay.example/a", "/http://b/"]) {
      assert.deepStrictEqual(ofAbsoluteForm(`http://pay.example${rest}`, undefined, names), {
        host: "pay.example",
        target: rest
      })
    }
    assert.strictEqual(ofAbsoluteForm("http://pay.example", undefined, names)?.target, "/")
    assert.strictEqual(ofAbsoluteForm("http://pay.example?a=1", undefined, names)?.target, "/?a=1")
  })

  it("is for a host of ours by its name in any case, its usual port, and for the one it is sent to", () => {
    for (const authority of ["PAY.example", "pay.example:80", "127.0.0.1:4020", "[::1]:4020"]) {
      assert.strictEqual(ofAbsoluteForm(`HTTP://${authority}/a`, "elsewhere", names)?.target, "/a", authority)
    }
    assert.strictEqual(ofAbsoluteForm("https://pay.example:443/a", undefined, names)?.target, "/a")
    assert.strictEqual(ofAbsoluteForm("http://Front:8080/a", "front:8080", names)?.target, "/a")
  })

  it("is nobody's otherwise, and neither is any other form", () => {
    for (const target of [
      "http://elsewhere/a",
      "http://pay.example:8080/a",
      "http://pay.example:443/a",
      "http://pay.example./a",
      "http://user@pay.example/a",
      "http://pay.example@elsewhere/a",
      "http://pay.example\\a",
      "http://pay.example#a",
      "http://pay.example:/a",
      "http:///a",
      "http:/pay.example/a",
      "ftp://pay.example/a",
      "//pay.example/a",
      "pay.example:80",
      "/a?to=http://pay.example/b",
      "/a",
      "*",
      ""
    ]) {
      assert.isUndefined(ofAbsoluteForm(target, "front", names), target)
    }
    assert.isUndefined(ofAbsoluteForm("http://pay.example:8080/a", "pay.example", names))
  })
})
