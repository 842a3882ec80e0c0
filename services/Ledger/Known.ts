import { dropOldest } from "#domain/BoundedMap.ts"
import type { Book, Decision, TallyRef } from "#domain/Command.ts"
import { type Hold, type LedgerAccount, type Tally, tallyName } from "#domain/LedgerAccount.ts"
import type { Touched, Trace } from "./Reading.ts"

/** How many accounts, open holds and tallies are remembered, each. */
export const knownPolicy = { capacity: 20_000 }

/** What a group touches, as it was left by the last one that touched it. */
export type KnownBook = Pick<Book, "accounts" | "holds" | "tallies">

/**
 * The books as this process left them. Whether they are still so only the database can tell: what is decided from memory is written
 * under the condition that nobody else wrote since, and is decided again from what it reads if somebody did.
 */
export const make = () => {
  let seq: bigint | undefined
  const accounts = new Map<string, LedgerAccount>()
  /** What accounts are called, by the keys that movements name them with. */
  const ids = new Map<bigint, string>()
  const holds = new Map<string, Hold>()
  const tallies = new Map<string, Tally>()

  const remember = (account: LedgerAccount) => {
    accounts.set(account.id, account)
    ids.set(account.key, account.id)
  }

  /** All that is touched; undefined when some of it is not known. */
  const recall = (touched: Touched): (KnownBook & Pick<Book, "seq">) | undefined => {
    if (seq === undefined) return undefined
    const ofAccounts = all(accounts, touched.accounts)
    const ofHolds = all(holds, touched.holds)
    const ofTallies = all(tallies, touched.tallies.map(tallyName))
    if (ofAccounts === undefined || ofHolds === undefined || ofTallies === undefined) return undefined
    return { seq, accounts: ofAccounts, holds: ofHolds, tallies: ofTallies }
  }

  /** What the database said before a decision. */
  const read = (book: KnownBook & Pick<Book, "seq">, asked: ReadonlyArray<TallyRef>) => {
    seq = book.seq
    for (const account of book.accounts) remember(account)
    for (const hold of book.holds) if (hold.state === "open") holds.set(hold.id, hold)
    // Of what was never counted there is no row.
    for (const tally of asked) tallies.set(tallyName(tally), { ...tally, count: 0n, amount: 0n })
    for (const tally of book.tallies) tallies.set(tallyName(tally), tally)
  }

  /**
   * Goes along with the log to `head`, by the movements behind what we know of it; whether it had gone on without us. What they do
   * not tell is forgotten: the counts, and everything when there were more of them.
   */
  const follow = (head: bigint, traces: ReadonlyArray<Trace>): boolean => {
    if (seq === undefined || seq === head) return false
    if (head - seq !== BigInt(traces.length)) {
      forget()
      return true
    }
    const leave = (key: bigint, balance: Partial<LedgerAccount>) => {
      const account = accounts.get(ids.get(key) ?? "")
      if (account !== undefined) accounts.set(account.id, { ...account, ...balance })
    }
    for (const { credit, credit_posted, debit, debit_held, debit_posted, ended } of traces) {
      leave(debit, { posted: debit_posted, held: debit_held })
      leave(credit, { posted: credit_posted })
      if (ended !== null) holds.delete(ended)
    }
    tallies.clear()
    seq = head
    return true
  }

  /** What a decision made of them, when it is committed. */
  const wrote = (decision: Decision) => {
    if (seq !== undefined) seq += BigInt(decision.movements.length)
    for (const account of decision.accounts) remember(account)
    for (const raise of decision.tallies) {
      const tally = tallies.get(tallyName(raise))
      const { amount, count } = raise
      // The others are not known, only by how much they went up.
      if (tally !== undefined)
        tallies.set(tallyName(raise), { ...tally, count: tally.count + count, amount: tally.amount + amount })
    }
    for (const hold of decision.holds) {
      if (hold.state === "open") holds.set(hold.id, hold)
      else holds.delete(hold.id)
    }
    for (const known of [accounts, holds, tallies]) dropOldest(known, knownPolicy.capacity)
    dropOldest(ids, knownPolicy.capacity)
  }

  const forget = () => {
    seq = undefined
    for (const known of [accounts, ids, holds, tallies]) known.clear()
  }

  return { seq: () => seq, recall, read, follow, wrote, forget }
}
export type Known = ReturnType<typeof make>

const all = <A>(known: ReadonlyMap<string, A>, names: ReadonlyArray<string>): ReadonlyArray<A> | undefined => {
  const found: Array<A> = []
  for (const name of names) {
    const value = known.get(name)
    if (value === undefined) return undefined
    found.push(value)
  }
  return found
}
