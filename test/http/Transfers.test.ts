import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fromTypeId, toTypeId } from "#domain/Ids.ts"
import { newUuid } from "#services/NewId.ts"
import { operationOf } from "./Description.ts"
import { eventsOf, parties, stored } from "./TransfersHarness.ts"
import { callerOf, newcomer, options, serverOf } from "./WalletsServer.ts"

layer(serverOf("sandbox"), options)("transfers over HTTP", (it) => {
  it.effect("creating answers 201 with the bare record, completed; type is internal when left out", () =>
    Effect.gen(function* () {
      const { create, from, get, tenant, to } = yield* parties()
      const answer = yield* create({ memo: "Invoice 42" })
      assert.strictEqual(answer.status, 201, answer.text)
      const { completed_at, created_at, id, initiated_by, updated_at, ...rest } = answer.body
      assert.match(id, /^tx_[0-9a-z]{26}$/)
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual([updated_at, completed_at], [created_at, created_at])
      assert.strictEqual(initiated_by.type, "api_key")
      assert.match(initiated_by.id, /^key_/)
      const account = toTypeId("acc", tenant.account_id)
      assert.deepStrictEqual(rest, {
        type: "internal",
        status: "completed",
        amount: "1.00",
        currency: "USDC",
        from_wallet_id: from,
        to_wallet_id: to,
        from_account_id: account,
        to_account_id: account,
        memo: "Invoice 42",
        quote_id: null,
        destination_amount: null,
        destination_currency: null,
        fee: "0.00",
        batch_id: null,
        stream_id: null,
        scheduled_at: null,
        protocol: "internal",
        protocol_metadata: {},
        failure_reason: null,
        refunded_amount: "0.00"
      })
      assert.deepStrictEqual(yield* get(id).pipe(Effect.map(({ body }) => body)), answer.body)
    })
  )

  for (const [type, code] of [
    ["internal", "transfer"],
    ["wrap", "wrap"],
    ["unwrap", "unwrap"]
  ] as const) {
    it.effect(`${type} completes at once, and both statements call it ${code}`, () =>
      Effect.gen(function* () {
        const { balance, create, from, get, statement, to } = yield* parties()
        const { body, status } = yield* create({ type, amount: "2.5" })
        assert.deepInclude({ status, ...body }, { type, status: "completed", amount: "2.50" })
        assert.deepStrictEqual([yield* balance(from), yield* balance(to)], ["7.50", "2.50"])
        const [debit, credit] = [(yield* statement(from))[0], (yield* statement(to))[0]]
        assert.deepInclude(debit, { type: "debit", amount: "-2.50", code, transfer_id: body.id })
        assert.deepInclude(credit, { type: "credit", amount: "2.50", code, transfer_id: body.id })
        assert.deepStrictEqual((yield* get(debit.transfer_id)).body, body)
      })
    )

    it.effect(`${type} of more than there is fails at once, with its reason, and moves nothing`, () =>
      Effect.gen(function* () {
        const { balance, create, from, get, statement, to } = yield* parties("1.00")
        const { body, status } = yield* create({ type, amount: "1.000001" })
        assert.strictEqual(status, 201)
        assert.deepInclude(body, {
          type,
          status: "failed",
          failure_reason: "insufficient_funds",
          amount: "1.000001",
          completed_at: null
        })
        assert.deepStrictEqual((yield* get(body.id)).body, body)
        assert.deepStrictEqual([yield* balance(from), yield* balance(to)], ["1.00", "0.00"])
        assert.deepStrictEqual(yield* statement(to), [])
      })
    )
  }

  it.effect(
    "a completed transfer tells transfer.created while it was pending, then transfer.completed, each once",
    () =>
      Effect.gen(function* () {
        const { create, tenant } = yield* parties()
        const { body } = yield* create()
        assert.deepStrictEqual(yield* eventsOf(tenant, body.id), [
          { type: "transfer.created", data: { transfer: { ...body, status: "pending", completed_at: null } } },
          { type: "transfer.completed", data: { transfer: body } }
        ])
      })
  )

  it.effect("a failed transfer tells transfer.created, then transfer.failed with the reason, each once", () =>
    Effect.gen(function* () {
      const { create, tenant } = yield* parties("0")
      const { body } = yield* create()
      assert.deepStrictEqual(yield* eventsOf(tenant, body.id), [
        { type: "transfer.created", data: { transfer: { ...body, status: "pending", failure_reason: null } } },
        { type: "transfer.failed", data: { transfer: body } }
      ])
    })
  )

  it.effect("the example of the description does what the description says", () =>
    Effect.gen(function* () {
      const { call, usual } = yield* parties("25.00")
      const { body, responses } = operationOf("transfers.create")
      const { from_wallet_id, to_wallet_id } = usual
      const answer = yield* call("POST", "/v1/transfers", { ...body?.example, from_wallet_id, to_wallet_id })
      assert.strictEqual(answer.status, 201, answer.text)
      const shown = responses["201"]?.["application/json"]?.example
      assert.deepStrictEqual(Object.keys(answer.body), Object.keys(shown))
      const told = ["type", "status", "amount", "currency", "memo", "fee", "protocol", "failure_reason"]
      for (const name of told) assert.deepStrictEqual(answer.body[name], shown[name], name)
    })
  )

  it.effect("100 transfers of 1.00 at once from 10.00: exactly ten complete, ninety fail, and 0.00 is left (L4)", () =>
    Effect.gen(function* () {
      const { balance, create, from, statement, to } = yield* parties("10.00")
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, (_, index) => create({ idempotency_key: `key ${index}` })),
        { concurrency: 100 }
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      const outcomes = answers.map(({ body }) => `${body.status} ${body.failure_reason}`)
      assert.strictEqual(outcomes.filter((one) => one === "completed null").length, 10)
      assert.strictEqual(outcomes.filter((one) => one === "failed insufficient_funds").length, 90)
      assert.deepStrictEqual([yield* balance(from), yield* balance(to)], ["0.00", "10.00"])
      for (const { balance_after } of yield* statement(from)) assert.notMatch(balance_after, /^-/)
    })
  )

  it.effect("a frozen wallet does not pay: 403, and nothing is stored", () =>
    Effect.gen(function* () {
      const { call, create, from, tenant } = yield* parties()
      yield* call("POST", `/v1/wallets/${from}/freeze`, { reason: "key lost" })
      const before = yield* stored(tenant)
      const refused = yield* create({ idempotency_key: "k" })
      assert.deepInclude(refused.body, { status: 403, code: "WALLET_FROZEN" })
      assert.deepStrictEqual(yield* stored(tenant), before)
      yield* call("POST", `/v1/wallets/${from}/unfreeze`)
      const { body, headers } = yield* create({ idempotency_key: "k" })
      assert.strictEqual(body.status, "completed")
      assert.isNull(headers.get("idempotency-replayed"))
    })
  )

  it.effect("a frozen wallet receives", () =>
    Effect.gen(function* () {
      const { balance, call, create, to } = yield* parties()
      yield* call("POST", `/v1/wallets/${to}/freeze`, { reason: "key lost" })
      assert.strictEqual((yield* create()).body.status, "completed")
      assert.strictEqual(yield* balance(to), "1.00")
    })
  )

  it.effect("money that is held is not there to be sent", () =>
    Effect.gen(function* () {
      const { create, to, from } = yield* parties("1.00")
      yield* create({ amount: "0.40" })
      assert.strictEqual((yield* create({ amount: "0.61" })).body.status, "failed")
      assert.strictEqual((yield* create({ amount: "0.60" })).body.status, "completed")
      assert.strictEqual((yield* create({ from_wallet_id: to, to_wallet_id: from })).body.status, "completed")
    })
  )

  it.effect("a transfer is read by its TypeID and by its uuid", () =>
    Effect.gen(function* () {
      const { create, get } = yield* parties()
      const { body } = yield* create()
      const uuid = fromTypeId("tx", body.id)!
      for (const id of [uuid, uuid.toUpperCase()]) assert.deepStrictEqual((yield* get(id)).body, body)
    })
  )

  it.effect("what was moved at once cannot be cancelled: 409, and it stays as it is", () =>
    Effect.gen(function* () {
      const { call, create, get } = yield* parties("1.00")
      for (const amount of ["1.00", "1.00"]) {
        const { body } = yield* create({ amount })
        const refused = yield* call("POST", `/v1/transfers/${body.id}/cancel`)
        assert.deepInclude(refused.body, { status: 409, code: "STATE_TRANSITION_INVALID" })
        assert.deepInclude(refused.body.details, { from: body.status, to: "cancelled" })
        assert.deepStrictEqual((yield* get(body.id)).body, body)
      }
    })
  )

  it.effect("another tenant's transfer is 404 to read and to cancel, as one that is nobody's", () =>
    Effect.gen(function* () {
      const { create } = yield* parties()
      const { body } = yield* create()
      const stranger = yield* newcomer
      for (const id of [body.id, toTypeId("tx", newUuid()), "tx_nonsense", "%00", toTypeId("wal", newUuid())]) {
        for (const [method, path] of [
          ["GET", ""],
          ["POST", "/cancel"]
        ] as const) {
          const answer = yield* stranger.call(method, `/v1/transfers/${id}${path}`)
          assert.deepInclude(answer.body, { status: 404, code: "NOT_FOUND" }, id)
        }
      }
    })
  )

  it.effect("a key needs the scope for what it does", () =>
    Effect.gen(function* () {
      const { create, tenant, usual } = yield* parties()
      const { body } = yield* create()
      const reader = yield* callerOf(tenant, ["transfers:read"])
      assert.strictEqual((yield* reader("GET", `/v1/transfers/${body.id}`)).status, 200)
      assert.strictEqual((yield* reader("GET", "/v1/transfers")).status, 200)
      for (const [path, request] of [
        ["/v1/transfers", usual],
        [`/v1/transfers/${body.id}/cancel`, undefined]
      ] as const) {
        assert.deepInclude((yield* reader("POST", path, request)).body, { status: 403, code: "INSUFFICIENT_SCOPE" })
      }
    })
  )
})

layer(serverOf("live"), options)("live", (it) => {
  it.effect("knows transfers too", () =>
    Effect.gen(function* () {
      const { call } = yield* newcomer
      const address = (index: number) => `0x${String(index).padStart(40, "0")}`
      const wallets = yield* Effect.forEach([1, 2], (index) =>
        call("POST", "/v1/wallets", { address: address(index), network: "base-mainnet" })
      )
      const [from_wallet_id, to_wallet_id] = wallets.map(({ body }) => body.id)
      const { body, status } = yield* call("POST", "/v1/transfers", {
        from_wallet_id,
        to_wallet_id,
        amount: "1",
        currency: "USDC"
      })
      assert.deepStrictEqual([status, body.status, body.failure_reason], [201, "failed", "insufficient_funds"])
    })
  )
})
