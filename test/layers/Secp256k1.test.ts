import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { privateKeyToAccount } from "viem/accounts"
import * as Secp256k1 from "#layers/Secp256k1.ts"
import { SignatureRecovery } from "#services/SignatureRecovery.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest()
const hex = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : `0x${Buffer.from(bytes).toString("hex")}`

const both = Effect.all([Secp256k1.native, Secp256k1.wasm])

describe("recovering who signed", () => {
  it.effect("is done by the addon where it is compiled for this machine", () =>
    Effect.gen(function* () {
      const { implementation } = yield* SignatureRecovery
      const compiled = ["linux-x64", "darwin-arm64", "win32-x64"].includes(`${process.platform}-${process.arch}`)
      if (compiled) assert.strictEqual(implementation, "native")
    }).pipe(Effect.provide(Secp256k1.layer))
  )

  it.effect("gives the address of the key, in both implementations", () =>
    Effect.gen(function* () {
      const [native, wasm] = yield* both
      assert.deepStrictEqual([native.implementation, wasm.implementation], ["native", "wasm"])
      for (let i = 0; i < 20; i++) {
        const account = privateKeyToAccount(`0x${sha256(`key ${i}`).toString("hex")}`)
        const digest = sha256(`message ${i}`)
        const signature = Buffer.from(
          (yield* Effect.promise(() => account.sign({ hash: `0x${digest.toString("hex")}` }))).slice(2),
          "hex"
        )
        assert.strictEqual(hex(native.recover(digest, signature)), account.address.toLowerCase())
        assert.strictEqual(hex(wasm.recover(digest, signature)), account.address.toLowerCase())
      }
    })
  )

  it.effect("refuses the same texts in both implementations", () =>
    Effect.gen(function* () {
      const [native, wasm] = yield* both
      const digest = sha256("message")
      const order = Buffer.from("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", "hex")
      const one = Buffer.alloc(32)
      one[31] = 1
      const zero = Buffer.alloc(32)
      const signature = (r: Buffer, s: Buffer, v: number) => Buffer.concat([r, s, Buffer.from([v])])
      const broken = [
        signature(zero, one, 27),
        signature(one, zero, 27),
        signature(order, one, 28),
        signature(one, order, 28),
        signature(one, one, 0),
        signature(one, one, 1),
        signature(one, one, 29),
        signature(one, one, 27).subarray(0, 64),
        Buffer.concat([signature(one, one, 27), zero]),
        Buffer.alloc(0)
      ]
      for (const text of broken) {
        assert.isUndefined(native.recover(digest, text), text.toString("hex"))
        assert.isUndefined(wasm.recover(digest, text), text.toString("hex"))
      }
      assert.isUndefined(native.recover(digest.subarray(1), signature(one, one, 27)))
      assert.isUndefined(wasm.recover(digest.subarray(1), signature(one, one, 27)))
    })
  )

  const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
  const bytes = (length: number) => Schema.Array(Byte).check(Schema.isMinLength(length), Schema.isMaxLength(length))

  it.effect.prop(
    "is the same answer in both implementations, whatever the bytes",
    { digest: bytes(32), signature: bytes(64), odd: Schema.Boolean },
    ({ digest, odd, signature }) =>
      Effect.gen(function* () {
        const [native, wasm] = yield* both
        const text = Uint8Array.from([...signature, odd ? 28 : 27])
        const message = Uint8Array.from(digest)
        assert.strictEqual(hex(native.recover(message, text)), hex(wasm.recover(message, text)))
      })
  )
})
