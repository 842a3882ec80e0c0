import { assert, describe, it } from "vitest"
import { redact } from "#domain/Redaction.ts"
import { cpuTime } from "./CpuTime.ts"

describe("what is logged", () => {
  it("has no token in it, nor what begins one", () => {
    assert.strictEqual(redact("got eyJhbGciOi.eyJzdWIi.c2ln, refused"), "got eyJ[redacted], refused")
    assert.strictEqual(redact("/v1/eyJhbGciOi.eyJzdWIi."), "/v1/eyJ[redacted]")
    assert.strictEqual(redact("payment eyJ4NDAyVmVyc2lvbiI6Mn0"), "payment eyJ[redacted]")
  })

  it("has no payment in it, of whose base64 some letters are none of a token's", () => {
    const payment = "eyJ4NDAyVmVyc2lvbiI6Mn0+c2lnbmF0dXJl/c2lnbmF0dXJl=="
    assert.strictEqual(redact(`shown ${payment} here`), "shown eyJ[redacted] here")
  })

  it("has no credential of any kind in it, but the kind", () => {
    const kinds = ["pk_test", "pk_live", "psk_test", "agent_test", "sess", "portal_live", "refresh", "whsec", "pp"]
    for (const kind of kinds) {
      const [word = ""] = kind.split("_")
      assert.strictEqual(redact(`got ${kind}_0123456789abcdefABCDEF-_+/==, refused`), `got ${word}_[redacted], refused`)
    }
  })

  it("has of the headers with secrets the name alone", () => {
    const names = ["authorization", "cookie", "set-cookie", "x-payment-proof", "payment-signature", "x-payment"]
    for (const name of [...names, "payment-authorization", "sign-in-with-x"]) {
      assert.strictEqual(redact(`${name}: some secret`), `${name}: [redacted]`)
      assert.strictEqual(redact(`{"${name}":"some secret","a":1}`), `{"${name}":"[redacted]","a":1}`)
    }
  })

  it("has no signature in it by which a report may be read", () => {
    const address = `/scanner/reports/scan?expires=1&signature=${"aB3_-".repeat(8)}&a=1`
    assert.strictEqual(redact(address), "/scanner/reports/scan?expires=1&signature=[redacted]&a=1")
  })

  it("is read in no time, whatever a caller had in an address", () => {
    const before = cpuTime()
    redact(`GET /${"eyJyyyy-".repeat(20_000)} ${"eyJyyyy+".repeat(20_000)} failed`)
    assert.isBelow(cpuTime() - before, 500)
  })
})
