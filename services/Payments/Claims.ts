import { DateTime, Duration, Effect, type Scope } from "effect"
import type { PaymentRow } from "#domain/Payment.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { Database } from "../Database.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import * as Batch from "./Batch.ts"
import { paymentColumns, paymentOf } from "./Row.ts"

/** A call that wants to use a payment. */
export interface Claim {
  readonly payment: string
  readonly endpoint: string
  readonly method: string
  readonly fingerprint: string
  /** How long the call may own the payment. */
  readonly lease: Duration.Duration
}

/** The payment as it is now, and whether this claim took it; undefined when there is none. */
export interface Claimed {
  readonly row: PaymentRow | undefined
  readonly won: boolean
  readonly at: Date
}

// The state is judged in a way that no index on a state can serve: the planner, whose statistics never know about times after
// now, would walk every unused payment there is instead of looking up the few that are named.
const take = Pipeline.statement(
  [OID.uuidArray, OID.uuidArray, OID.textArray, OID.textArray, OID.timestamptzArray, OID.timestamptz],
  `UPDATE payments p SET state = 'in_flight', lease_until = a.until, request_fingerprint = a.fingerprint,
      origin_status = NULL, origin_ms = NULL, failure = NULL
    FROM ${Pipeline.lists(["payment", "endpoint", "method", "fingerprint", "until"])} AS a
    WHERE p.id = a.payment AND p.endpoint_id = a.endpoint AND p.method IN ('ANY', a.method) AND p.proof_expires_at > $6
      AND CASE p.state WHEN 'authorized' THEN true WHEN 'released' THEN p.hold_id IS NULL ELSE false END
    RETURNING ${paymentColumns}`
)
const look = Pipeline.statement([OID.uuidArray], `SELECT ${paymentColumns} FROM payments p WHERE p.id = ANY($1)`)

/** How long a call waits for its turn with the database. */
const patience = Duration.seconds(8)

/** Takes payments for calls: of any number of calls, in any number of processes, one gets a payment. One statement for all that wait. */
export const make = Effect.gen(function* () {
  const { config } = yield* Database
  const pipeline = yield* Pipeline.lasting(Pipeline.byKey(config, "turnpike-claims"), patience)

  const fly = Effect.fnUntraced(function* (
    statement: Pipeline.Statement,
    values: ReadonlyArray<unknown>,
    meanwhile?: () => void
  ) {
    const [rows = []] = yield* pipeline.fly([{ statement, values }], meanwhile)
    const payments = new Map<string, PaymentRow>()
    for (const row of rows) {
      const payment = paymentOf(row)
      payments.set(payment.id, payment)
    }
    return payments
  })

  const takeAll = Effect.fnUntraced(
    function* (claims: ReadonlyArray<Claim>, meanwhile: () => void) {
      const now = yield* DateTime.now
      const at = DateTime.toDate(now)
      // Of several claims for one payment the first is asked for; the others see that it was taken. In the order of their ids,
      // so that two processes that ask for the same payments never wait for each other.
      const first = new Map<string, Claim>()
      for (const claim of claims) if (!first.has(claim.payment)) first.set(claim.payment, claim)
      const asked = [...first.values()].toSorted((one, other) => (one.payment < other.payment ? -1 : 1))
      const taken = yield* fly(
        take,
        [
          asked.map(({ payment }) => payment),
          asked.map(({ endpoint }) => endpoint),
          asked.map(({ method }) => method),
          asked.map(({ fingerprint }) => fingerprint),
          asked.map(({ lease }) => DateTime.toDate(DateTime.addDuration(now, lease))),
          at
        ],
        meanwhile
      )
      const missed = asked.filter(({ payment }) => !taken.has(payment))
      const others = missed.length === 0 ? taken : yield* fly(look, [missed.map(({ payment }) => payment)])
      return claims.map((claim): Claimed => {
        const row = taken.get(claim.payment)
        return row === undefined
          ? { row: others.get(claim.payment), won: false, at }
          : { row, won: first.get(claim.payment) === claim, at }
      })
    },
    Effect.tapError((failure) => Effect.logWarning("Payments could not be claimed", failure)),
    Effect.mapError(unavailableIfAway),
    Effect.orDie
  )

  const { ask } = yield* Batch.make(takeAll)
  return ask
}) satisfies Effect.Effect<unknown, never, Database | Scope.Scope>

const unavailableIfAway = (failure: Pipeline.FlightFailure) =>
  failure._tag === "ConnectionLost" || (failure._tag === "StatementFailed" && Pipeline.isContention(failure))
    ? new ServiceUnavailable({ retry_after: 2 })
    : failure
