import { DateTime, Duration, Effect, type Scope } from "effect"
import type { PaymentRow } from "#domain/Payment.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import { Database } from "../Database.ts"
import * as LastingPipeline from "../Database/LastingPipeline.ts"
import * as Pipeline from "../Database/Pipeline.ts"
import { OID } from "../Database/Pipeline.ts"
import { sayingOf } from "../Database/Reasons.ts"
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
const take = Pipeline.overLists(
  "a",
  [
    ["payment", OID.uuidArray],
    ["endpoint", OID.uuidArray],
    ["method", OID.textArray],
    ["fingerprint", OID.textArray],
    ["until", OID.timestamptzArray]
  ],
  (rows) => `UPDATE payments p SET state = 'in_flight', lease_until = a.until, request_fingerprint = a.fingerprint,
      origin_status = NULL, origin_ms = NULL, failure = NULL
    FROM ${rows}
    WHERE p.id = a.payment AND p.endpoint_id = a.endpoint AND p.method IN ('ANY', a.method) AND p.proof_expires_at > $6
      AND CASE p.state WHEN 'authorized' THEN true WHEN 'released' THEN p.hold_id IS NULL ELSE false END
    RETURNING ${paymentColumns}, a.method`,
  { after: [OID.timestamptz] }
)
const look = Pipeline.statement([OID.uuidArray], `SELECT ${paymentColumns} FROM payments p WHERE p.id = ANY($1)`)

/** What the statement tells claims apart by: of those that are alike in it, all would be given the payment, or none. */
const kindOf = ({ endpoint, method, payment }: Pick<Claim, "payment" | "endpoint" | "method">): string =>
  `${payment} ${endpoint} ${method}`

/** How long a call waits for its turn with the database. */
const patience = Duration.seconds(8)

/** Takes payments for calls: of any number of calls, in any number of processes, one gets a payment. One statement for all that wait. */
export const make = Effect.gen(function* () {
  const { config } = yield* Database
  // A claim that is lost with the database is as good as given back, which is what becomes of it after a crash anyway when its lease
  // ends: the origin may be called once more, and the charge, which takes the claim to the disk with it, is one for all its calls.
  const settings = Pipeline.unflushed(Pipeline.byKey(config, "turnpike-claims"))
  const pipeline = yield* LastingPipeline.make(settings, patience)

  // A server of a newer version may have changed the type of a column while calls are served here: no call has to fail for that.
  const fly = (statement: Pipeline.Statement, values: ReadonlyArray<unknown>, meanwhile?: () => void) =>
    pipeline.fly([{ statement, values }], meanwhile).pipe(
      Effect.retry({ while: Pipeline.isOutdated, times: 1 }),
      Effect.map(([rows = []]) => rows)
    )

  const takeAll = Effect.fnUntraced(
    function* (claims: ReadonlyArray<Claim>, meanwhile: () => void) {
      const now = yield* DateTime.now
      const at = DateTime.toDate(now)
      // Of several claims of the same kind for one payment the first is asked for; the others see that it was taken. A claim of
      // another kind, which may be the wrong one, takes no place from it. In the order of the payments' ids, so that two processes
      // that ask for the same payments never wait for each other.
      const first = new Map<string, Claim>()
      for (const claim of claims) {
        const kind = kindOf(claim)
        if (!first.has(kind)) first.set(kind, claim)
      }
      const asked = [...first.values()].toSorted((one, other) =>
        one.payment < other.payment ? -1 : one.payment > other.payment ? 1 : 0
      )
      const won = new Set<Claim | undefined>()
      const known = new Map<string, PaymentRow>()
      const unreadable = new Map<unknown, unknown>()
      /** One that a newer version wrote, or that is broken, fails its own claim only. */
      const read = (row: Pipeline.Row): PaymentRow | undefined => {
        try {
          const payment = paymentOf(row)
          known.set(payment.id, payment)
          return payment
        } catch (cause) {
          unreadable.set(row[0], cause)
          return undefined
        }
      }
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
      for (const row of taken) {
        const payment = read(row)
        if (payment === undefined) continue
        const method = Pipeline.text(row.at(-1))
        won.add(first.get(kindOf({ payment: payment.id, endpoint: payment.endpoint_id, method })))
      }
      const missed = [...new Set(asked.map(({ payment }) => payment))].filter(
        (payment) => !known.has(payment) && !unreadable.has(payment)
      )
      for (const row of missed.length === 0 ? [] : yield* fly(look, [missed])) read(row)
      for (const [id, cause] of unreadable) yield* Effect.logError("ALERT: a payment could not be read", { id }, cause)
      return claims.map((claim): Claimed | undefined =>
        unreadable.has(claim.payment) ? undefined : { row: known.get(claim.payment), won: won.has(claim), at }
      )
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
    ? ServiceUnavailable.because(sayingOf(failure), 2)
    : failure
