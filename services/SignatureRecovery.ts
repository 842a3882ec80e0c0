import { Context } from "effect"

/** Whose secp256k1 signature this is. Synchronous: it takes less time than handing it to somebody else. */
export class SignatureRecovery extends Context.Service<
  SignatureRecovery,
  {
    /** The 20 bytes of the address that signed this digest with `r s v`, v 27 or 28; undefined when no key can have. */
    recover(digest: Uint8Array, signature: Uint8Array): Uint8Array | undefined
    readonly implementation: "native" | "wasm"
  }
>()("turnpike/services/SignatureRecovery") {}
