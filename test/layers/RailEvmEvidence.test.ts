import { assert, describe, it, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailEvm from "#layers/RailEvm.ts"
import * as Chain from "#layers/RailEvm/Chain.ts"
import * as Contracts from "#layers/RailEvm/Contracts.ts"
import * as Relayer from "#layers/RailEvm/Relayer.ts"
import * as Transactions from "#layers/RailEvm/Transactions.ts"
import { PublicHttp } from "#services/PublicHttp.ts"
import { authorization } from "../services/ChainSettlementsHarness.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { transactionOf } from "./RailEvmHarness.ts"
import { permitted, settlement } from "./RailFacilitatorHarness.ts"

const { invalidated, topics, transferred, use } = PlayedNode
const stranger = `0x${"77".repeat(20)}`
const hash = (of: string) => `0x${of.repeat(32)}`

const options = {
  network: "base-sepolia",
  rpcUrl: Redacted.make("http://127.0.0.1:9"),
  key: Redacted.make(`0x${"7".repeat(64)}`),
  confirmations: 2,
  maxFee: 10n ** 10n,
  maxGas: 300_000n,
  stuckAfter: Duration.hours(1)
} as const

/** A node at its hundredth block, and what the chain on it says of a used authorisation. */
const looking = Effect.fnUntraced(function* (wanted: Settlement) {
  const node = PlayedNode.make(100n)
  const move = (yield* Contracts.make)(wanted)
  if (move === undefined) return yield* Effect.die("it is no call of a contract")
  const chain = Chain.make(node.rpc, options.confirmations)
  node.chain.usedFrom = 50n
  const all = { from: 0n, likely: 0n }
  const found = Effect.suspend(() => chain.afterUse(move, wanted.authorization, all, node.chain.head, node.chain.head))
  return { ...node, move, found }
})
const settled = (transaction: string, log: number): Outcome => ({ _tag: "Settled", transaction, log })
const used: Outcome = { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" }

describe("a transaction of somebody else", () => {
  it.effect("settles a signed transfer by the log that stands right behind the nonce's use, and by no other", () =>
    Effect.gen(function* () {
      const wanted = settlement()
      const { authorization: one } = wanted
      const byOther = yield* looking(wanted)
      byOther.mine(hash("aa"), { block: 60n, first: 4n, logs: [use(one), transferred(one)] })
      assert.deepStrictEqual(yield* byOther.found, settled(hash("aa"), 5))

      const forNothing = [use(one), transferred(one, 0n, one.payer)]
      for (const logs of [
        [transferred(one), ...forNothing, transferred(one)],
        [use(one), transferred(one, 9_999n), transferred(one)],
        [use(one), transferred(one, 10_000n, stranger), transferred(one)],
        [use(one), transferred({ ...one, payer: stranger }), transferred(one)],
        [use(one), { ...transferred(one), address: stranger }, transferred(one)],
        [use(one, topics.canceled), transferred(one)]
      ]) {
        const other = yield* looking(wanted)
        other.mine(hash("bb"), { block: 60n, logs })
        assert.deepStrictEqual(yield* other.found, used)
      }
    })
  )

  it.effect("settles a permit only when it is the call as it was signed, whatever stands behind that", () =>
    Effect.gen(function* () {
      const wanted = permitted()
      const { authorization: one } = wanted
      const { move } = yield* looking(wanted)
      for (const input of [move.data, `${move.data}00`]) {
        const byOther = yield* looking(wanted)
        byOther.mine(hash("aa"), { block: 60n, to: move.to, input, logs: [transferred(one)] })
        assert.deepStrictEqual(yield* byOther.found, settled(hash("aa"), 0))
      }
      for (const [to, input] of [
        [one.asset, `0xa9059cbb${move.data.slice(2)}`],
        [stranger, move.data],
        [move.to, move.data.slice(0, -2)]
      ] as const) {
        const other = yield* looking(wanted)
        other.mine(hash("bb"), { block: 60n, to, input, logs: [transferred(one)] })
        assert.isUndefined(yield* other.found)
      }
    })
  )

  it.effect("is found behind any number of transfers of other amounts, and behind many of the same", () =>
    Effect.gen(function* () {
      const wanted = permitted()
      const { found, mine, move } = yield* looking(wanted)
      for (let index = 0; index < 300; index++) {
        const amount = index < 180 ? 10_000n : 0n
        mine(`0x${String(index).padStart(64, "0")}`, { block: 55n, logs: [transferred(wanted.authorization, amount)] })
      }
      mine(hash("aa"), { block: 60n, to: move.to, input: move.data, logs: [transferred(wanted.authorization)] })
      assert.deepStrictEqual(yield* found, settled(hash("aa"), 0))
    })
  )

  it.effect("proves that a permit was cancelled when no transfer can have been it, and not otherwise", () =>
    Effect.gen(function* () {
      const wanted = permitted()
      const { authorization: one } = wanted
      const cancelled = yield* looking(wanted)
      cancelled.mine(hash("aa"), { block: 60n, logs: [invalidated(one)] })
      assert.deepStrictEqual(yield* cancelled.found, { _tag: "Refused", reason: "permit2_invalid_nonce" })
      const unsure = yield* looking(wanted)
      unsure.mine(hash("aa"), { block: 60n, logs: [invalidated(one)] })
      unsure.mine(hash("bb"), { block: 61n, to: one.asset, logs: [transferred(one)] })
      assert.isUndefined(yield* unsure.found)
      cancelled.chain.head = 200_000n
      assert.isUndefined(yield* cancelled.found, "not all of the blocks were searched")
    })
  )

  it.effect("counts when it is deep enough", () =>
    Effect.gen(function* () {
      const wanted = settlement()
      const { chain, found, mine } = yield* looking(wanted)
      mine(hash("aa"), { block: 101n, logs: [use(wanted.authorization), transferred(wanted.authorization)] })
      assert.deepStrictEqual(yield* found, { _tag: "Pending", transaction: hash("aa") })
      Object.assign(chain, { head: 102n, fork: 1n })
      assert.deepStrictEqual(yield* found, { _tag: "Pending", transaction: hash("aa") }, "its block was replaced")
      chain.fork = 0n
      assert.deepStrictEqual(yield* found, settled(hash("aa"), 1))
    })
  )

  it.effect("that a node does not show yet proves nothing", () =>
    Effect.gen(function* () {
      const wanted = settlement()
      const { chain, found, mine } = yield* looking(wanted)
      assert.isUndefined(yield* found)
      mine(hash("aa"), { block: 60n, logs: [use(wanted.authorization), transferred(wanted.authorization)] })
      chain.knowsReceipts = false
      assert.isUndefined(yield* found)
      chain.knowsReceipts = true
      assert.deepStrictEqual(yield* found, settled(hash("aa"), 1))
    })
  )
})

layer(Layer.merge(Postgres.layerTest, PublicHttp.layer), { timeout: "60 seconds" })("the relayer", (it) => {
  /** One that works on a node of its own, at its hundredth block. */
  const workingTo = Effect.fnUntraced(function* (confirmations: number) {
    const node = PlayedNode.make(100n)
    const moveOf = yield* Contracts.make
    const transactions = yield* Transactions.make(Redacted.make(`0x${String(++keys).padStart(64, "1")}`), 84_532n)
    const chain = Chain.make(node.rpc, confirmations)
    const { advance } = Relayer.make({ ...options, confirmations }, node.rpc, chain, transactions)
    const ask = Effect.fnUntraced(function* (wanted: Settlement) {
      const move = moveOf(wanted)
      return move === undefined ? yield* Effect.die("it is no call of a contract") : yield* advance(wanted, move)
    })
    return { ...node, ask, moveOf }
  })
  const working = workingTo(options.confirmations)
  let keys = 0

  it.effect("refuses nothing that its own transaction made because a node lags behind", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* working
      const wanted = settlement()
      const { authorization: one } = wanted
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      mine(own, { block: 101n, to: one.asset, logs: [use(one), transferred(one)] })
      Object.assign(chain, { head: 105n, usedFrom: 101n, knowsReceipts: false, knowsLogs: false })
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      chain.knowsLogs = true
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      chain.knowsReceipts = true
      assert.deepStrictEqual(yield* ask(later), settled(own, 1))
    })
  )

  it.effect("refuses nothing that went through, whatever a node leaves out", () =>
    Effect.gen(function* () {
      for (const wanted of [settlement(), permitted()]) {
        const { ask, chain, mine, moveOf } = yield* working
        const { authorization: one } = wanted
        const own = transactionOf(yield* ask(wanted))
        const later = { ...wanted, transaction: own, askedBefore: true }
        const call = { block: 101n, to: moveOf(wanted)?.to ?? "", input: moveOf(wanted)?.data ?? "" }
        const waits = { _tag: "Pending", transaction: own } as const
        mine(own, call)
        chain.head = 110n
        assert.deepStrictEqual(yield* ask(later), waits, "it does not know that it is used")
        chain.usedFrom = 101n
        assert.deepStrictEqual(yield* ask(later), waits)
        mine(hash("cc"), { block: 105n, logs: [invalidated(one)] })
        assert.deepStrictEqual(yield* ask(later), waits, "what was cancelled after it was used had been used")
        chain.head = 1_000n
        assert.deepStrictEqual(yield* ask(later), waits, "it has ended meanwhile")
        mine(own, { ...call, logs: [use(one), transferred(one)] })
        assert.strictEqual((yield* ask(later))._tag, "Settled")
      }
    })
  )

  it.effect("whose transaction came too late looks for the one that was faster, in spans", () =>
    Effect.gen(function* () {
      const { ask, asked, chain, mine } = yield* working
      const wanted = settlement()
      const { authorization: one } = wanted
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      mine(own, { block: 3_102n, status: 0n })
      Object.assign(chain, { head: 3_200n, usedFrom: 101n })
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: own })
      assert.deepStrictEqual(asked, [
        [100n, 2_099n],
        [2_100n, 3_199n],
        [0n, 99n]
      ])
      mine(hash("aa"), { block: 3_100n, logs: [use(one), transferred(one)] })
      assert.deepStrictEqual(yield* ask(later), settled(hash("aa"), 1))
    })
  )

  it.effect("whose transaction failed looks for one that came after it, too", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* working
      const wanted = settlement()
      const own = transactionOf(yield* ask(wanted))
      mine(own, { block: 105n, status: 0n })
      mine(hash("aa"), { block: 110n, logs: [use(wanted.authorization), transferred(wanted.authorization)] })
      Object.assign(chain, { head: 120n, usedFrom: 110n })
      assert.deepStrictEqual(yield* ask({ ...wanted, transaction: own, askedBefore: true }), settled(hash("aa"), 1))
    })
  )

  it.effect("needs no archive, however deep a transaction must be", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* workingTo(500)
      const wanted = settlement()
      const { authorization: one } = wanted
      const own = transactionOf(yield* ask(wanted))
      const later = { ...wanted, transaction: own, askedBefore: true }
      const waits = { _tag: "Pending", transaction: own } as const
      chain.head = 300n
      assert.deepStrictEqual(yield* ask(later), waits, "it has ended, and not deep enough")
      chain.head = 648n
      assert.deepStrictEqual(yield* ask(later), waits)
      chain.head = 649n
      const ended = "invalid_exact_evm_payload_authorization_valid_before"
      assert.deepStrictEqual(yield* ask(later), { _tag: "Refused", reason: ended })
      mine(hash("aa"), { block: 140n, logs: [use(one), transferred(one)] })
      Object.assign(chain, { head: 638n, usedFrom: 140n })
      assert.deepStrictEqual(yield* ask(later), { _tag: "Pending", transaction: hash("aa") })
      chain.head = 639n
      assert.deepStrictEqual(yield* ask(later), settled(hash("aa"), 1))
    })
  )

  it.effect("finds what another rail moved before it", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* working
      const wanted = settlement({ askedBefore: true, since: new Date(190_000) })
      Object.assign(chain, { usedFrom: 96n, balance: 0n })
      assert.deepStrictEqual(yield* ask(wanted), { _tag: "Pending", transaction: undefined })
      mine(hash("cc"), { block: 96n, logs: [use(wanted.authorization), transferred(wanted.authorization)] })
      assert.deepStrictEqual(yield* ask(wanted), settled(hash("cc"), 1))
    })
  )

  it.effect("refuses what somebody may have brought when it ended, and what nobody heard of at once", () =>
    Effect.gen(function* () {
      const { ask, chain } = yield* working
      chain.balance = 0n
      const isNew = yield* ask(settlement())
      assert.deepStrictEqual(isNew, { _tag: "Refused", reason: "insufficient_funds" })
      const wanted = settlement({ askedBefore: true })
      assert.deepStrictEqual(yield* ask(wanted), { _tag: "Pending", transaction: undefined })
      const known = settlement({ transaction: hash("dd") })
      assert.deepStrictEqual(yield* ask(known), { _tag: "Pending", transaction: hash("dd") })
      chain.head = 150n
      assert.deepStrictEqual(yield* ask(wanted), { _tag: "Pending", transaction: undefined }, "not deep enough")
      chain.head = 151n
      const ended = "invalid_exact_evm_payload_authorization_valid_before"
      assert.deepStrictEqual(yield* ask(wanted), { _tag: "Refused", reason: ended })
    })
  )

  it.effect("says nothing of payments that only another rail could bring", () =>
    Effect.gen(function* () {
      const rail = yield* RailEvm.make(options)
      const solana = authorization({ network: "solana-devnet", method: "svm" })
      const transaction = hash("ee")
      const known = settlement({ authorization: solana, askedBefore: true, transaction })
      assert.deepStrictEqual(yield* rail.settle(known), { _tag: "Pending", transaction })
      const unknown = settlement({ authorization: solana })
      assert.deepStrictEqual(yield* rail.settle(unknown), { _tag: "Refused", reason: "invalid_payload" })
    })
  )
})
