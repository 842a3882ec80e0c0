import { Effect } from "effect"
import type { IdempotencyClaim } from "#domain/Command.ts"
import { nothingYet } from "../IdempotencyKeys.ts"
import { ScannerCredits } from "../ScannerCredits.ts"
import type { Member } from "./Billing.ts"
import type { ScanBuyer } from "./Buyer.ts"
import type { Kind } from "./Claims.ts"
import { KeyTaken } from "./Repeating.ts"

const chargeKept = "20 seconds"

/** What an order of a kind of work costs: taken before the work, and given back when it came to nothing. */
export const make = Effect.fnUntraced(function* (work: { readonly kind: Kind; readonly credits: number }) {
  const credits = yield* ScannerCredits
  return {
    /** Nothing is charged for what was paid for otherwise. */
    charge: Effect.fnUntraced(function* (buyer: ScanBuyer, domain: string, claim: IdempotencyClaim | undefined) {
      if (buyer._tag !== "Tenant") return undefined
      const { source, tenant_id } = buyer
      const order = { tenant_id, operation: work.kind, credits: work.credits, source, metadata: { domain } }
      if (claim === undefined) return yield* credits.charge(order)
      const charged = yield* credits.chargeOnce(order, { record: () => nothingYet }, claim)
      return charged.replayed ? yield* new KeyTaken() : charged
    }),
    /** Says as long as it runs that somebody still works for the charge. */
    keep: ({ charge }: Member) =>
      charge === undefined
        ? Effect.never
        : Effect.sleep(chargeKept).pipe(
            Effect.andThen(Effect.catchDefect(credits.prolong(charge), () => Effect.void)),
            Effect.forever
          ),
    refund: ({ charge }: Member, reason: string) =>
      charge === undefined
        ? Effect.void
        : Effect.catchCause(Effect.asVoid(credits.giveBack(charge, reason)), (cause) =>
            Effect.logError("A charge waits to be returned", cause)
          )
  }
})
