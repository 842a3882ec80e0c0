import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fromTypeId, toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { refusedAmounts } from "./RefusedAmounts.ts"
import { parties, refusedAs } from "./TransfersHarness.ts"
import { options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("a transfer that cannot be", (it) => {
  for (const [name, json, code] of refusedAmounts) {
    it.effect(`amount ${name} is 422 ${code}, names the field and stores nothing (L33)`, () =>
      Effect.gen(function* () {
        const all = yield* parties()
        const body = yield* refusedAs(all, all.createRaw("amount", json), { status: 422, code })
        assert.strictEqual(body.details.param, "amount")
      })
    )
  }

  for (const [name, json, shown] of [
    ["the smallest", '"0.000001"', "0.000001"],
    ["six decimals", '"1.100000"', "1.10"],
    ["a whole number", '"3"', "3.00"],
    ["an exact JSON number", "0.1", "0.10"],
    ["a JSON number that prints exactly", "1.000001", "1.000001"]
  ] as const) {
    it.effect(`amount ${name} is taken exactly (L33)`, () =>
      Effect.gen(function* () {
        const { createRaw } = yield* parties()
        const { body, status } = yield* createRaw("amount", json)
        assert.deepStrictEqual([status, body.amount, body.status], [201, shown, "completed"])
      })
    )
  }

  it.effect("0.1 and 0.2 are 0.3, and a tenth of a cent a hundred times is ten cents (L34)", () =>
    Effect.gen(function* () {
      const { balance, create, from, to } = yield* parties("1.00")
      for (const amount of ["0.1", "0.2"]) yield* create({ amount })
      assert.deepStrictEqual([yield* balance(from), yield* balance(to)], ["0.70", "0.30"])
      yield* Effect.all(
        Array.from({ length: 100 }, () => create({ amount: "0.001" })),
        { concurrency: 50 }
      )
      assert.deepStrictEqual([yield* balance(from), yield* balance(to)], ["0.60", "0.40"])
    })
  )

  it.effect("the largest amount there is fails for want of money, and one more is refused (L35)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const { body } = yield* all.create({ amount: "9223372036854.775807" })
      assert.deepStrictEqual([body.status, body.failure_reason], ["failed", "insufficient_funds"])
      assert.strictEqual((yield* all.get(body.id)).body.amount, "9223372036854.775807")
      yield* refusedAs(all, all.create({ amount: "9223372036854.775808" }), { status: 422, code: "AMOUNT_TOO_LARGE" })
    })
  )

  it.effect("to the same wallet is 422 SAME_WALLET, however the wallet is written (L31)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const uuid = fromTypeId("wal", all.from)!
      for (const to_wallet_id of [all.from, uuid, uuid.toUpperCase()]) {
        for (const from_wallet_id of [all.from, uuid]) {
          const attempt = all.create({ from_wallet_id, to_wallet_id })
          yield* refusedAs(all, attempt, { status: 422, code: "SAME_WALLET" })
        }
      }
    })
  )

  it.effect("with a wallet id that is none is 400 (L31)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const id = all.from
      for (const bad of [
        ` ${id}`,
        `${id} `,
        id.toUpperCase(),
        id.replace("wal_", "acc_"),
        "",
        "x",
        7,
        null,
        [id],
        {}
      ]) {
        for (const field of ["from_wallet_id", "to_wallet_id"]) {
          yield* refusedAs(all, all.create({ [field]: bad }), { status: 400, code: "INVALID_REQUEST" })
        }
      }
    })
  )

  it.effect("the same wallets as uuids in upper case move the same money (L31)", () =>
    Effect.gen(function* () {
      const { create, from, to } = yield* parties()
      const { body } = yield* create({
        from_wallet_id: fromTypeId("wal", from)!.toUpperCase(),
        to_wallet_id: fromTypeId("wal", to)!
      })
      assert.deepInclude(body, { status: "completed", from_wallet_id: from, to_wallet_id: to })
    })
  )

  it.effect("with a wallet that is nobody's or another tenant's is 404 (L7)", () =>
    Effect.gen(function* () {
      const [all, theirs] = [yield* parties(), yield* parties()]
      for (const id of [toTypeId("wal", newUuid()), theirs.from, theirs.to]) {
        for (const field of ["from_wallet_id", "to_wallet_id"]) {
          yield* refusedAs(all, all.create({ [field]: id }), { status: 404, code: "NOT_FOUND" })
        }
      }
      assert.deepStrictEqual([yield* theirs.balance(theirs.from), yield* theirs.balance(theirs.to)], ["10.00", "0.00"])
    })
  )

  it.effect("in another currency than either wallet's is 422 CURRENCY_MISMATCH (L32)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const euro = yield* all.wallet({ currency: "EURC" })
      for (const over of [{ currency: "EURC" }, { to_wallet_id: euro }, { from_wallet_id: euro }]) {
        yield* refusedAs(all, all.create(over), { status: 422, code: "CURRENCY_MISMATCH" })
      }
      const other = yield* all.wallet({ currency: "EURC" })
      yield* refusedAs(all, all.create({ from_wallet_id: euro, to_wallet_id: other }), {
        status: 422,
        code: "CURRENCY_MISMATCH"
      })
    })
  )

  it.effect("across networks without a quote is 422 NETWORK_MISMATCH (L32)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const base = yield* all.wallet({ network: "base-sepolia" })
      for (const over of [{ to_wallet_id: base }, { from_wallet_id: base }]) {
        const body = yield* refusedAs(all, all.create(over), { status: 422, code: "NETWORK_MISMATCH" })
        assert.includeMembers(Object.values(body.details), ["solana-devnet", "base-sepolia"])
      }
    })
  )

  it.effect("that lacks what its type needs, or has what it does not take, is 400 and says which fields", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const [quote_id, stream_id] = [toTypeId("qt", newUuid()), toTypeId("str", newUuid())]
      for (const [over, ...paths] of [
        [{ amount: undefined }, "amount"],
        [{ currency: undefined, from_wallet_id: undefined }, "from_wallet_id", "currency"],
        [{ quote_id }, "quote_id"],
        [{ type: "wrap", stream_id }, "stream_id"],
        [{ type: "unwrap", flow_rate: "0.1", buffer: "1" }, "flow_rate", "buffer"],
        [{ type: "cross_border" }, "quote_id"],
        [{ type: "stream_withdraw", amount: undefined }, "stream_id"],
        [{ type: "stream_start" }, "flow_rate"],
        [{ type: "refund" }, "type"],
        [{ type: null }, "type"],
        [{ currency: "USD" }, "currency"],
        [{ note: "a field that is none" }, "note"]
      ] as const) {
        const body = yield* refusedAs(all, all.create(over), { status: 400, code: "INVALID_REQUEST" })
        const named = body.details.errors.map(({ path }: { path: string }) => path)
        assert.includeMembers(named, paths, JSON.stringify(over))
      }
    })
  )
})

layer(serverOf("sandbox"), options)("a memo", (it) => {
  for (const [name, memo] of [
    ["of a thousand characters", "x".repeat(1000)],
    ["with right to left override", "\u202ereversed\u202c"],
    ["of zero width", "a\u200b\u200d\ufeffb"],
    ["of emoji", "👩‍👩‍👧‍👦🦊"],
    ["called __proto__", "__proto__"],
    ["of SQL", "'); DROP TABLE transfers; --"],
    ["of HTML", "<script>alert(1)</script>&amp;"],
    ["of lines", "a\r\nb\n\nc\u2028d"],
    ["with a data: line of an event stream", "\n\ndata: {}\n\n"],
    ["of nothing", ""],
    ["that is null", null]
  ] as const) {
    it.effect(`${name} is kept exactly, in the record and in the events (L38)`, () =>
      Effect.gen(function* () {
        const { create, get, list } = yield* parties()
        const { body, status } = yield* create({ memo })
        assert.deepStrictEqual([status, body.memo], [201, memo])
        assert.strictEqual((yield* get(body.id)).body.memo, memo)
        assert.strictEqual((yield* list()).body.data[0].memo, memo)
      })
    )
  }
  for (const [name, json] of [
    ["of 10 kB", JSON.stringify("x".repeat(10_240))],
    ["of 1,001 characters", JSON.stringify("x".repeat(1001))],
    ["with a lone surrogate", '"\\ud800"'],
    ["with NUL", '"a\\u0000b"'],
    ["that is a number", "7"],
    ["that is an object", '{"toString": "x"}']
  ] as const) {
    it.effect(`${name} is refused and stores nothing (L38)`, () =>
      Effect.gen(function* () {
        const all = yield* parties()
        const body = yield* refusedAs(all, all.createRaw("memo", json), { status: 400, code: "INVALID_REQUEST" })
        assert.strictEqual(body.details.errors[0].path, "memo")
      })
    )
  }
})
