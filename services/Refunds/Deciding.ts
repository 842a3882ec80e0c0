import { Effect } from "effect"
import { ServiceUnavailable } from "#domain/Refusal.ts"

interface Refused {
  readonly _tag: string
}
type Without<E, Tag extends string> = Exclude<E, { readonly _tag: Tag }>

/** Makes a defect of refusals that cannot be. */
const never =
  <Tag extends string>(...tags: ReadonlyArray<Tag>) =>
  <A, E extends Refused, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Without<E, Tag>, R> =>
    Effect.catch(effect, (refused) =>
      tags.some((tag) => tag === refused._tag) ? Effect.die(refused) : Effect.fail(refused as Without<E, Tag>)
    )

/** What the ledger never says to a refund: both wallets exist, and the transfer was between them. */
export const expectRefusals = never("NOT_FOUND", "SAME_WALLET", "CURRENCY_MISMATCH", "HOLD_NOT_OPEN")

/** What it says only where there is money to move. */
export const movesNothing = never("INSUFFICIENT_BALANCE", "WALLET_FROZEN", "AMOUNT_TOO_LARGE")

/** What it says only where there is an idempotency key. */
export const needsNoKey = never("IDEMPOTENCY_KEY_REUSED")

/** Decides again on what is true by now when somebody else was faster: at most 99 times, because other processes do not take turns with us. */
export const deciding = <A, E extends Refused, R>(once: Effect.Effect<A, E, R>) =>
  once.pipe(
    Effect.retry({ times: 99, while: ({ _tag }) => _tag === "SUPERSEDED" }),
    Effect.catch((refused) =>
      refused._tag === "SUPERSEDED"
        ? Effect.die(ServiceUnavailable.because("others changed it each time"))
        : Effect.fail(refused as Without<E, "SUPERSEDED">)
    )
  )
