import { assert, describe, it } from "@effect/vitest"
import { readChallenge, rotationTexts, sealChallenge } from "#domain/AgentProof.ts"
import { AgentId, toTypeId } from "#domain/Ids.ts"
import { tokenKey } from "#domain/PaymentToken.ts"

const key = tokenKey(new Uint8Array(32).fill(1))
const agent = AgentId.to.make("01900000-0000-7000-8000-000000000001")
const other = AgentId.to.make("01900000-0000-7000-8000-000000000002")
const nonce = new Uint8Array(16).fill(5)
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=. "
const text = sealChallenge(key, agent, nonce, 1_700_000_000_123)

describe("a challenge", () => {
  it("says what it was made from, to whoever has the key and knows the agent", () => {
    assert.match(text, /^challenge_[\w-]+$/)
    const read = readChallenge(key, agent, text)
    assert.deepStrictEqual(read, { nonce: "05050505-0505-0505-0505-050505050505", expiresAt: 1_700_000_000_123 })
    assert.isUndefined(readChallenge(key, other, text))
    assert.isUndefined(readChallenge(tokenKey(new Uint8Array(32).fill(2)), agent, text))
  })

  it("has one spelling: with any other character at any place it is none", () => {
    for (let at = 0; at < text.length; at++) {
      for (const letter of letters) {
        if (letter === text[at]) continue
        assert.isUndefined(readChallenge(key, agent, text.slice(0, at) + letter + text.slice(at + 1)))
      }
    }
    for (const one of ["", "challenge_", `${text}A`, text.slice(0, -1), `${text}=`, ` ${text}`, `${text}\n`]) {
      assert.isUndefined(readChallenge(key, agent, one))
    }
  })

  it("is never what a key signs to be replaced", () => {
    assert.deepStrictEqual(rotationTexts(agent), [`rotate:${toTypeId("agt", agent)}`, `rotate:${agent}`])
    assert.isFalse(text.startsWith("rotate:"))
  })
})
