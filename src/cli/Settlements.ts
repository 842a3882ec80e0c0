import { Console, DateTime, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { toTypeId, TransferId } from "#domain/Ids.ts"
import { Currency, formatDecimal } from "#domain/Money.ts"
import { assetOf, type Network, parseAddress } from "#domain/Network.ts"
import type { Completed, Rejected } from "#domain/Settlement.ts"
import { FailureReason } from "#domain/Transfer.ts"
import { UnresolvedOnChain } from "#services/ChainSettlements/UnresolvedOnChain.ts"
import { Settlements } from "#services/Settlements.ts"
import { administered } from "./Administration.ts"

/** The settlement is not in a state in which the operator has a say. */
class NotUnderWay extends Schema.TaggedError<NotUnderWay>()("NotUnderWay", { message: Schema.String }) {}

const settlementId = Argument.String("settlement").pipe(
  Argument.withDescription("The transfer, as tx_… or uuid, or the settlement on a chain, as listed"),
  Argument.withSchema(TransferId)
)

/** How money on a chain is called here. */
const currencyOf = (network: Network, asset: string): string =>
  Currency.literals.find((one) => parseAddress(network, assetOf(network, one).address) === asset) ?? asset

const list = Command.make("list", {}, () =>
  Effect.gen(function* () {
    const { unresolved } = yield* Settlements
    for (const { id, amount, currency, last_error, submitted_at } of yield* unresolved) {
      const since = DateTime.formatIso(DateTime.makeUnsafe(submitted_at))
      yield* Console.log(`${toTypeId("tx", id)}  ${formatDecimal(amount)} ${currency}  ${since}  ${last_error ?? ""}`)
    }
    const onChain = yield* UnresolvedOnChain
    for (const { id, amount, asset, created_at, network, payer, payment_id, transaction } of yield* onChain.list) {
      const since = DateTime.formatIso(DateTime.makeUnsafe(created_at))
      const payment = payment_id === null ? "facilitated" : toTypeId("pay", payment_id)
      const money = `${formatDecimal(amount)} ${currencyOf(network, asset)}`
      yield* Console.log(
        `${id}  ${money}  ${since}  ${payment}  ${network} ${payer} ${transaction ?? "no transaction known"}`
      )
    }
  })
).pipe(
  Command.withDescription(
    "List the settlements that no rail could answer for, oldest first and at most 200 of transfers and 200 on chains"
  ),
  administered
)

const notUnderWay = (name: string) =>
  new NotUnderWay({ message: `${name} is not under way, or could not be ended like this` })

/** Ends the settlement of that id: one on a chain, or else the transfer's. */
const conclude = Effect.fnUntraced(function* (id: TransferId, outcome: Completed | Rejected) {
  const onChain = yield* UnresolvedOnChain
  const found = Option.getOrUndefined(yield* onChain.find(id))
  if (found !== undefined) {
    const word = yield* onChainWord(found.authorization.network, outcome)
    if (!(yield* onChain.conclude(id, word))) return yield* notUnderWay(id)
    return yield* Console.log(`${id} is ${outcome._tag.toLowerCase()}; a running server books it`)
  }
  const { conclude } = yield* Settlements
  if (!(yield* conclude(id, outcome))) return yield* notUnderWay(toTypeId("tx", id))
  yield* Console.log(`${toTypeId("tx", id)} is ${outcome._tag.toLowerCase()}`)
})

/** On a chain the reference is the transaction. */
const onChainWord = (network: Network, outcome: Completed | Rejected) => {
  if (outcome._tag === "Rejected") return Effect.succeed({ _tag: "Refused", reason: outcome.reason } as const)
  const transaction = outcome.rail_reference
  const form = network.startsWith("solana-") ? /^[1-9A-HJ-NP-Za-km-z]{64,88}$/ : /^0x[0-9a-fA-F]{64}$/
  return form.test(transaction)
    ? Effect.succeed({ _tag: "Settled", transaction } as const)
    : Effect.fail(new NotUnderWay({ message: `${transaction} is no transaction of ${network}` }))
}

const complete = Command.make(
  "complete",
  {
    settlement: settlementId,
    reference: Flag.String("reference").pipe(
      Flag.withSchema(
        Schema.String.check(Schema.isPattern(/^[ -~]{1,200}$/, { expected: "1 to 200 printable ASCII characters" }))
      ),
      Flag.withDescription("What the provider calls the settlement; on a chain, the transaction that moved the money")
    )
  },
  ({ reference, settlement }) => conclude(settlement, { _tag: "Completed", rail_reference: reference })
).pipe(
  Command.withDescription("Say that the money arrived: it is booked, and the transfer or the payment is completed"),
  administered
)

const reject = Command.make(
  "reject",
  {
    settlement: settlementId,
    reason: Flag.Literals("reason", FailureReason.literals).pipe(
      Flag.withDescription("The failure_reason that the transfer gets")
    )
  },
  ({ reason, settlement }) => conclude(settlement, { _tag: "Rejected", reason })
).pipe(
  Command.withDescription("Say that no money moved and none ever will: the payer gets it back, or keeps it"),
  administered
)

const resume = Command.make("resume", { settlement: settlementId }, ({ settlement: id }) =>
  Effect.gen(function* () {
    const onChain = yield* UnresolvedOnChain
    const isOnChain = Option.isSome(yield* onChain.find(id))
    const name = isOnChain ? id : toTypeId("tx", id)
    const { resume } = yield* Settlements
    if (yield* isOnChain ? onChain.resume(id) : resume(id)) return yield* Console.log(`${name} is asked about again`)
    return yield* new NotUnderWay({ message: `${name} was not left to the operator` })
  })
).pipe(Command.withDescription("Ask the rail again"), administered)

/** What an operator does about settlements that were left to the operator. */
export const settlement = Command.make("settlement").pipe(
  Command.withDescription("Settlements that no rail could answer for"),
  Command.withSubcommands([list, complete, reject, resume])
)
