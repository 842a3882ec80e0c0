import { Console, DateTime, Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import { formatDecimal } from "#domain/Money.ts"
import type { Completed, Rejected } from "#domain/Settlement.ts"
import { FailureReason } from "#domain/Transfer.ts"
import { Settlements } from "#services/Settlements.ts"
import { administered } from "./Administration.ts"

/** The settlement is not in a state in which the operator has a say. */
class NotUnderWay extends Schema.TaggedError<NotUnderWay>()("NotUnderWay", { message: Schema.String }) {}

const transfer = Argument.String("transfer").pipe(
  Argument.withDescription("The transfer, as tx_… or uuid"),
  Argument.withSchema(TransferId)
)

const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const { unresolved } = yield* Settlements
    for (const { id, amount, currency, last_error, submitted_at } of yield* unresolved) {
      const since = DateTime.formatIso(DateTime.makeUnsafe(submitted_at))
      yield* Console.log(`${toTypeId("tx", id)}  ${formatDecimal(amount)} ${currency}  ${since}  ${last_error ?? ""}`)
    }
  })
).pipe(
  Command.withDescription("List the settlements that no rail could answer for, oldest first and at most 200"),
  administered
)

const conclude = Effect.fnUntraced(function* (id: TransferId, outcome: Completed | Rejected) {
  const { conclude } = yield* Settlements
  if (yield* conclude(id, outcome)) return yield* Console.log(`${toTypeId("tx", id)} is ${outcome._tag.toLowerCase()}`)
  return yield* new NotUnderWay({ message: `${toTypeId("tx", id)} is not under way, or could not be ended like this` })
})

const complete = Command.make(
  "complete",
  {
    transfer,
    reference: Flag.String("reference").pipe(
      Flag.withSchema(Schema.String.check(Schema.isPattern(/^[ -~]{1,200}$/))),
      Flag.withDescription("What the provider calls the settlement")
    )
  },
  ({ reference, transfer }) => conclude(transfer, { _tag: "Completed", rail_reference: reference })
).pipe(Command.withDescription("Say that the money arrived: it is booked, and the transfer is completed"), administered)

const reject = Command.make(
  "reject",
  {
    transfer,
    reason: Flag.Literals("reason", FailureReason.literals).pipe(
      Flag.withDescription("The failure_reason that the transfer gets")
    )
  },
  ({ reason, transfer }) => conclude(transfer, { _tag: "Rejected", reason })
).pipe(Command.withDescription("Say that no money moved and none ever will: the payer gets it back"), administered)

const resume = Command.make("resume", { transfer }, ({ transfer }) =>
  Effect.gen(function* () {
    const { resume } = yield* Settlements
    const id = toTypeId("tx", transfer)
    if (yield* resume(transfer)) return yield* Console.log(`${id} is asked about again`)
    return yield* new NotUnderWay({ message: `${id} was not left to the operator` })
  })
).pipe(Command.withDescription("Ask the rail again"), administered)

/** What an operator does about settlements that were left to the operator. */
export const settlement = Command.make("settlement").pipe(
  Command.withDescription("Settlements that no rail could answer for"),
  Command.withSubcommands([list, complete, reject, resume])
)
