import { Clock, Duration, Effect } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import { askedAt, type Chain, reasons } from "./Chain.ts"
import type { Move } from "./Contracts.ts"
import type { EvmOptions } from "./Options.ts"
import * as Quotes from "./Quotes.ts"
import { hasItAlready, hasNoGas, type Receipt, type Rpc, type RpcError, unexpected } from "./Rpc.ts"
import type { Fees, SentTransaction, Transactions } from "./Transactions.ts"
import type { Start } from "./Uses.ts"

const pending = (transaction: string | undefined): Outcome => ({ _tag: "Pending", transaction })
const refused = (reason: string): Outcome => ({ _tag: "Refused", reason })

/** How many of the nonces that hold up one that waits are looked after with it. */
const lookAhead = 8n
/** How many blocks behind a node may have been when it said that an authorisation was unused, and we signed. */
const behind = 1_000n
/**
 * How many transactions of our key a node may count that we know nothing of. A nonce that it makes up is kept, and nothing gets into a
 * block before all of those in between, so they must be few enough to be taken.
 */
const mostElsewhere = 1_000n
/** More transactions than any key has signed, for one that we have not used yet. */
const mostEver = 1n << 32n

/** Gets settlements through: signs, keeps, sends, sends again, and reads what became of them. */
export const make = (options: EvmOptions, rpc: Rpc, chain: Chain, transactions: Transactions) => {
  const { relayer } = transactions
  const { feesNow, quote } = Quotes.make(options, rpc, chain, relayer)

  const alert = (message: string, facts: object) => Effect.logError(`ALERT: ${message}`, { relayer, ...facts })

  /** Sends what is kept. Whatever the node says, the chain tells later what became of it. */
  const send = ({ hash, raw }: Pick<SentTransaction, "hash" | "raw">) =>
    rpc.send(raw).pipe(
      Effect.catchTags({
        RpcError: (error: RpcError) => {
          if (hasNoGas(error)) return alert("the relayer has no gas", { hash })
          return hasItAlready(error)
            ? Effect.void
            : Effect.logWarning("A node did not take a transaction", { hash, reason: unexpected(error).reason })
        },
        RAIL_UNAVAILABLE: ({ reason }) => Effect.logWarning("A transaction may not have been sent", { hash, reason })
      }),
      Effect.asVoid
    )

  const sinceSigned = (block: bigint): Start => ({ from: block > behind ? block - behind : 0n, likely: block })

  /** Its authorisation is used: by us, or by whoever saw it. The payee has the money when it was this transfer. */
  const byWhomever = Effect.fnUntraced(function* (transaction: string | undefined, seen: Outcome | undefined) {
    if (seen?._tag === "Settled" && seen.transaction !== transaction) {
      yield* Effect.logWarning("An authorisation got to the chain otherwise", { hash: seen.transaction })
    }
    return seen ?? pending(transaction)
  })
  const usedBy = ({ authorization, transaction }: Settlement, move: Move, from: bigint, to: bigint, head: bigint) =>
    Effect.flatMap(chain.afterUse(move, authorization, sinceSigned(from), to, head), (seen) =>
      byWhomever(transaction, seen)
    )

  /** Somebody may have brought it, another rail or we: what speaks against it now may come of that, and only the chain's word counts. */
  const asTheChainSays = (settlement: Settlement, move: Move, signed: bigint | null) =>
    Effect.map(
      chain.testimony(move, settlement.authorization, (head) =>
        signed === null ? chain.startOf(settlement, move, head) : Effect.succeed(sinceSigned(signed))
      ),
      (seen) => seen ?? pending(settlement.transaction)
    )

  /**
   * Refused when a block that came since we were asked says so, too: a node that is behind may not know yet what lets the call through.
   * What was used since then, somebody else brought.
   */
  const refusedSince = Effect.fnUntraced(function* (settlement: Settlement, move: Move, reason: string) {
    const { amount, authorization } = settlement
    const head = yield* chain.headSince(askedAt(settlement))
    if (head === undefined) return refused(reason)
    const { data, to } = move
    const [obstacle, estimate] = yield* Effect.all(
      [
        chain.obstacle(move, authorization, amount, head.number),
        chain.estimateGas({ from: relayer, to, data }, head.number)
      ],
      { concurrency: 2 }
    )
    if (obstacle === reasons(authorization).used) {
      return yield* byWhomever(undefined, yield* chain.usedSince(move, authorization, askedAt(settlement), head.number))
    }
    if (obstacle !== undefined) return refused(obstacle)
    return estimate === false ? refused(reasons(authorization).simulation) : pending(undefined)
  })

  /** Nothing that we signed for this settlement is on its way: looks whether it would go through, and sends it. */
  const begin = Effect.fnUntraced(function* (settlement: Settlement, move: Move) {
    const { amount, askedBefore, authorization, id } = settlement
    const signed = yield* transactions.signedSince(id)
    const isNew = signed === null && !askedBefore && settlement.transaction === undefined
    const obstacle = yield* chain.obstacle(move, authorization, amount)
    const speaksAgainst = (reason: string) =>
      isNew ? refusedSince(settlement, move, reason) : asTheChainSays(settlement, move, signed)
    if (obstacle !== undefined) return yield* speaksAgainst(obstacle)
    const [cost, count] = yield* Effect.all([quote(move), rpc.transactionCount(relayer, "latest")], { concurrency: 2 })
    if (cost._tag === "Reverts") return yield* speaksAgainst(reasons(authorization).simulation)
    if (cost._tag === "Waits") {
      const { alerts, facts, reason } = cost
      if (alerts) yield* alert(reason, { id, ...facts })
      else yield* Effect.logWarning(`A settlement waits: ${reason}`, { id, ...facts })
      return pending(settlement.transaction)
    }
    const known = yield* transactions.nextNonce
    if (count > (known === undefined ? mostEver : known + mostElsewhere)) {
      yield* alert("a node counts more transactions of the relayer than it can have signed", { id, count, known })
      return pending(settlement.transaction)
    }
    const { fees, gas, head } = cost
    const { data, to } = move
    const own = yield* transactions.first({ settlement: id, to, data, gas, fees, fromBlock: head.number }, count)
    yield* send(own)
    return pending(own.hash)
  })

  /** It is in a block: says so once that is final. */
  const ended = Effect.fnUntraced(function* (
    settlement: Settlement,
    move: Move,
    receipt: Receipt,
    own: SentTransaction,
    head: bigint
  ) {
    const { amount, authorization } = settlement
    const { transactionHash: transaction } = receipt
    const why = reasons(authorization)
    if (!(yield* chain.isFinal(receipt, head))) return pending(transaction)
    const wentThrough = receipt.status === 1n
    if (wentThrough) {
      const transfer = move.transfer(receipt.logs)
      if (transfer !== undefined) return { _tag: "Settled", transaction, log: Number(transfer.logIndex) } as const
      // A node may show a receipt without its logs: that this one shows no transfer does not mean that there was none.
      yield* alert("a transaction went through, and its receipt does not show the transfer", { hash: transaction })
    }
    const state = chain.stateBlock(head)
    // By this one, by a faster one, or, where this failed for something else, by one that came after it.
    const used = (yield* chain.isUsed(move, state))
      ? yield* usedBy({ ...settlement, transaction }, move, own.from_block, state, head)
      : undefined
    // What the contract took from us was neither used nor cancelled before, so nothing else can prove that no money moved.
    if (wentThrough) return used?._tag === "Settled" ? used : pending(transaction)
    if (used !== undefined) return used
    const obstacle = yield* chain.obstacle(move, authorization, amount)
    // Used just now, and not by this transaction: whatever it was, it is not final.
    return obstacle === why.used ? pending(transaction) : refused(obstacle ?? why.failed)
  })

  const isStuck = ({ created_at }: SentTransaction) =>
    Clock.clockWith((clock) =>
      Effect.succeed(clock.currentTimeMillisUnsafe() - created_at.getTime() >= Duration.toMillis(options.stuckAfter))
    )

  /** Brings it back to a node that does not know it. */
  const sendAgain = Effect.fnUntraced(function* (own: SentTransaction) {
    if ((yield* rpc.transaction(own.hash)) === null) yield* send(own)
    return own
  })
  /** Brings what waits under this nonce back to the node, for a higher fee when it waited too long. */
  const push = Effect.fnUntraced(function* (own: SentTransaction, isNext: boolean) {
    if (isNext && (yield* isStuck(own))) {
      const fees = raised(own, yield* feesNow, options.maxFee)
      if (fees !== undefined) return yield* Effect.tap(transactions.replace(own, fees), send)
    }
    return yield* sendAgain(own)
  })
  /**
   * Nothing of ours has this nonce: a node once counted too many, or a block was lost with what somebody else signed with this key.
   * Without it nothing after it ever gets into a block.
   */
  const fill = Effect.fnUntraced(function* (nonce: bigint) {
    const fees = yield* feesNow
    if (fees === undefined) return
    yield* alert("a nonce of the relayer was left out; a transaction that moves nothing takes it", { nonce })
    yield* Effect.flatMap(transactions.blank(nonce, fees), send)
  })

  /** Not in a block: looks after it, and after those before it, without which it never gets into one. */
  const waiting = Effect.fnUntraced(function* (
    settlement: Settlement,
    move: Move,
    all: ReadonlyArray<SentTransaction>,
    own: SentTransaction,
    head: bigint
  ) {
    const { authorization, id } = settlement
    const final = chain.finalBlock(head)
    const state = chain.stateBlock(head)
    const [count, settledCount, block, used] = yield* Effect.all(
      [
        rpc.transactionCount(own.relayer, "latest"),
        rpc.transactionCount(own.relayer, state),
        rpc.blockAt(final),
        chain.isUsed(move, state)
      ],
      { concurrency: 4 }
    )
    if (block.timestamp >= move.validBefore && !used) return refused(reasons(authorization).expired)
    if (used) return yield* usedBy(settlement, move, own.from_block, head, head)
    if (settledCount > own.nonce) {
      // A receipt may have come since we looked; without one the nonce is somebody else's for good.
      const receipts = yield* Effect.forEach(all, ({ hash }) => rpc.receipt(hash), { concurrency: 8 })
      if (receipts.every((receipt) => receipt === null)) {
        yield* alert("a nonce of the relayer was used by something else", { id, nonce: own.nonce })
        yield* transactions.drop(id)
      }
      return pending(own.hash)
    }
    // What a key signed that we have no more can be sent, not replaced; another one beside it might move money after this one was refused.
    if (own.relayer !== relayer) return pending((yield* sendAgain(own)).hash)
    for (let nonce = count; nonce < own.nonce && nonce < count + lookAhead; nonce++) {
      const before = yield* transactions.at(nonce)
      if (before !== undefined) yield* push(before, nonce === count)
      else if (yield* isStuck(own)) yield* fill(nonce)
    }
    const pushed = yield* push(own, count === own.nonce)
    return pending(pushed.hash)
  })

  /** One look at a settlement, and whatever can be done for it now. */
  const advance = Effect.fnUntraced(
    function* (settlement: Settlement, move: Move) {
      const own = yield* transactions.of(settlement.id)
      const [newest] = own
      if (newest === undefined) return yield* begin(settlement, move)
      const [head, ...receipts] = yield* Effect.all([rpc.head, ...own.map(({ hash }) => rpc.receipt(hash))], {
        concurrency: 8
      })
      const receipt = receipts.find((one) => one !== null)
      if (receipt != null) return yield* ended(settlement, move, receipt, newest, head.number)
      return yield* waiting(settlement, move, own, newest, head.number)
    },
    Effect.catchTag("RpcError", (error) => Effect.fail(unexpected(error)))
  )
  return { advance, quote }
}

/** Fees that nodes take in the place of these: an eighth more, here a quarter; undefined when the cap does not allow it. */
export const raised = (
  { max_fee, tip }: Pick<SentTransaction, "max_fee" | "tip">,
  wanted: Fees | undefined,
  cap: bigint
): Fees | undefined => {
  // A tip is part of the fee: it is no more than that.
  if ((max_fee * 9n) / 8n + 1n > cap) return undefined
  const quarter = { maxFee: (max_fee * 5n) / 4n + 1n, tip: (tip * 5n) / 4n + 1n }
  const highest = (...all: ReadonlyArray<bigint>) => all.reduce((most, one) => (one > most ? one : most))
  const capped = (fee: bigint) => (fee < cap ? fee : cap)
  return {
    maxFee: capped(highest(quarter.maxFee, wanted?.maxFee ?? 0n)),
    tip: capped(highest(quarter.tip, wanted?.tip ?? 0n))
  }
}
