import { Result } from "effect"
import type { Book, Command, Decision, IdempotencyRecord, Posted, Step, TallyRef } from "./Command.ts"
import { idempotencyName } from "./Command.ts"
import { toTypeId } from "./Ids.ts"
import { formatDecimal, maxMicros } from "./Money.ts"
import {
  available,
  covers,
  everyone,
  type Hold,
  isFrozen,
  type LedgerAccount,
  type Movement,
  type MovementKind,
  raisesOf,
  type Tally,
  tallyName,
  version
} from "./LedgerAccount.ts"
import { priceAt } from "./Price.ts"
import {
  AmountTooLarge,
  CurrencyMismatch,
  HoldNotOpen,
  IdempotencyKeyReused,
  InsufficientBalance,
  type PostingRefused,
  SameWallet,
  Superseded,
  WalletFrozen
} from "./PostingRefused.ts"
import { NotFound } from "./Refusal.ts"

/** The whole posting rule: each command in order sees what those before it did, and fails alone. Pure. */
export const decide = (book: Book, commands: ReadonlyArray<Command>): Decision => {
  const byId = new Map(book.accounts.map((account) => [account.id, account]))
  const holds = new Map(book.holds.map((hold) => [hold.id, hold]))
  const tallies = new Map(book.tallies.map((tally) => [tallyName(tally), tally]))
  const keys = new Map(book.keys.map((key) => [idempotencyName(key), key]))
  const posted = new Map<string, Array<Movement>>()
  for (const movement of book.posted) {
    const same = posted.get(movement.command_id)
    if (same === undefined) posted.set(movement.command_id, [movement])
    else same.push(movement)
  }
  const movements: Array<Movement> = []
  const changed = {
    accounts: new Map<string, LedgerAccount>(),
    holds: new Map<string, Hold>(),
    tallies: new Map<string, Tally>(),
    keys: new Map<string, IdempotencyRecord>()
  }
  let seq = book.seq

  const answer = (command: Command): Decision["answers"][number] => {
    const claim = command.idempotency
    const name = claim === undefined ? undefined : idempotencyName(claim)
    const known = name === undefined ? undefined : keys.get(name)
    if (claim !== undefined && known !== undefined && known.expires_at > book.at) {
      return known.fingerprint === claim.fingerprint
        ? Result.succeed({
            command_id: known.command_id,
            movements: posted.get(known.command_id) ?? [],
            at: book.at,
            replayed: true,
            result: known.result
          })
        : Result.fail(new IdempotencyKeyReused({ key: claim.key }))
    }
    const before = posted.get(command.id)
    if (before !== undefined) {
      return Result.succeed({
        command_id: command.id,
        movements: before,
        at: before[0]?.created_at ?? book.at,
        replayed: true
      })
    }

    // The command works on its own drafts, so a refusal at its last step leaves no trace of the first.
    const draft = {
      accounts: new Map<string, LedgerAccount>(),
      holds: new Map<string, Hold>(),
      tallies: new Map<string, Tally>()
    }
    const made: Array<Movement> = []
    const account = (id: string) => draft.accounts.get(id) ?? byId.get(id)
    const tally = (ref: TallyRef) =>
      draft.tallies.get(tallyName(ref)) ?? tallies.get(tallyName(ref)) ?? { ...ref, count: 0n, amount: 0n }

    const move = (
      kind: MovementKind,
      step: Step,
      amount: bigint,
      debit: LedgerAccount,
      credit: LedgerAccount,
      hold_id: string | null
    ) => {
      draft.accounts.set(debit.id, debit)
      draft.accounts.set(credit.id, credit)
      made.push({
        seq: seq + BigInt(made.length) + 1n,
        command_id: command.id,
        step: made.length,
        kind,
        debit: debit.key,
        credit: credit.key,
        amount,
        debit_posted: debit.posted,
        debit_held: debit.held,
        credit_posted: credit.posted,
        hold_id,
        code: step.code,
        created_at: book.at
      })
    }
    const raise = (ref: TallyRef, amount: bigint) => {
      const current = tally(ref)
      draft.tallies.set(tallyName(ref), { ...current, count: current.count + 1n, amount: current.amount + amount })
    }
    const count = (ref: TallyRef | undefined, amount: bigint) => {
      if (ref === undefined) return
      raise(ref, amount)
      if (ref.subject !== everyone) raise({ scope: ref.scope, subject: everyone }, amount)
    }

    for (const { expected, scope, until } of command.fences ?? []) {
      const isOver = until !== undefined && until <= book.at
      if (isOver || tally({ scope, subject: version }).count !== expected) return Result.fail(new Superseded({ scope }))
    }

    const take = (step: Step): PostingRefused | undefined => {
      const debit = account(step.debit)
      const credit = account(step.credit)
      if (debit === undefined) return new NotFound({ resource: "wallet", id: toTypeId("wal", step.debit) })
      if (credit === undefined) return new NotFound({ resource: "wallet", id: toTypeId("wal", step.credit) })
      if (debit.id === credit.id) return new SameWallet({ wallet_id: toTypeId("wal", debit.id) })
      const foreign = debit.currency === step.currency ? credit : debit
      if (foreign.currency !== step.currency) {
        return new CurrencyMismatch({ expected: step.currency, actual: foreign.currency })
      }
      const spends = step.kind === "transfer" || step.kind === "hold"
      if (spends && isFrozen(debit, book.custody)) return new WalletFrozen({ wallet_id: toTypeId("wal", debit.id) })
      switch (step.kind) {
        case "fee":
        case "transfer": {
          const amount =
            step.kind === "transfer" ? step.amount : (paidBy(made.at(-1)) * BigInt(step.basis_points)) / 10_000n
          if (amount === 0n && step.kind === "fee") break
          if (!covers(debit, amount)) return insufficient(debit, amount)
          if (credit.posted + amount > maxMicros) return tooLarge
          if (step.kind === "transfer") count(step.tally, amount)
          move(
            "transfer",
            step,
            amount,
            { ...debit, posted: debit.posted - amount },
            { ...credit, posted: credit.posted + amount },
            null
          )
          break
        }
        case "hold": {
          const amount = priceAt(step.price, step.tally === undefined ? 0n : tally(step.tally).count)
          // A call that is free for this payer needs no reservation.
          if (amount === 0n) break
          if (!covers(debit, amount)) return insufficient(debit, amount)
          const hold: Hold = {
            id: step.hold,
            debit: debit.key,
            credit: credit.key,
            amount,
            captured: 0n,
            state: "open",
            expires_at: step.expires_at
          }
          draft.holds.set(hold.id, hold)
          move("hold", step, amount, { ...debit, held: debit.held + amount }, credit, hold.id)
          break
        }
        case "capture":
        case "release": {
          const hold = draft.holds.get(step.hold) ?? holds.get(step.hold)
          if (hold === undefined || hold.debit !== debit.key || hold.credit !== credit.key) {
            return new NotFound({ resource: "hold", id: step.hold })
          }
          if (hold.state !== "open") return new HoldNotOpen({ hold_id: hold.id, state: hold.state })
          const released = { ...debit, held: debit.held - hold.amount }
          if (step.kind === "release") {
            draft.holds.set(hold.id, { ...hold, state: step.as })
            move("release", step, hold.amount, released, credit, hold.id)
            break
          }
          const counted = step.tally === undefined ? 0n : tally(step.tally).count
          const price = step.price === undefined ? hold.amount : priceAt(step.price, counted)
          // The payer agreed to the held amount: a price that rose meanwhile never takes more.
          const amount = price < hold.amount ? price : hold.amount
          if (credit.posted + amount > maxMicros) return tooLarge
          count(step.tally, amount)
          if (amount === 0n) {
            draft.holds.set(hold.id, { ...hold, state: "released" })
            move("release", step, hold.amount, released, credit, hold.id)
            break
          }
          draft.holds.set(hold.id, { ...hold, state: "captured", captured: amount })
          move(
            "capture",
            step,
            amount,
            { ...released, posted: released.posted - amount },
            { ...credit, posted: credit.posted + amount },
            hold.id
          )
          break
        }
        case "count":
          count(step.tally, 0n)
          move("count", step, 0n, debit, credit, null)
          break
      }
      return undefined
    }
    let refused: PostingRefused | undefined
    for (const step of command.steps) {
      refused = take(step)
      if (refused === undefined) continue
      const [debit, credit] = [byId.get(step.debit), byId.get(step.credit)]
      if (command.concedes?.(refused) !== true || debit === undefined || credit === undefined || debit === credit) {
        return Result.fail(refused)
      }
      made.length = 0
      for (const part of [draft.accounts, draft.holds, draft.tallies]) part.clear()
      move("refuse", step, 0n, debit, credit, null)
      break
    }
    for (const { scope } of command.fences ?? []) raise({ scope, subject: version }, 0n)

    keep(draft.accounts, byId, changed.accounts)
    keep(draft.holds, holds, changed.holds)
    keep(draft.tallies, tallies, changed.tallies)
    seq += BigInt(made.length)
    movements.push(...made)
    if (made.length > 0) posted.set(command.id, made)
    // After its own steps: of a command that is refused, none of its items was begun.
    const items = refused === undefined ? command.items?.map(answer) : undefined
    const moved: Posted = {
      command_id: command.id,
      movements: made,
      at: book.at,
      replayed: made.length === 0 && !!items?.length && items.every((item, index) => isReplay(item, command, index)),
      ...(refused === undefined ? {} : { refused }),
      ...(items === undefined ? {} : { items })
    }
    const done =
      command.result === undefined ? moved : { ...moved, result: command.result(moved, (id) => byId.get(id)) }
    if (claim === undefined || name === undefined) return Result.succeed(done)
    const record: IdempotencyRecord = {
      ...claim,
      command_id: command.id,
      result: done.result ?? null,
      expires_at: book.keysExpireAt
    }
    keys.set(name, record)
    changed.keys.set(name, record)
    return Result.succeed(done)
  }

  return {
    answers: commands.map(answer),
    movements,
    accounts: [...changed.accounts.values()],
    holds: [...changed.holds.values()],
    tallies: raisesOf(changed.tallies, book.tallies),
    keys: [...changed.keys.values()]
  }
}

/** What a movement brought its credit side: a release brings nothing, however much it frees. */
const paidBy = (movement: Movement | undefined): bigint =>
  movement?.kind === "capture" || movement?.kind === "transfer" ? movement.amount : 0n

/** Whether the item had been posted under its own id, and not only its like under a key: then all of the group's work was done before. */
const isReplay = (item: Decision["answers"][number], { items = [] }: Command, index: number): boolean =>
  Result.isSuccess(item) && item.success.replayed && item.success.command_id === items[index]?.id

const keep = <Value>(draft: Map<string, Value>, ...into: ReadonlyArray<Map<string, Value>>) => {
  for (const [id, value] of draft) for (const map of into) map.set(id, value)
}

const tooLarge = new AmountTooLarge({ maximum: formatDecimal(maxMicros) })

const insufficient = (account: LedgerAccount, required: bigint) =>
  new InsufficientBalance({
    required: formatDecimal(required),
    available: formatDecimal(available(account)),
    currency: account.currency
  })
