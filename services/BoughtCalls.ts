import { timingSafeEqual } from "node:crypto"
import { Context, Layer, Redacted } from "effect"
import type { Principal } from "#domain/Principal.ts"
import { randomText } from "./RandomText.ts"

/**
 * Operations of ours that somebody without a key paid for. From the moment it is paid for until it is answered such a call carries a
 * credential that exists in this process alone, and that nobody outside ever sees.
 */
export class BoughtCalls extends Context.Service<
  BoughtCalls,
  {
    readonly credential: Redacted.Redacted
    /** From now on calls with the credential are this principal's; before that it opens nothing. */
    admit(principal: Principal): void
    /** Who calls with it; undefined when it is another credential, or nobody is admitted. */
    caller(token: string): Principal | undefined
    /** Whether anything can be bought in this process yet. */
    isOpen(): boolean
  }
>()("turnpike/services/BoughtCalls") {
  static readonly layer = Layer.sync(BoughtCalls, () => {
    const token = `paid_${randomText(43)}`
    const expected = Buffer.from(token)
    let buyer: Principal | undefined
    const isOurs = (shown: string) => {
      // Every request of anybody comes by here: most credentials are of another length.
      if (shown.length !== token.length) return false
      const actual = Buffer.from(shown)
      return actual.length === expected.length && timingSafeEqual(actual, expected)
    }
    return BoughtCalls.of({
      credential: Redacted.make(token),
      admit: (principal) => {
        buyer = principal
      },
      caller: (shown) => (isOurs(shown) ? buyer : undefined),
      isOpen: () => buyer !== undefined
    })
  })
}
