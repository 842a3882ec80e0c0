import { assert, describe, it } from "vitest"
import { redact } from "#domain/Redaction.ts"
import { cpuTime } from "./CpuTime.ts"

describe("what is logged", () => {
  it("has no token in it, nor what begins one", () => {
    assert.strictEqual(redact("got eyJhbGciOi.eyJzdWIi.c2ln, refused"), "got eyJ[redacted], refused")
    assert.strictEqual(redact("/v1/eyJhbGciOi.eyJzdWIi."), "/v1/eyJ[redacted]")
    assert.strictEqual(redact("payment eyJ4NDAyVmVyc2lvbiI6Mn0"), "payment eyJ[redacted]")
  })

  it("is read in no time, whatever a caller had in an address", () => {
    const before = cpuTime()
    redact(`GET /${"eyJyyyy-".repeat(20_000)} failed`)
    assert.isBelow(cpuTime() - before, 500)
  })
})
