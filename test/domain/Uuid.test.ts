import { assert, describe, it } from "vitest"
import { stepId } from "#domain/PaymentToken.ts"
import { authorizationId } from "#domain/protocol/Authorization.ts"
import { uuidFrom } from "#domain/Uuid.ts"

describe("a uuid made of text", () => {
  it("is the same one in every release: payments and reservations are found by it", () => {
    assert.strictEqual(uuidFrom(""), "e3b0c442-98fc-8c14-9afb-f4c8996fb924")
    assert.strictEqual(stepId("p", 1, "hold"), uuidFrom("p 1 hold"))
    assert.strictEqual(authorizationId("base-sepolia", "a", "b", "c"), uuidFrom("base-sepolia a b c"))
  })
})
