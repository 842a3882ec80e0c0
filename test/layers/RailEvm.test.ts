import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Postgres from "#layers/Postgres.ts"
import * as Chain from "#layers/RailEvm/Chain.ts"
import { raised } from "#layers/RailEvm/Relayer.ts"
import * as Transactions from "#layers/RailEvm/Transactions.ts"
import * as Uses from "#layers/RailEvm/Uses.ts"
import { newUuid } from "#services/NewId.ts"
import { settlement } from "./RailFacilitatorHarness.ts"

const key = Redacted.make(`0x${"7".repeat(64)}`)
const call = (settlement: string): Transactions.NewTransaction => ({
  settlement,
  to: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
  data: "0x1234",
  gas: 100_000n,
  fees: { maxFee: 1_000n, tip: 100n },
  fromBlock: 5n
})

layer(Postgres.layerTest, { timeout: "60 seconds" })("the relayer's nonces", (it) => {
  it.effect("of any number of processes are handed out one by one, without a gap", () =>
    Effect.gen(function* () {
      const processes = [
        yield* Transactions.make(key, 1n),
        yield* Transactions.make(key, 1n),
        yield* Transactions.make(key, 1n)
      ] as const
      const all = yield* Effect.forEach(
        Array.from({ length: 30 }, (_, index) => index),
        (index) => processes[(index % 3) as 0 | 1 | 2].first(call(newUuid()), 40n),
        { concurrency: 30 }
      )
      const nonces = all.map(({ nonce }) => Number(nonce)).sort((a, b) => a - b)
      assert.deepStrictEqual(
        nonces,
        Array.from({ length: 30 }, (_, index) => 40 + index)
      )
    })
  )

  it.effect("a settlement gets one, however many processes sign for it at once", () =>
    Effect.gen(function* () {
      const processes = [yield* Transactions.make(key, 2n), yield* Transactions.make(key, 2n)] as const
      const wanted = call(newUuid())
      const all = yield* Effect.all(
        Array.from({ length: 10 }, (_, index) => processes[(index % 2) as 0 | 1].first(wanted, 0n)),
        { concurrency: 10 }
      )
      assert.strictEqual(new Set(all.map(({ hash }) => hash)).size, 1)
      assert.strictEqual((yield* processes[0].first(call(newUuid()), 0n)).nonce, 1n)
    })
  )

  it.effect("a nonce the key spent elsewhere is not handed out", () =>
    Effect.gen(function* () {
      const { first, nextNonce } = yield* Transactions.make(key, 3n)
      assert.isUndefined(yield* nextNonce, "on other chains it has signed")
      const elsewhere = yield* Transactions.make(key, 1n)
      const before = yield* elsewhere.nextNonce
      assert.isDefined(before)
      assert.strictEqual((yield* first(call(newUuid()), 0n)).nonce, 0n)
      assert.strictEqual((yield* first(call(newUuid()), 9n)).nonce, 9n)
      assert.deepStrictEqual([yield* nextNonce, yield* elsewhere.nextNonce], [10n, before])
      const other = yield* Transactions.make(Redacted.make(`0x${"6".repeat(64)}`), 3n)
      assert.isUndefined(yield* other.nextNonce)
    })
  )

  it.effect("a replacement has the same nonce and call and a higher fee, and one process makes it", () =>
    Effect.gen(function* () {
      const one = yield* Transactions.make(key, 4n)
      const other = yield* Transactions.make(key, 4n)
      const stuck = yield* one.first(call(newUuid()), 0n)
      const fees = { maxFee: 1_250n, tip: 125n }
      const replaced = yield* Effect.all(
        [one.replace(stuck, fees), other.replace(stuck, fees), one.replace(stuck, fees)],
        {
          concurrency: 3
        }
      )
      assert.strictEqual(new Set(replaced.map(({ hash }) => hash)).size, 1)
      const [replacement] = replaced
      assert.notStrictEqual(replacement.hash, stuck.hash)
      assert.deepStrictEqual(
        [replacement.nonce, replacement.max_fee, replacement.gas],
        [stuck.nonce, 1_250n, stuck.gas]
      )
      assert.include(replacement.raw, "1234")
      assert.strictEqual((yield* other.at(stuck.nonce))?.hash, replacement.hash)
      const known = yield* one.of(stuck.settlement_id)
      assert.deepStrictEqual(
        known.map(({ hash }) => hash),
        [replacement.hash, stuck.hash]
      )
    })
  )

  it.effect("what was dropped is sent no more, and its settlement gets a new one", () =>
    Effect.gen(function* () {
      const { at, drop, first, of, signedSince } = yield* Transactions.make(key, 6n)
      const id = newUuid()
      yield* first(call(id), 0n)
      yield* drop(id)
      assert.deepStrictEqual(yield* of(id), [])
      assert.isUndefined(yield* at(0n))
      assert.strictEqual((yield* first({ ...call(id), fromBlock: 9n }, 0n)).nonce, 1n)
      assert.strictEqual(yield* signedSince(id), 5n, "what was dropped may have got to the chain")
    })
  )

  it.effect("the key itself is written nowhere", () =>
    Effect.gen(function* () {
      const { first } = yield* Transactions.make(key, 7n)
      yield* first(call(newUuid()), 0n)
      const rows = yield* (yield* SqlClient.SqlClient)`SELECT * FROM chain_transactions WHERE chain_id = 7`
      const text = JSON.stringify(rows, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value))
      assert.notInclude(text, "7".repeat(64))
    })
  )
})

describe("the fee of a replacement", () => {
  it("is an eighth more at least, or what the chain asks now, and never above the cap", () => {
    const stuck = { max_fee: 1_000n, tip: 100n }
    assert.deepStrictEqual(raised(stuck, undefined, 10_000n), { maxFee: 1_251n, tip: 126n })
    assert.deepStrictEqual(raised(stuck, { maxFee: 5_000n, tip: 300n }, 10_000n), { maxFee: 5_000n, tip: 300n })
    assert.deepStrictEqual(raised(stuck, { maxFee: 5_000n, tip: 300n }, 1_200n), { maxFee: 1_200n, tip: 300n })
    assert.isUndefined(raised(stuck, { maxFee: 5_000n, tip: 300n }, 1_100n))
  })
})

describe("the blocks that are searched", () => {
  it("are asked for in spans that nodes answer, and a limited number of them", () => {
    assert.deepStrictEqual(Uses.spansOf(5n, 4n), { spans: [], whole: true })
    assert.deepStrictEqual(Uses.spansOf(5n, 5n), { spans: [[5n, 5n]], whole: true })
    assert.deepStrictEqual(Uses.spansOf(0n, 4_000n).spans, [
      [0n, 1_999n],
      [2_000n, 3_999n],
      [4_000n, 4_000n]
    ])
    const { spans, whole } = Uses.spansOf(0n, 999_999n)
    assert.deepStrictEqual([spans.length, whole], [40, false])
    assert.deepStrictEqual(
      [spans[0], spans[19], spans[20], spans[39]],
      [
        [0n, 1_999n],
        [38_000n, 39_999n],
        [960_000n, 961_999n],
        [998_000n, 999_999n]
      ]
    )
  })

  it("begin before the settlement was asked for, however long its authorisation is valid", () => {
    const wanted = settlement({ since: new Date(10_000_000) })
    assert.strictEqual(Chain.searchedSince(wanted, { validBefore: 10_300n }), 9_400n)
    assert.strictEqual(Chain.searchedSince(wanted, { validBefore: 10_200n }), 9_300n)
    assert.strictEqual(Chain.searchedSince(wanted, { validBefore: 2n ** 256n - 1n }), 9_400n)
  })
})
