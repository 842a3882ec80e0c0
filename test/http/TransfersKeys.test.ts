import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fromTypeId, toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { parties, refusedAs, stored } from "./TransfersHarness.ts"
import { options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("a key of a transfer", (it) => {
  it.effect("used 100 times at once is one transfer, one body, and its events once (L5)", () =>
    Effect.gen(function* () {
      const { balance, create, from, tenant } = yield* parties()
      const before = yield* stored(tenant)
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, (_, index) =>
          index % 2 ? create({ idempotency_key: "once" }) : create({}, { "idempotency-key": "once" })
        ),
        { concurrency: 100 }
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
      assert.strictEqual(answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true").length, 99)
      const after = yield* stored(tenant)
      assert.strictEqual(after.transfers.length - before.transfers.length, 1)
      assert.strictEqual(after.events.length - before.events.length, 2)
      assert.strictEqual(yield* balance(from), "9.00")
    })
  )

  it.effect("of a transfer that failed answers that failure again, although money has come (L5)", () =>
    Effect.gen(function* () {
      const { create, from, fund } = yield* parties("0")
      const first = yield* create({ idempotency_key: "k" })
      yield* fund(from, "5.00")
      const again = yield* create({ idempotency_key: "k" })
      assert.deepStrictEqual([again.text, again.body.status], [first.text, "failed"])
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
    })
  )

  it.effect("answers what was answered first, although the transfer was refunded meanwhile (L5)", () =>
    Effect.gen(function* () {
      const { call, create, get } = yield* parties()
      const first = yield* create({ idempotency_key: "k" })
      const refund = { transfer_id: first.body.id, amount: "0.40", reason: "error" }
      assert.strictEqual((yield* call("POST", "/v1/refunds", refund)).status, 201)
      assert.strictEqual((yield* get(first.body.id)).body.refunded_amount, "0.40")
      assert.strictEqual((yield* create({ idempotency_key: "k" })).text, first.text)
    })
  )

  it.effect("with another body is 409, one after the other and at once, and the original is untouched (L6)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const first = yield* all.create({ idempotency_key: "k", memo: "first" })
      for (const over of [
        { amount: "2.00" },
        { memo: "second" },
        { memo: null },
        { type: "wrap" },
        { to_wallet_id: yield* all.wallet() },
        // These could never be made, and are other parameters all the same.
        { currency: "EURC" },
        { to_wallet_id: all.from },
        { to_wallet_id: yield* all.wallet({ network: "base-sepolia" }) },
        { to_wallet_id: toTypeId("wal", newUuid()) },
        { from_wallet_id: toTypeId("wal", newUuid()) }
      ]) {
        const attempt = all.create({ idempotency_key: "k", memo: "first", ...over })
        yield* refusedAs(all, attempt, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" })
      }
      const answers = yield* Effect.all(
        ["1.01", "1.02", "1.03", "1.04"].map((amount) => all.create({ idempotency_key: "race", amount })),
        { concurrency: 4 }
      )
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
      assert.deepStrictEqual((yield* all.get(first.body.id)).body, first.body)
    })
  )

  it.effect("counts the same amount, ids in other spellings and fields in another order as the same body (L6)", () =>
    Effect.gen(function* () {
      const { create, call, usual, from } = yield* parties()
      const first = yield* create({ idempotency_key: "k" })
      for (const over of [
        { amount: "1" },
        { amount: 1 },
        { type: "internal" },
        { from_wallet_id: fromTypeId("wal", from)!.toUpperCase() }
      ]) {
        assert.strictEqual((yield* create({ idempotency_key: "k", ...over })).text, first.text)
      }
      const turned = Object.fromEntries(Object.entries({ ...usual, idempotency_key: "k" }).reverse())
      assert.strictEqual((yield* call("POST", "/v1/transfers", turned)).text, first.text)
    })
  )

  it.effect("is another tenant's own, and another operation's (L7)", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [yield* parties(), yield* parties()]
      const key = { "idempotency-key": "shared" }
      const answers = [
        yield* mine.create({}, key),
        yield* theirs.create({}, key),
        yield* mine.call("POST", `/v1/wallets/${mine.from}/fund`, { amount: "1.00", currency: "USDC" }, key)
      ]
      for (const { headers, status } of answers) {
        assert.deepStrictEqual([status, headers.get("idempotency-replayed")], [201, null])
      }
      assert.notStrictEqual(answers[0]?.body.id, answers[1]?.body.id)
    })
  )

  it.effect("of a request that was refused is free (L9)", () =>
    Effect.gen(function* () {
      const { create } = yield* parties()
      const key = { "idempotency-key": "free" }
      for (const over of [
        { amount: "-1" },
        { currency: "EURC" },
        { to_wallet_id: toTypeId("wal", newUuid()) },
        { memo: 7 },
        { quote_id: toTypeId("qt", newUuid()) }
      ]) {
        assert.isAtLeast((yield* create(over, key)).status, 400)
      }
      const { headers, status } = yield* create({}, key)
      assert.deepStrictEqual([status, headers.get("idempotency-replayed")], [201, null])
    })
  )

  it.effect("is 1 to 255 printable characters, in any script (L10)", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      for (const key of ["k".repeat(256), "k".repeat(10_000), "", "a\u0000b", "a\nb", "\ud800", 7, null, ["k"], {}]) {
        const attempt = all.create({ idempotency_key: key })
        yield* refusedAs(all, attempt, { status: 400, code: "INVALID_REQUEST" })
      }
      for (const key of ["k".repeat(255), "ключ 🔑", `${"k".repeat(253)}🔑`]) {
        const answers = [yield* all.create({ idempotency_key: key }), yield* all.create({ idempotency_key: key })]
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [201, 201]
        )
        assert.strictEqual(answers[0]?.text, answers[1]?.text)
      }
    })
  )

  it.effect("that differs between header and body is 422 and moves nothing", () =>
    Effect.gen(function* () {
      const all = yield* parties()
      const attempt = all.create({ idempotency_key: "a" }, { "idempotency-key": "b" })
      yield* refusedAs(all, attempt, { status: 422, code: "IDEMPOTENCY_KEYS_DIFFER" })
    })
  )
})
