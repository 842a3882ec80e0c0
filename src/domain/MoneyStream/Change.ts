import { Result } from "effect"
import { toTypeId, type TransferId } from "../Ids.ts"
import { formatDecimal, maxMicros } from "../Money.ts"
import {
  type AlertSeverity,
  AmountExceedsAccrued,
  BufferTooLarge,
  NothingAccrued,
  StreamExhausted,
  type StreamState,
  type StreamStatus
} from "../MoneyStream.ts"
import { AmountTooLarge } from "../PostingRefused.ts"
import { StateTransitionInvalid } from "../Refusal.ts"
import { isGraver, levelOf, settledAt, unstreamed, withdrawable } from "./Flow.ts"

/** An alert, and the stream as it was when the alert was due. */
export interface Alert {
  readonly severity: AlertSeverity
  readonly stream: StreamState
}

/** What becomes of a stream, and the money (micro-units) that has to move for it. */
export interface Change {
  readonly stream: StreamState
  /** From the sender into the stream. */
  readonly taken: bigint
  /** From the stream to the recipient. */
  readonly paid: bigint
  /** From the stream back to the sender. */
  readonly returned: bigint
  readonly alerts: ReadonlyArray<Alert>
}

export type StreamAction = "top_up" | "pause" | "resume" | "change_rate" | "withdraw" | "cancel" | "observe"

/** Every transition there is; what is not here cannot happen. Running dry is no action: it happens by itself. */
const transitions: Readonly<Record<StreamStatus, Partial<Record<StreamAction, StreamStatus>>>> = {
  active: {
    top_up: "active",
    pause: "paused",
    change_rate: "active",
    withdraw: "active",
    cancel: "cancelled",
    observe: "active"
  },
  paused: {
    top_up: "paused",
    resume: "active",
    change_rate: "paused",
    withdraw: "paused",
    cancel: "cancelled",
    observe: "paused"
  },
  cancelled: {}
}

/** The status after an action; undefined when it cannot be done in this one. */
const statusAfter = (status: StreamStatus, action: StreamAction): StreamStatus | undefined =>
  transitions[status][action]

/** The stream with the alerts that its runway calls for. Whoever paused it needs none, until it flows again. */
const watched = (stream: StreamState): { readonly stream: StreamState; readonly alerts: ReadonlyArray<Alert> } => {
  const level = levelOf(stream)
  if (stream.status === "cancelled" || level === stream.alerted) return { stream, alerts: [] }
  const next = { ...stream, alerted: level }
  // After a top-up or at a lower rate it has further to fall: the same alert may come again.
  if (level === "none" || !isGraver(level, stream.alerted)) return { stream: next, alerts: [] }
  const flows = stream.status === "active" || level === "exhausted"
  return flows ? { stream: next, alerts: [{ severity: level, stream: next }] } : { stream, alerts: [] }
}

type Altered<Refused> = Result.Result<Partial<StreamState> & { readonly moves?: Partial<Moves> }, Refused>
type Moves = Pick<Change, "taken" | "paid" | "returned">

/** Settles the stream until `now`, does something to it if its status allows, and sees which alerts are due before and after. */
const change =
  <Given extends ReadonlyArray<unknown>, Refused>(
    action: StreamAction,
    alter: (stream: StreamState, at: Date, ...given: Given) => Altered<Refused>
  ) =>
  (before: StreamState, now: Date, ...given: Given): Result.Result<Change, StateTransitionInvalid | Refused> => {
    const settled = watched(settledAt(before, now))
    const { stream } = settled
    const status = statusAfter(stream.status, action)
    if (status === undefined) {
      const to = transitions.active[action] ?? "active"
      return Result.fail(new StateTransitionInvalid({ resource: "stream", from: stream.status, to }))
    }
    const at = now < stream.updated_at ? stream.updated_at : now
    return Result.map(alter(stream, at, ...given), ({ moves, ...altered }) => {
      const version = before.version + 1n
      const after = watched({ ...stream, updated_at: at, ...altered, status, version })
      return {
        stream: after.stream,
        taken: 0n,
        paid: 0n,
        returned: 0n,
        ...moves,
        alerts: [...settled.alerts, ...after.alerts]
      }
    })
  }

const nothing: Altered<never> = Result.succeed({})

/** A new stream, flowing from `now` on. */
export const start = (
  wanted: Pick<
    StreamState,
    "id" | "tenant_id" | "from_wallet_id" | "to_wallet_id" | "currency" | "flow_rate" | "buffer" | "metadata"
  > & { readonly deposit: bigint; readonly transfer_id: TransferId },
  now: Date
): Result.Result<Change, BufferTooLarge> => {
  const { deposit, transfer_id, ...given } = wanted
  if (given.buffer >= deposit) {
    const [buffer, initial_deposit] = [formatDecimal(given.buffer), formatDecimal(deposit)]
    return Result.fail(new BufferTooLarge({ buffer, initial_deposit }))
  }
  const begun = watched({
    ...given,
    status: "active",
    pause_reason: null,
    deposited: deposit,
    withdrawn: 0n,
    returned: 0n,
    accrued: 0n,
    since: now,
    alerted: "none",
    latest_transfer_id: transfer_id,
    version: 0n,
    changed_by: transfer_id,
    created_at: now,
    updated_at: now,
    cancelled_at: null
  })
  return Result.succeed({ ...begun, taken: deposit, paid: 0n, returned: 0n })
}

/** The same new stream, flowing from another moment on. */
export const startedAt = (started: Change, at: Date): Change => {
  const stream = { ...started.stream, since: at, created_at: at, updated_at: at }
  return { ...started, stream, alerts: started.alerts.map((alert) => ({ ...alert, stream })) }
}

/** More money to flow. A paused stream stays paused. */
export const topUp = change("top_up", (stream, _, amount: bigint): Altered<AmountTooLarge> => {
  const deposited = stream.deposited + amount
  return deposited > maxMicros
    ? Result.fail(new AmountTooLarge({ maximum: formatDecimal(maxMicros - stream.deposited) }))
    : Result.succeed({ deposited, moves: { taken: amount } })
})

export const pause = change("pause", () => Result.succeed({ pause_reason: "requested" }))

export const resume = change("resume", (stream, at): Altered<StreamExhausted> => {
  return unstreamed(stream) === 0n
    ? Result.fail(new StreamExhausted({ stream_id: toTypeId("str", stream.id) }))
    : Result.succeed({ pause_reason: null, since: at })
})

/** Another rate from now on; what has accrued stays. */
export const changeRate = change("change_rate", (_, __, flow_rate: bigint) => Result.succeed({ flow_rate }))

/** Gives the recipient this much of what has accrued, or all of it. */
export const withdraw = change(
  "withdraw",
  (stream, _, amount: bigint | undefined): Altered<NothingAccrued | AmountExceedsAccrued> => {
    const available = withdrawable(stream)
    const { currency } = stream
    if (amount === undefined && available === 0n) return Result.fail(new NothingAccrued({ currency }))
    const paid = amount ?? available
    if (paid > available) {
      const [requested, at_most] = [formatDecimal(paid), formatDecimal(available)]
      return Result.fail(new AmountExceedsAccrued({ requested, available: at_most, currency }))
    }
    return Result.succeed({ withdrawn: stream.withdrawn + paid, moves: { paid } })
  }
)

/** Ends the stream: the accrued to the recipient, all else, the buffer included, back to the sender. */
export const cancel = change("cancel", (stream, at) => {
  const paid = withdrawable(stream)
  const withdrawn = stream.withdrawn + paid
  const returned = stream.deposited - withdrawn
  const ended = { buffer: 0n, withdrawn, returned, pause_reason: null, since: at, cancelled_at: at }
  return Result.succeed({ ...ended, moves: { paid, returned } })
})

/** Nothing but the passing of time: what is due of pausing and alerts. */
export const observe = change("observe", () => nothing)
