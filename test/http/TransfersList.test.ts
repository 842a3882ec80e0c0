import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Base64Url } from "effect/encoding"
import { toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { parties } from "./TransfersHarness.ts"
import { newcomer, options, serverOf } from "./WalletsServer.ts"

interface Listed {
  readonly id: string
  readonly type: string
  readonly status: string
  readonly from_wallet_id: string
  readonly to_wallet_id: string
  readonly from_account_id: string
  readonly to_account_id: string
  readonly created_at: string
}

/** A tenant with two accounts of two wallets each, and 36 transfers: within accounts, between them, of every type and outcome. */
const population = Effect.gen(function* () {
  const all = yield* parties("0")
  const { body: account } = yield* all.call("POST", "/v1/accounts", { name: "other" })
  const [third, fourth] = [yield* all.wallet({ owner_id: account.id }), yield* all.wallet({ owner_id: account.id })]
  const wallets = [all.from, all.to, third, fourth]
  yield* Effect.forEach(wallets.slice(0, 3), (id) => all.fund(id, "100.00"))
  const made: Array<Listed> = []
  const types = ["internal", "wrap", "unwrap"]
  for (const from_wallet_id of wallets) {
    for (const to_wallet_id of wallets.filter((id) => id !== from_wallet_id)) {
      for (const type of types) {
        const amount = from_wallet_id === fourth || made.length % 5 === 0 ? "1000.00" : "0.01"
        const { body } = yield* all.create({ from_wallet_id, to_wallet_id, type, amount })
        made.unshift(body)
      }
    }
  }
  const accounts: ReadonlyArray<string> = [toTypeId("acc", all.tenant.account_id), account.id]
  return { ...all, accounts, made, wallets }
})

const holds: Record<string, (transfer: Listed, value: string) => boolean> = {
  status: ({ status }, value) => status === value,
  type: ({ type }, value) => type === value,
  from_wallet_id: ({ from_wallet_id }, value) => from_wallet_id === value,
  to_wallet_id: ({ to_wallet_id }, value) => to_wallet_id === value,
  account_id: ({ from_account_id, to_account_id }, value) => from_account_id === value || to_account_id === value,
  created_after: ({ created_at }, value) => created_at >= value,
  created_before: ({ created_at }, value) => created_at < value
}

layer(serverOf("sandbox"), options)("the list of transfers", (it) => {
  it.effect("by every combination of filters, page by page, is what matches all of them, newest first", () =>
    Effect.gen(function* () {
      const { accounts, list, made, wallets } = yield* population
      const [account = "", other = ""] = accounts
      const [first = "", second = "", third = ""] = wallets
      const values: Record<string, ReadonlyArray<string>> = {
        status: ["completed", "failed"],
        type: ["wrap", "internal"],
        from_wallet_id: [first, third],
        to_wallet_id: [second, third],
        account_id: [account, other],
        created_after: [made[30]?.created_at ?? ""],
        created_before: [made[4]?.created_at ?? ""]
      }
      const combinations = Object.entries(values).reduce<ReadonlyArray<Record<string, string>>>(
        (some, [name, choices]) => some.flatMap((one) => [one, ...choices.map((value) => ({ ...one, [name]: value }))]),
        [{}]
      )
      assert.strictEqual(combinations.length, 3 ** 5 * 2 ** 2)
      const seen = new Map<number, number>()
      yield* Effect.forEach(
        combinations,
        (query) =>
          Effect.gen(function* () {
            const expected = made.filter((transfer) =>
              Object.entries(query).every(([name, value]) => holds[name]?.(transfer, value))
            )
            const limit = String(Math.max(1, Math.ceil(expected.length / 3)))
            const found: Array<Listed> = []
            let cursor: string | null | undefined
            while (cursor !== null) {
              const { body, status } = yield* list({ ...query, limit, ...(cursor !== undefined && { cursor }) })
              assert.strictEqual(status, 200)
              assert.isAtMost(body.data.length, Number(limit))
              found.push(...body.data)
              cursor = body.pagination.next_cursor
            }
            assert.deepStrictEqual(found, expected, JSON.stringify(query))
            seen.set(found.length, (seen.get(found.length) ?? 0) + 1)
          }),
        { concurrency: 8 }
      )
      // The combinations are not all about nothing, nor about everything.
      assert.isAbove(seen.size, 10)
      assert.strictEqual(seen.get(made.length), 1)
    })
  )

  it.effect("by account shows a transfer between two wallets of one account once", () =>
    Effect.gen(function* () {
      const { create, list, tenant } = yield* parties()
      const { body } = yield* create()
      const own = yield* list({ account_id: toTypeId("acc", tenant.account_id) })
      assert.deepStrictEqual(own.body.data, [body])
      const plain = yield* list({ account_id: tenant.account_id })
      assert.deepStrictEqual(plain.body.data, [body])
    })
  )

  it.effect("by account leaves out what a batch would have paid it had it a wallet, whatever filter is added", () =>
    Effect.gen(function* () {
      const { call, from, list } = yield* parties()
      const { body: payee } = yield* call("POST", "/v1/accounts", { name: "without a wallet" })
      const { body: batch } = yield* call("POST", "/v1/transfers/batch", {
        from_wallet_id: from,
        transfers: [{ to_account_id: payee.id, amount: "1.00", currency: "USDC" }]
      })
      assert.strictEqual(batch.transfers[0].failure_reason, "no_receiving_wallet")
      for (const filter of [{}, { batch_id: batch.batch_id }]) {
        assert.deepStrictEqual((yield* list({ account_id: payee.id, ...filter })).body.data, [])
      }
    })
  )

  it.effect("created_after is inclusive, created_before is not, and zones are understood", () =>
    Effect.gen(function* () {
      const { create, list } = yield* parties()
      const { body } = yield* create()
      const at: string = body.created_at
      const utc = at.replace("Z", "+00:00")
      const east = new Date(Date.parse(at) + 7_200_000).toISOString().replace("Z", "+02:00")
      const later = new Date(Date.parse(at) + 1).toISOString()
      for (const time of [at, utc, east]) {
        assert.strictEqual((yield* list({ created_after: time })).body.data.length, 1, time)
        assert.strictEqual((yield* list({ created_before: time })).body.data.length, 0, time)
      }
      assert.strictEqual((yield* list({ created_after: later })).body.data.length, 0)
      assert.strictEqual((yield* list({ created_before: later })).body.data.length, 1)
      assert.strictEqual((yield* list({ created_after: at, created_before: at })).body.data.length, 0)
      assert.strictEqual((yield* list({ created_after: "1900-01-01T00:00:00Z" })).body.data.length, 1)
      assert.strictEqual((yield* list({ created_before: "9999-12-31T23:59:59Z" })).body.data.length, 1)
    })
  )

  it.effect("created_after and created_before may say more than milliseconds", () =>
    Effect.gen(function* () {
      const { create, list } = yield* parties()
      const { body } = yield* create()
      const later = body.created_at.replace("Z", "001Z")
      assert.deepStrictEqual((yield* list({ created_after: later })).body.data, [])
      assert.deepStrictEqual((yield* list({ created_before: later })).body.data, [body])
      const same = body.created_at.replace("Z", "000Z")
      assert.deepStrictEqual((yield* list({ created_after: same })).body.data, [body])
      assert.deepStrictEqual((yield* list({ created_before: same })).body.data, [])
      assert.deepStrictEqual((yield* list({ created_before: "9999-12-31T23:59:59.9999Z" })).body.data, [body])
    })
  )

  it.effect("stays where it was read when newer transfers come", () =>
    Effect.gen(function* () {
      const { create, list } = yield* parties()
      const made = [yield* create(), yield* create(), yield* create()].map(({ body }) => body)
      const first = yield* list({ limit: "2" })
      yield* create()
      const rest = yield* list({ limit: "2", cursor: first.body.pagination.next_cursor })
      assert.deepStrictEqual([...first.body.data, ...rest.body.data], made.reverse())
      assert.deepStrictEqual(rest.body.pagination, { limit: 2, next_cursor: null })
    })
  )

  it.effect("shows nothing of another tenant, by none of its ids and not by its cursors", () =>
    Effect.gen(function* () {
      const theirs = yield* parties()
      for (let count = 0; count < 3; count++) yield* theirs.create()
      const { cursor, next_cursor } = (yield* theirs.list({ limit: "1" })).body.pagination
      assert.isUndefined(cursor)
      const stranger = yield* newcomer
      for (const query of [
        "",
        `from_wallet_id=${theirs.from}`,
        `to_wallet_id=${theirs.to}`,
        `account_id=${theirs.tenant.account_id}`,
        `cursor=${next_cursor}`,
        `account_id=${theirs.tenant.account_id}&cursor=${next_cursor}`
      ]) {
        const { body, status } = yield* stranger.call("GET", `/v1/transfers?${query}`)
        assert.deepStrictEqual([status, body.data], [200, []], query)
      }
      // Such a cursor is a place in time like any other.
      const mine = yield* parties()
      const { body } = yield* mine.create()
      assert.deepStrictEqual((yield* mine.list({ cursor: next_cursor })).body.data, [])
      const later = Base64Url.encode(toTypeId("tx", newUuid()))
      assert.deepStrictEqual((yield* mine.list({ cursor: later })).body.data, [body])
    })
  )

  it.effect("by what is nobody's is empty, and by what is no id, type, status or time is 400", () =>
    Effect.gen(function* () {
      const { create, list, tenant } = yield* parties()
      yield* create()
      for (const query of [
        { from_wallet_id: toTypeId("wal", newUuid()) },
        { to_wallet_id: newUuid() },
        { account_id: newUuid() },
        { batch_id: newUuid() },
        { status: "pending" },
        { type: "cross_border" }
      ]) {
        const { body, status } = yield* list(query)
        assert.deepStrictEqual([status, body.data], [200, []], JSON.stringify(query))
      }
      for (const query of [
        { from_wallet_id: "x" },
        { to_wallet_id: toTypeId("acc", tenant.account_id) },
        { account_id: "" },
        { batch_id: "bat_" },
        { status: "done" },
        { type: "refund" },
        { created_after: "yesterday" },
        { limit: "0" },
        { limit: "201" },
        { limit: "1.5" },
        { cursor: "x" },
        { cursor: Base64Url.encode("x") },
        { cursor: Base64Url.encode(toTypeId("wal", newUuid())) },
        { cursor: "k".repeat(10_000) }
      ]) {
        const { body } = yield* list(query)
        assert.deepInclude(body, { status: 400, code: "INVALID_REQUEST" }, JSON.stringify(query))
      }
    })
  )

  it.effect("has every transfer that a statement names", () =>
    Effect.gen(function* () {
      const { from, get, list, made, statement, to } = yield* population
      const lines = [...(yield* statement(from)), ...(yield* statement(to))]
      const moved = lines.filter(({ code }: { code: string }) => code !== "faucet")
      assert.isAbove(moved.length, 10)
      for (const { code, transfer_id } of moved) {
        const { body, status } = yield* get(transfer_id)
        assert.deepStrictEqual([status, code], [200, body.type === "internal" ? "transfer" : body.type])
      }
      const completed = (yield* list({ status: "completed", from_wallet_id: from })).body.data
      const debits = lines.filter(({ amount, wallet_id }: { amount: string; wallet_id: string }) => {
        return wallet_id === from && amount.startsWith("-")
      })
      assert.sameMembers(
        debits.map(({ transfer_id }: { transfer_id: string }) => transfer_id),
        completed.map(({ id }: Listed) => id)
      )
      assert.strictEqual(made.length, 36)
    })
  )
})
