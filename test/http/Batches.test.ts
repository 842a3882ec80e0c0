import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { newcomer, options, serverOf, withWallet } from "./WalletsServer.ts"

/** A caller with a funded wallet and an empty one. */
const payer = Effect.fnUntraced(function* (amount: string) {
  const world = yield* withWallet
  const { body } = yield* world.call("POST", "/v1/wallets", {})
  const till: string = body.id
  yield* world.fund({ amount, currency: "USDC" })
  const balance = (id: string) =>
    Effect.map(world.call("GET", `/v1/wallets/${id}`), (answer) => answer.body.balance_available)
  const batch = (request: object, headers?: Record<string, string>) =>
    world.call("POST", "/v1/transfers/batch", { from_wallet_id: world.id, ...request }, headers)
  const item = (amount: unknown, more: object = {}) => ({ to_wallet_id: till, amount, currency: "USDC", ...more })
  const stored = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql`SELECT (SELECT count(*)::int FROM batches WHERE tenant_id = ${world.tenant.id}) AS batches,
      (SELECT count(*)::int FROM transfers WHERE tenant_id = ${world.tenant.id}) AS transfers`
    return row
  })
  return { ...world, till, balance, batch, item, stored }
})
const nothing = { batches: 0, transfers: 0 }

layer(serverOf("sandbox"), options)("batches over HTTP", (it) => {
  it.effect("answer 201 with what became of each item, and read back the same", () =>
    Effect.gen(function* () {
      const { balance, batch, call, id, item, till } = yield* payer("10")
      const answer = yield* batch({ transfers: [item("4"), item("7"), item("6", { memo: "last" })] })
      assert.strictEqual(answer.status, 201)
      const { batch_id, created_at, transfers, ...rest } = answer.body
      assert.match(batch_id, /^bat_[0-9a-z]{26}$/)
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(rest, { total: 3, completed: 2, failed: 1, replayed: 0, status: "partially_completed" })
      assert.deepStrictEqual(
        transfers.map(({ id: _, ...line }: { id: string }) => line),
        [
          { index: 0, status: "completed", failure_reason: null, replayed: false },
          { index: 1, status: "failed", failure_reason: "insufficient_funds", replayed: false },
          { index: 2, status: "completed", failure_reason: null, replayed: false }
        ]
      )
      const read = yield* call("GET", `/v1/transfers/batch/${batch_id}`)
      assert.deepStrictEqual([read.status, read.text], [200, answer.text])
      assert.deepStrictEqual([yield* balance(id), yield* balance(till)], ["0.00", "10.00"])
    })
  )

  it.effect("make ordinary transfers, which are listed by batch and got one by one", () =>
    Effect.gen(function* () {
      const { batch, call, item } = yield* payer("10")
      yield* batch({ transfers: [item("1")] })
      const { body } = yield* batch({ transfers: [item("1"), item("20"), { ...item("1"), to_wallet_id: newUuid() }] })
      const list = yield* call("GET", `/v1/transfers?batch_id=${body.batch_id}`)
      const ids = body.transfers.map(({ id }: { id: string }) => id)
      assert.deepStrictEqual(
        list.body.data.map((one: Record<string, unknown>) => [one["id"], one["batch_id"], one["failure_reason"]]),
        [
          [ids[2], body.batch_id, "wallet_not_found"],
          [ids[1], body.batch_id, "insufficient_funds"],
          [ids[0], body.batch_id, null]
        ]
      )
      assert.deepStrictEqual((yield* call("GET", `/v1/transfers/${ids[0]}`)).body, list.body.data[2])
    })
  )

  it.effect("with something undecodable make nothing, and the refusal names the item", () =>
    Effect.gen(function* () {
      const { batch, item, stored, till } = yield* payer("10")
      const { to_wallet_id, ...lost } = item("1")
      const cases: ReadonlyArray<readonly [object, number, string, string]> = [
        [{ transfers: [item("1"), item("-1")] }, 422, "INVALID_AMOUNT", "transfers.1.amount"],
        [{ transfers: [item("1"), item("0")] }, 422, "AMOUNT_TOO_SMALL", "transfers.1.amount"],
        [{ transfers: [item("1"), item("0.0000001")] }, 422, "INVALID_AMOUNT", "transfers.1.amount"],
        [{ transfers: [item("9223372036854.775808")] }, 422, "AMOUNT_TOO_LARGE", "transfers.0.amount"],
        [{ transfers: [] }, 400, "INVALID_REQUEST", "transfers"],
        [{}, 400, "INVALID_REQUEST", "transfers"],
        [{ transfers: Array.from({ length: 1_001 }, () => item("1")) }, 400, "INVALID_REQUEST", "transfers"],
        [{ transfers: [item("1"), item("1"), lost] }, 400, "INVALID_REQUEST", "transfers.2"],
        [{ transfers: [item("1", { to_account_id: newUuid() })] }, 400, "INVALID_REQUEST", "transfers.0"],
        [{ transfers: [item("1", { to_wallet_id: "nobody" })] }, 400, "INVALID_REQUEST", "transfers.0.to_wallet_id"],
        [{ transfers: [item("1", { currency: "USD" })] }, 400, "INVALID_REQUEST", "transfers.0.currency"],
        [{ transfers: [item("1", { memo: "x".repeat(1_001) })] }, 400, "INVALID_REQUEST", "transfers.0.memo"],
        [{ transfers: [item("1", { idempotency_key: "" })] }, 400, "INVALID_REQUEST", "transfers.0.idempotency_key"],
        [{ transfers: [item("1", { from_wallet_id: till })] }, 400, "INVALID_REQUEST", "transfers.0.from_wallet_id"]
      ]
      for (const [request, status, code, path] of cases) {
        const { body, ...answer } = yield* batch(request)
        assert.deepStrictEqual([answer.status, body.code], [status, code], answer.text)
        assert.strictEqual(body.details.param ?? body.details.errors[0].path, path)
      }
      assert.deepStrictEqual(yield* stored, nothing)
    })
  )

  it.effect("of more than 1 MiB are too large, however few the items", () =>
    Effect.gen(function* () {
      const { batch, item, stored } = yield* payer("10")
      const transfers = (memo: number) => Array.from({ length: 1_000 }, () => item("0.001", { memo: "x".repeat(memo) }))
      assert.strictEqual((yield* batch({ transfers: transfers(1_000) })).status, 413)
      assert.deepStrictEqual(yield* stored, nothing)
      const most = yield* batch({ transfers: transfers(800) })
      assert.deepStrictEqual([most.status, most.body.completed], [201, 1_000])
    })
  )

  it.effect("paid by a wallet of nobody's, somebody else's or a frozen one are refused as a whole", () =>
    Effect.gen(function* () {
      const { batch, call, id, item, stored } = yield* payer("10")
      const theirs = yield* payer("10")
      for (const from_wallet_id of [toTypeId("wal", newUuid()), theirs.id]) {
        const answer = yield* batch({ from_wallet_id, transfers: [item("1")] })
        assert.deepStrictEqual([answer.status, answer.body.code], [404, "NOT_FOUND"])
      }
      yield* call("POST", `/v1/wallets/${id}/freeze`, { reason: "test" })
      const answer = yield* batch({ transfers: [item("1")] })
      assert.deepStrictEqual([answer.status, answer.body.code], [403, "WALLET_FROZEN"])
      assert.deepStrictEqual(yield* stored, nothing)
    })
  )

  it.effect(
    "are answered again under their key, with the header, also when the wallet was frozen since; another body is 409",
    () =>
      Effect.gen(function* () {
        const { balance, batch, call, id, item, till } = yield* payer("10")
        const request = { transfers: [item("1"), item("20")] }
        const first = yield* batch(request, { "idempotency-key": "payroll" })
        assert.isNull(first.headers.get("idempotency-replayed"))
        yield* call("POST", `/v1/wallets/${id}/freeze`, { reason: "test" })
        const again = yield* batch({ ...request, idempotency_key: "payroll" })
        assert.deepStrictEqual([again.status, again.text], [201, first.text])
        assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
        const other = yield* batch({ transfers: [item("1"), item("21")] }, { "idempotency-key": "payroll" })
        assert.deepStrictEqual([other.status, other.body.code], [409, "IDEMPOTENCY_KEY_REUSED"])
        assert.strictEqual(yield* balance(till), "1.00")
      })
  )

  it.effect("are the same under their key with a memo of null and without one", () =>
    Effect.gen(function* () {
      const { balance, batch, item, till } = yield* payer("10")
      const key = { "idempotency-key": "payroll" }
      const first = yield* batch({ transfers: [item("1"), item("2", { memo: "m" })] }, key)
      const same = { transfers: [item("1", { memo: null }), item("2", { memo: "m" })] }
      const again = yield* batch(same, key)
      assert.deepStrictEqual([again.status, again.text], [201, first.text])
      const other = yield* batch({ transfers: [item("1"), item("2", { memo: null })] }, key)
      assert.deepStrictEqual([other.status, other.body.code], [409, "IDEMPOTENCY_KEY_REUSED"])
      assert.strictEqual(yield* balance(till), "3.00")
    })
  )

  it.effect("share the keys of their items with single transfers", () =>
    Effect.gen(function* () {
      const { balance, batch, call, id, item, till } = yield* payer("10")
      const alone = (amount: string, idempotency_key: string) =>
        call("POST", "/v1/transfers", {
          from_wallet_id: id,
          to_wallet_id: till,
          amount,
          currency: "USDC",
          memo: null,
          idempotency_key
        })
      const key = (idempotency_key: string) => ({ memo: null, idempotency_key })
      const before = yield* alone("1", "alone")
      const { body } = yield* batch({
        transfers: [
          item("1.0", key("alone")),
          item("2", key("alone")),
          item("3", key("batch")),
          item("50", key("poor"))
        ]
      })
      assert.strictEqual(body.transfers[0].id, before.body.id)
      assert.deepStrictEqual(
        body.transfers.map((line: Record<string, unknown>) => line["failure_reason"]),
        [null, "idempotency_key_reused", null, "insufficient_funds"]
      )
      for (const [amount, name, index] of [
        ["3", "batch", 2],
        ["50", "poor", 3]
      ] as const) {
        const after = yield* alone(amount, name)
        assert.strictEqual(after.headers.get("idempotency-replayed"), "true")
        assert.deepStrictEqual(
          [after.body.id, after.body.batch_id, after.body.failure_reason],
          [body.transfers[index].id, body.batch_id, body.transfers[index].failure_reason]
        )
      }
      assert.strictEqual((yield* alone("4", "batch")).status, 409)
      assert.isNull((yield* call("GET", `/v1/transfers/${before.body.id}`)).body.batch_id)
      assert.strictEqual(yield* balance(till), "4.00")
    })
  )

  it.effect("of somebody else's, or of nobody's, are not there", () =>
    Effect.gen(function* () {
      const { batch, item } = yield* payer("10")
      const stranger = yield* newcomer
      const { body } = yield* batch({ transfers: [item("1")] })
      for (const id of [body.batch_id, toTypeId("bat", newUuid()), "nonsense", body.transfers[0].id]) {
        const answer = yield* stranger.call("GET", `/v1/transfers/batch/${id}`)
        assert.deepStrictEqual([answer.status, answer.body.code], [404, "NOT_FOUND"], id)
      }
      assert.strictEqual((yield* stranger.call("POST", "/v1/transfers/batch/cancel", {})).status, 404)
    })
  )
})
