import { assert, describe, it } from "@effect/vitest"
import * as Known from "#services/Ledger/Known.ts"

const account = (key: number, posted = 0n) => ({
  key: BigInt(key),
  id: `account ${key}`,
  currency: "USDC",
  posted,
  held: 0n,
  may_overdraw: false,
  frozen: false,
  is_wallet: true
})

describe("what the ledger remembers", () => {
  it("is bounded: the last accounts", () => {
    const known = Known.make()
    const count = Known.knownPolicy.capacity + 1
    const accounts = Array.from({ length: count }, (_, key) => account(key))
    known.read({ seq: 0n, accounts, holds: [], tallies: [] }, [])
    known.wrote({ answers: [], movements: [], accounts: [], holds: [], tallies: [], keys: [] })
    const recall = (id: string) => known.recall({ accounts: [id], holds: [], tallies: [] })
    assert.isUndefined(recall("account 0"))
    assert.isDefined(recall(`account ${Math.floor(count / 2)}`))
    assert.isDefined(recall(`account ${count - 1}`))
  })

  describe("and follows the movements of others", () => {
    const trace = { debit: 1n, debit_posted: 4n, debit_held: 3n, credit: 2n, credit_posted: 6n, ended: null }
    const held = (id: string) => ({
      id,
      debit: 1n,
      credit: 2n,
      amount: 1n,
      captured: 0n,
      state: "open" as const,
      expires_at: new Date(0)
    })
    const counted = { scope: "scope", subject: "subject", count: 1n, amount: 1n }
    const acquainted = () => {
      const known = Known.make()
      const accounts = [account(1, 10n), account(2), account(3, 5n)]
      known.read({ seq: 7n, accounts, holds: [held("a"), held("b")], tallies: [counted] }, [])
      return known
    }
    const recalled = (known: Known.Known, id: string) =>
      known.recall({ accounts: [id], holds: [], tallies: [] })?.accounts[0]

    it("as they left the balances, and knows where the log is", () => {
      const known = acquainted()
      assert.isTrue(known.follow(9n, [{ ...trace, debit_posted: 1n, debit_held: 9n, credit_posted: 2n }, trace]))
      assert.strictEqual(known.seq(), 9n)
      assert.deepInclude(recalled(known, "account 1"), { posted: 4n, held: 3n })
      assert.deepInclude(recalled(known, "account 2"), { posted: 6n, held: 0n })
      assert.deepInclude(recalled(known, "account 3"), { posted: 5n, held: 0n })
      assert.isFalse(known.follow(9n, []))
    })

    it("to the end of a hold", () => {
      const known = acquainted()
      known.follow(8n, [{ ...trace, ended: "a" }])
      const knows = (hold: string) => known.recall({ accounts: [], holds: [hold], tallies: [] }) !== undefined
      assert.deepStrictEqual([knows("a"), knows("b")], [false, true])
    })

    it("and forgets the counts, which no movement names", () => {
      const known = acquainted()
      known.follow(8n, [trace])
      assert.isUndefined(known.recall({ accounts: [], holds: [], tallies: [counted] }))
    })

    it("or forgets everything when not all of them were read", () => {
      const known = acquainted()
      assert.isTrue(known.follow(10n, [trace]))
      assert.isUndefined(known.seq())
      assert.isUndefined(recalled(known, "account 3"))
    })
  })
})
