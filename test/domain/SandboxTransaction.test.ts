import { assert, describe, it } from "@effect/vitest"
import { decodeBase58, networksOf } from "#domain/Network.ts"
import { sandboxTransaction } from "#domain/SandboxTransaction.ts"

describe("a transaction of the sandbox", () => {
  for (const network of [...networksOf("sandbox"), ...networksOf("live")]) {
    it(`has the form of ${network}, and is the same for one payment and another for each`, () => {
      const of = (payment: string) => sandboxTransaction(network, payment)
      assert.strictEqual(of("one"), of("one"))
      assert.notStrictEqual(of("one"), of("other"))
      if (network.startsWith("base-")) return assert.match(of("one"), /^0x[0-9a-f]{64}$/)
      const bytes = decodeBase58(of("one")) ?? assert.fail("it is base58")
      assert.strictEqual(bytes.length, 64)
      assert.notDeepEqual(bytes.subarray(0, 32), bytes.subarray(32))
    })
  }
})
