import { assert, describe, it } from "vitest"
import { discoveredResource, discoveryLimits, type Listing } from "#domain/Discovery.ts"
import { EndpointId } from "#domain/Ids.ts"
import { cpuTime } from "./CpuTime.ts"

const listing: Listing = {
  id: EndpointId.make("01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10"),
  base: "https://pay.example",
  path: "/x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
  description: "",
  method: "GET",
  open: false,
  price: 10_000n,
  currency: "USDC",
  network: "base-sepolia",
  schemes: ["exact"],
  mpp: true,
  asset: null,
  payTo: "0x51908f598a5e0d8f1a3babfa6df76f9704dad072",
  updatedAt: new Date(0)
}

describe("the list of what may be bought", () => {
  it("is written in no time, however long it and its descriptions are: strangers ask for it", () => {
    const long = Array.from({ length: 3 * discoveryLimits.lines }, () => ({
      ...listing,
      description: "x".repeat(1_000)
    }))
    const before = cpuTime()
    const written = long.map(discoveredResource)
    assert.isBelow(cpuTime() - before, 250)
    assert.lengthOf(written.at(-1)?.description ?? "", 400)
  })
})
