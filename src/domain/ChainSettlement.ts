import { Schema } from "effect"
import { Network } from "./Network.ts"
import type { Authorization } from "./protocol/Authorization.ts"

/**
 * Where a settlement on a chain stands. `submitting`: a rail is asked for the first time. `pending`: a transaction is known, not its
 * end. `unknown`: nobody knows whether there is one. `unresolved`: asked for too long, and left to the operator.
 */
export const ChainState = Schema.Literals([
  "prepared",
  "submitting",
  "pending",
  "unknown",
  "unresolved",
  "confirmed",
  "refused"
])
export type ChainState = typeof ChainState.Type

/** The money arrived: this transaction moved it, and it is as final as the rail waits for. */
export interface Settled {
  readonly _tag: "Settled"
  readonly transaction: string
  /** Which of the logs of its block is the transfer, where that is known. */
  readonly log?: number
}
/** No money moved by this settlement, and none ever will. */
export interface Refused {
  readonly _tag: "Refused"
  /** As x402 spells reasons. */
  readonly reason: string
}
/** Not known yet: neither to be taken for success nor for failure. */
export interface Pending {
  readonly _tag: "Pending"
  readonly transaction: string | undefined
}
export type Outcome = Settled | Refused | Pending

/** `taken`: a process is about to ask the rail. `unanswered`: it asked, and learned nothing. */
export type ChainEvent = "taken" | "sent" | "unanswered" | "settled" | "refused" | "given_up" | "resumed"

const answers = { settled: "confirmed", refused: "refused", given_up: "unresolved" } as const
const transitions: Record<ChainState, Partial<Record<ChainEvent, ChainState>>> = {
  prepared: { taken: "submitting" },
  submitting: { ...answers, taken: "submitting", sent: "pending", unanswered: "unknown" },
  // Once a transaction was seen, an answer without one does not make it unseen.
  pending: { ...answers, taken: "pending", sent: "pending", unanswered: "pending" },
  unknown: { ...answers, taken: "unknown", sent: "pending", unanswered: "unknown" },
  unresolved: { settled: "confirmed", refused: "refused", resumed: "unknown" },
  confirmed: {},
  refused: {}
}

/** The state after the event; undefined when it changes nothing any more, or cannot happen. */
export const stateAfter = (state: ChainState, event: ChainEvent): ChainState | undefined => transitions[state][event]

/** States in which a rail has to be asked (again). */
export const openStates: ReadonlyArray<ChainState> = ["prepared", "submitting", "pending", "unknown"]
/** States that say what became of the money. */
export const finalStates: ReadonlyArray<ChainState> = ["confirmed", "refused"]

/** What an answer of the rail is to a settlement. */
export const eventOf = (outcome: Outcome): ChainEvent => {
  if (outcome._tag === "Settled") return "settled"
  if (outcome._tag === "Refused") return "refused"
  return outcome.transaction === undefined ? "unanswered" : "sent"
}

/** Milliseconds until the rail is asked again after so many times: soon at first, later seldom. */
export const retryAfter = (attempts: number, policy: { readonly first: number; readonly longest: number }): number =>
  Math.round(Math.min(policy.longest, policy.first * 1.5 ** Math.min(60, Math.max(0, attempts - 1))))

/** An authorisation as it is kept: plain JSON. */
const KeptAuthorization = Schema.Struct({
  protocol: Schema.Literals(["x402v2", "x402v1", "mpp"]),
  scheme: Schema.Literals(["exact", "upto"]),
  method: Schema.Literals(["eip3009", "permit2", "svm"]),
  network: Network,
  asset: Schema.String,
  payer: Schema.String,
  payTo: Schema.String,
  amount: Schema.BigIntFromString,
  nonce: Schema.String,
  validUntil: Schema.DateFromString,
  quote: Schema.NullOr(Schema.String),
  payload: Schema.Unknown,
  requirements: Schema.Struct({
    scheme: Schema.Literals(["exact", "upto"]),
    network: Schema.String,
    amount: Schema.String,
    asset: Schema.String,
    payTo: Schema.String,
    maxTimeoutSeconds: Schema.Finite,
    extra: Schema.Record(Schema.String, Schema.Unknown)
  }),
  identifier: Schema.NullOr(Schema.String)
})

/** The authorisation as JSON, and nothing of it lost. */
export const keepAuthorization = (authorization: Authorization) => ({
  ...authorization,
  amount: String(authorization.amount),
  validUntil: authorization.validUntil.toISOString(),
  quote: authorization.quote ?? null,
  identifier: authorization.identifier ?? null
})

/** One settlement, as its row is. */
export const ChainSettlement = Schema.Struct({
  id: Schema.String,
  payment_id: Schema.NullOr(Schema.String),
  authorization: KeptAuthorization,
  amount: Schema.BigInt,
  state: ChainState,
  transaction: Schema.NullOr(Schema.String),
  /** Which of the logs of its block is the transfer, where that is known. */
  transfer_log: Schema.NullOr(Schema.Int),
  reason: Schema.NullOr(Schema.String),
  attempts: Schema.Int,
  due_at: Schema.NullOr(Schema.Date),
  give_up_at: Schema.Date,
  booked_at: Schema.NullOr(Schema.Date),
  created_at: Schema.Date
})
export type ChainSettlement = typeof ChainSettlement.Type

/** What tells one order from another, besides its amount. */
const parties = ["network", "asset", "payer", "payTo", "nonce"] as const

/**
 * Whether a settlement moves what is asked for. Its id does not tell: a payer can sign one nonce for several receivers, of whom one gets
 * the money.
 */
export const moves = (
  kept: Pick<ChainSettlement, "amount" | "authorization">,
  asked: { readonly amount: bigint; readonly authorization: Pick<Authorization, (typeof parties)[number]> }
): boolean =>
  kept.amount === asked.amount && parties.every((name) => kept.authorization[name] === asked.authorization[name])

/** What a rail is told about a settlement. */
export interface Settlement {
  readonly id: string
  readonly authorization: Authorization
  /** Micro-units to move: all that is authorised under `exact`, at most that under `upto`. */
  readonly amount: bigint
  /** The transaction that is known so far. */
  readonly transaction: string | undefined
  /** Whether a rail was asked before and may have moved the money: then a refusal says nothing about that first time. */
  readonly askedBefore: boolean
  /** Since when money may have moved for it. */
  readonly since: Date
}

/** What the rail is told. */
export const settlementOf = (row: ChainSettlement): Settlement => ({
  id: row.id,
  authorization: {
    ...row.authorization,
    quote: row.authorization.quote ?? undefined,
    identifier: row.authorization.identifier ?? undefined
  },
  amount: row.amount,
  transaction: row.transaction ?? undefined,
  askedBefore: row.attempts > 1,
  since: row.created_at
})

/** What is known about the money of this settlement. */
export const outcomeOf = (row: Pick<ChainSettlement, "state" | "transaction" | "reason">): Outcome => {
  const transaction = row.transaction ?? undefined
  if (row.state === "confirmed" && transaction !== undefined) return { _tag: "Settled", transaction }
  if (row.state === "refused") return { _tag: "Refused", reason: row.reason ?? "unexpected_settle_error" }
  return { _tag: "Pending", transaction }
}
