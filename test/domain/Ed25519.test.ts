import { assert, describe, it } from "@effect/vitest"
import { generateKeyPairSync, sign } from "node:crypto"
import { Schema } from "effect"
import { isPublicKey, isSigned, PublicKey, publicKeyOf, Signature } from "#domain/Ed25519.ts"

const accepts = (schema: Schema.Codec<string, string>, text: string) => Schema.is(schema)(text)
const bytesOf = (hex: string) => Buffer.from(hex, "hex")

/** Every encoding of a point of small order (from libsodium's list), and of one that is no point in its own spelling. */
const bad = {
  "the neutral element": `01${"00".repeat(31)}`,
  "order 2": `ec${"ff".repeat(30)}7f`,
  "order 4": "00".repeat(32),
  "order 4, other sign": `${"00".repeat(31)}80`,
  "order 8": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "order 8, other sign": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "order 8, other y": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "order 8, other y and sign": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "0 as p": `ed${"ff".repeat(30)}7f`,
  "1 as p + 1": `ee${"ff".repeat(30)}7f`,
  "3 as p + 3": `f0${"ff".repeat(30)}7f`,
  "the neutral element with a sign": `01${"00".repeat(30)}80`,
  "y of no point": `02${"00".repeat(31)}`
}

describe("Ed25519", () => {
  it("takes the public keys that Node makes, and their private halves make them again", () => {
    for (let round = 0; round < 50; round++) {
      const { privateKey, publicKey } = generateKeyPairSync("ed25519")
      const { d = "", x = "" } = privateKey.export({ format: "jwk" })
      const shown = Buffer.from(x, "base64url").toString("base64")
      assert.strictEqual(publicKey.export({ format: "jwk" }).x, x)
      assert.isTrue(accepts(PublicKey, shown))
      assert.strictEqual(publicKeyOf(Buffer.from(d, "base64url")), shown)
      const signature = sign(null, Buffer.from("grüezi"), privateKey).toString("base64")
      assert.isTrue(accepts(Signature, signature))
      assert.isTrue(isSigned(shown, "grüezi", signature))
      assert.isFalse(isSigned(shown, "gruezi", signature))
    }
  })

  it("is as RFC 8032 says", () => {
    const seed = bytesOf("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
    const key = bytesOf("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a").toString("base64")
    const signature = bytesOf(
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )
    assert.strictEqual(publicKeyOf(seed), key)
    assert.isTrue(isSigned(key, "", signature.toString("base64")))
  })

  for (const [what, hex] of Object.entries(bad)) {
    it(`refuses ${what} as a key`, () => {
      assert.isFalse(isPublicKey(bytesOf(hex)))
      assert.isFalse(accepts(PublicKey, bytesOf(hex).toString("base64")))
    })
  }

  it("refuses every other spelling of a key and of a signature", () => {
    const key = publicKeyOf(Buffer.alloc(32, 0))
    const bytes = Buffer.from(key, "base64")
    for (const text of [
      "",
      key.slice(0, -1),
      `${key}=`,
      ` ${key}`,
      `${key}\n`,
      bytes.toString("hex"),
      `${key.slice(0, 42)}${String.fromCharCode(key.charCodeAt(42) + 1)}=`,
      bytes.subarray(1).toString("base64"),
      Buffer.concat([bytes, Buffer.alloc(1)]).toString("base64")
    ]) {
      assert.isFalse(accepts(PublicKey, text), text)
    }
    assert.isFalse(isPublicKey(bytes.subarray(1)))
    assert.isTrue(accepts(Signature, Buffer.alloc(64, 251).toString("base64")))
    assert.isFalse(accepts(Signature, Buffer.alloc(64, 251).toString("base64url")))
    assert.isFalse(accepts(Signature, Buffer.alloc(63).toString("base64")))
  })
})
