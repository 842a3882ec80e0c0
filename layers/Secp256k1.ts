import { createRequire } from "node:module"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { Effect, Layer } from "effect"
import { SignatureRecovery } from "#services/SignatureRecovery.ts"

/** The public key (65 bytes) behind a signature of 64 bytes; undefined when there is none. */
type RecoverKey = (digest: Uint8Array, signature: Uint8Array, recovery: 0 | 1) => Uint8Array | undefined

const recoverWith =
  (recoverKey: RecoverKey): SignatureRecovery["Service"]["recover"] =>
  (digest, signature) => {
    const v = signature[64]
    if (signature.length !== 65 || digest.length !== 32 || (v !== 27 && v !== 28)) return undefined
    const key = recoverKey(digest, signature.subarray(0, 64), v === 27 ? 0 : 1)
    return key === undefined ? undefined : keccak_256(key.subarray(1)).subarray(12)
  }

/**
 * The compiled addon. Its `bindings` are named, because its main module turns silently to a JavaScript body when they do not load,
 * which is thirty times slower.
 */
export const native = Effect.try(() => {
  const addon: typeof import("secp256k1") = createRequire(import.meta.url)("secp256k1/bindings")
  const recoverKey: RecoverKey = (digest, signature, recovery) => {
    try {
      return addon.ecdsaRecover(signature, recovery, digest, false)
    } catch {
      // Says that no key can have signed this.
      return undefined
    }
  }
  return SignatureRecovery.of({ recover: recoverWith(recoverKey), implementation: "native" })
})

/** The same in WebAssembly, three times slower, for machines that the addon is not compiled for. */
export const wasm = Effect.promise(() => import("@bitauth/libauth")).pipe(
  Effect.flatMap(({ instantiateSecp256k1 }) => Effect.promise(() => instantiateSecp256k1())),
  Effect.map((secp256k1) => {
    const recoverKey: RecoverKey = (digest, signature, recovery) => {
      const key = secp256k1.recoverPublicKeyUncompressed(signature, recovery, digest)
      return typeof key === "string" ? undefined : key
    }
    return SignatureRecovery.of({ recover: recoverWith(recoverKey), implementation: "wasm" })
  })
)

/** The addon where it loads, else WebAssembly. */
export const layer = Layer.effect(
  SignatureRecovery,
  native.pipe(
    Effect.catch(() =>
      Effect.andThen(
        Effect.logWarning("The secp256k1 addon does not load here: signatures are checked in WebAssembly"),
        wasm
      )
    )
  )
)
