import { tallyName } from "#domain/Posting.ts"
import type { Book, Decision, TallyRef } from "#domain/Command.ts"
import type { Hold, LedgerAccount, Tally } from "#domain/LedgerAccount.ts"
import type { Touched } from "./Reading.ts"

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
  const holds = new Map<string, Hold>()
  const tallies = new Map<string, Tally>()

  /** All that is touched; undefined when some of it is not known. */
  const recall = (touched: Touched): (KnownBook & Pick<Book, "seq">) | undefined => {
    if (seq === undefined) return undefined
    const ofAccounts = all(accounts, touched.accounts)
    const ofHolds = all(holds, touched.holds)
    const ofTallies = all(tallies, touched.tallies.map(tallyName))
    if (ofAccounts === undefined || ofHolds === undefined || ofTallies === undefined) return undefined
    return { seq, accounts: ofAccounts, holds: ofHolds, tallies: ofTallies }
  }

  /** What the database said before a decision; whether the log had gone on without us. */
  const read = (book: KnownBook & Pick<Book, "seq">, asked: ReadonlyArray<TallyRef>): boolean => {
    const isMoved = seq !== undefined && seq !== book.seq
    if (isMoved) forget()
    seq = book.seq
    for (const account of book.accounts) accounts.set(account.id, account)
    for (const hold of book.holds) if (hold.state === "open") holds.set(hold.id, hold)
    // Of what was never counted there is no row.
    for (const tally of asked) tallies.set(tallyName(tally), { ...tally, count: 0n, amount: 0n })
    for (const tally of book.tallies) tallies.set(tallyName(tally), tally)
    return isMoved
  }

  /** What a decision made of them, when it is committed. */
  const wrote = (decision: Decision) => {
    if (seq !== undefined) seq += BigInt(decision.movements.length)
    for (const account of decision.accounts) accounts.set(account.id, account)
    for (const tally of decision.tallies) tallies.set(tallyName(tally), tally)
    for (const hold of decision.holds) {
      if (hold.state === "open") holds.set(hold.id, hold)
      else holds.delete(hold.id)
    }
    for (const known of [accounts, holds, tallies]) shrink(known)
  }

  const forget = () => {
    seq = undefined
    for (const known of [accounts, holds, tallies]) known.clear()
  }

  return { recall, read, wrote, forget }
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

/** Forgets what has been known for longest. */
const shrink = (known: Map<string, unknown>) => {
  let surplus = known.size - knownPolicy.capacity
  for (const name of known.keys()) {
    if (surplus-- <= 0) return
    known.delete(name)
  }
}
