import type { Result } from "effect"
import type { Hold, LedgerAccount, Movement, Tally } from "./LedgerAccount.ts"
import type { PostingRefused, Superseded } from "./PostingRefused.ts"
import type { Price } from "./Price.ts"

/** The count that a price depends on and that a capture raises, together with the total over every subject (unless it is that). */
export interface TallyRef {
  readonly scope: string
  readonly subject: string
}

interface Between {
  readonly debit: string
  readonly credit: string
  readonly currency: string
  /** What the movement is for, in the statement: `faucet`, `payment`, `fee`. */
  readonly code: string
}

/** One movement to make. Accounts are named by id; amounts are micro-units. */
export type Step =
  | (Between & { readonly kind: "transfer"; readonly amount: bigint; readonly tally?: TallyRef })
  | (Between & {
      readonly kind: "hold"
      readonly hold: string
      readonly price: Price
      readonly tally?: TallyRef
      readonly expires_at: Date
    })
  /** Takes the price, at most what is held; the rest is free again in the same movement. */
  | (Between & { readonly kind: "capture"; readonly hold: string; readonly price?: Price; readonly tally?: TallyRef })
  | (Between & { readonly kind: "release"; readonly hold: string; readonly as: "released" | "expired" })
  /** A call that costs nothing still counts. */
  | (Between & { readonly kind: "count"; readonly tally: TallyRef })
  /** The share of the step before it that goes on to another account, in basis points, rounded down. */
  | (Between & { readonly kind: "fee"; readonly basis_points: number })

/** The count that the price of the step depends on, if one does: all else is only raised. */
export const consultedBy = (step: Step): TallyRef | undefined =>
  (step.kind === "hold" || step.kind === "capture") && (step.price?.tiers.length ?? 0) > 0 ? step.tally : undefined

/** The caller's word that two requests are one. Kept 24 hours. */
export interface IdempotencyClaim {
  readonly tenant_id: string
  readonly operation: string
  readonly key: string
  readonly fingerprint: string
}

/** One text for each claim. Operations may have spaces in them, and so may keys; a NUL has neither. */
export const idempotencyName = (claim: IdempotencyClaim): string =>
  `${claim.tenant_id}\u0000${claim.operation}\u0000${claim.key}`

/** The version of a thing from which only one of several commands may take it to the next, and the moment at which none may any more. */
export interface Fence {
  readonly scope: string
  readonly expected: bigint
  readonly until?: Date
}

/** Steps that happen together or not at all. Posting one id twice is posting it once, if it moves something or has a claim. */
export interface Command {
  readonly id: string
  readonly steps: ReadonlyArray<Step>
  readonly idempotency?: IdempotencyClaim | undefined
  /** Passes only while each of these things is at the expected version, before its end, and takes it to the next one; else `Superseded`. */
  readonly fences?: ReadonlyArray<Fence> | undefined
  /**
   * Whether such a refusal is the outcome to keep. The command then moves nothing, leaves one line of kind `refuse` in the log, and
   * its answer says `refused`. Only refusals between accounts that exist can be kept.
   */
  readonly concedes?: ((refusal: PostingRefused) => boolean) | undefined
  /** Commands that succeed and fail each for itself under this one's claim and fences, which has no steps of its own. */
  readonly items?: ReadonlyArray<Command> | undefined
  /** What to answer, from the movements and the accounts after them; a replay under the same key answers the same. */
  readonly result?: ((posted: Posted, account: (id: string) => LedgerAccount | undefined) => unknown) | undefined
}

/** What a command did. `replayed` when it had been posted before; `result` is then what was kept with its key, if it had one. */
export interface Posted {
  readonly command_id: string
  readonly movements: ReadonlyArray<Movement>
  readonly at: Date
  readonly replayed: boolean
  /** Why nothing moved, of a command that concedes this. A replay by id tells it by the kind of its one movement alone. */
  readonly refused?: PostingRefused
  /** The answers of its items, in order; none when the answer was kept with its key. */
  readonly items?: ReadonlyArray<Result.Result<Posted, PostingRefused | Superseded>>
  readonly result?: unknown
}

export interface IdempotencyRecord extends IdempotencyClaim {
  readonly command_id: string
  readonly result: unknown
  readonly expires_at: Date
}

/** What the database knows of everything a group of commands touches. */
export interface Book {
  readonly accounts: ReadonlyArray<LedgerAccount>
  readonly holds: ReadonlyArray<Hold>
  /** Of fences, and of counts that prices depend on. */
  readonly tallies: ReadonlyArray<Tally>
  readonly posted: ReadonlyArray<Movement>
  readonly keys: ReadonlyArray<IdempotencyRecord>
  readonly seq: bigint
  readonly at: Date
  /** Until when keys used now are remembered. */
  readonly keysExpireAt: Date
  /** Who spends the money that wallets have: we do, or with `self` whoever has the keys of their addresses. */
  readonly custody: "operator" | "self"
}

/** The group's answers in order, and everything that has to be written for them to be true. */
export interface Decision {
  readonly answers: ReadonlyArray<Result.Result<Posted, PostingRefused | Superseded>>
  readonly movements: ReadonlyArray<Movement>
  readonly accounts: ReadonlyArray<LedgerAccount>
  readonly holds: ReadonlyArray<Hold>
  /** By how much each is raised. */
  readonly tallies: ReadonlyArray<Tally>
  readonly keys: ReadonlyArray<IdempotencyRecord>
}
