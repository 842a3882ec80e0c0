import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Outcome } from "#domain/ChainSettlement.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as PlayedNode from "./PlayedNode.ts"
import { relayerOn, transactionOf } from "./RailEvmHarness.ts"
import { permitted, settlement } from "./RailFacilitatorHarness.ts"

const { invalidated, topics, transferred, use } = PlayedNode
const first = `0x${"aa".repeat(32)}`
const settled: Outcome = { _tag: "Settled", transaction: first, log: 1 }
const used: Outcome = { _tag: "Refused", reason: "invalid_exact_evm_nonce_already_used" }

/** Payments are brought since the hundredth block of two seconds each, and asked to be settled ten blocks later. */
const since = new Date(200_000)

layer(Postgres.layerTest, { timeout: "60 seconds" })("an authorisation that is used before we bring it", (it) => {
  let keys = 0
  const working = Effect.gen(function* () {
    const node = PlayedNode.make(110n)
    const { ask } = yield* relayerOn(node, String(++keys))
    return { ...node, ask }
  })

  it.effect("settles the payment when somebody else made its transfer since that was brought", () =>
    Effect.gen(function* () {
      const { ask, chain, mine, raws } = yield* working
      const wanted = settlement({ since })
      const { authorization: one } = wanted
      mine(first, { block: 105n, logs: [use(one), transferred(one)] })
      chain.usedFrom = 105n
      assert.deepStrictEqual(yield* ask(wanted), settled)
      assert.deepStrictEqual(raws, [])
    })
  )

  it.effect("settles it once that is deep enough", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* working
      const wanted = settlement({ since })
      const { authorization: one } = wanted
      mine(first, { block: 110n, logs: [use(one), transferred(one)] })
      chain.usedFrom = 110n
      assert.strictEqual(transactionOf(yield* ask(wanted)), first)
      chain.head = 111n
      assert.deepStrictEqual(yield* ask({ ...wanted, askedBefore: true, transaction: first }), settled)
    })
  )

  it.effect("leaves it open while the node does not show by what", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* working
      const wanted = settlement({ since })
      const { authorization: one } = wanted
      mine(first, { block: 105n, logs: [use(one), transferred(one)] })
      Object.assign(chain, { usedFrom: 105n, knowsLogs: false })
      assert.deepStrictEqual(yield* ask(wanted), { _tag: "Pending", transaction: undefined })
      chain.knowsLogs = true
      assert.deepStrictEqual(yield* ask({ ...wanted, askedBefore: true }), settled)
    })
  )

  it.effect("refuses it when its payer cancelled it, or gave the money to another", () =>
    Effect.gen(function* () {
      const signed = settlement({ since })
      const permit = permitted({ since })
      for (const [wanted, logs, outcome] of [
        [signed, [use(signed.authorization, topics.canceled)], used],
        [signed, [use(signed.authorization), transferred(signed.authorization, 10_000n, first.slice(0, 42))], used],
        [permit, [invalidated(permit.authorization)], { _tag: "Refused", reason: "permit2_invalid_nonce" }]
      ] as const) {
        const { ask, chain, mine } = yield* working
        mine(first, { block: 105n, logs })
        chain.usedFrom = 105n
        assert.deepStrictEqual(yield* ask(wanted), outcome)
      }
    })
  )

  it.effect(
    "refuses what was used before it was brought, whatever that moved, and however late the node shows it",
    () =>
      Effect.gen(function* () {
        for (const knowsLogs of [true, false]) {
          const { ask, chain, mine } = yield* working
          const wanted = settlement({ since })
          const { authorization: one } = wanted
          mine(first, { block: 99n, logs: [use(one), transferred(one)] })
          Object.assign(chain, { usedFrom: 99n, knowsLogs })
          assert.deepStrictEqual(yield* ask(wanted), used)
        }
      })
  )

  it.effect("needs no archive when the origin took long", () =>
    Effect.gen(function* () {
      const { ask, chain, mine } = yield* working
      const wanted = settlement({ since })
      const { authorization: one } = wanted
      mine(first, { block: 101n, logs: [use(one), transferred(one)] })
      Object.assign(chain, { head: 140n, usedFrom: 101n, states: 70n })
      assert.deepStrictEqual(yield* ask(wanted), settled)
      chain.knowsLogs = false
      chain.usedFrom = 130n
      assert.deepStrictEqual(yield* ask(wanted), { _tag: "Pending", transaction: undefined })
    })
  )
})
