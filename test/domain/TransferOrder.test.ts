import * as fc from "fast-check"
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { CreateTransfer, isOfStream, orderOf, readPlainly } from "#domain/TransferOrder.ts"

const decode = Schema.decodeUnknownResult(CreateTransfer, { errors: "all", onExcessProperty: "error" })

const wallet = fc.uuid({ version: 7 })
const plain = fc.record(
  {
    type: fc.constant("internal"),
    from_wallet_id: wallet,
    to_wallet_id: fc.oneof(wallet, fc.constant("wal_01m7yy9bqten4tv8kkh3gzbdjh")),
    amount: fc.constantFrom("0.000001", "1", "10.50", 2, 0.5),
    currency: fc.constantFrom("USDC", "EURC"),
    idempotency_key: fc.constantFrom("k", "order-17", "~")
  },
  { requiredKeys: ["from_wallet_id", "to_wallet_id", "amount", "currency"] }
)

const anything = fc.oneof(
  fc.constantFrom(
    null,
    "",
    "0",
    "1.0000001",
    "wrap",
    "internal",
    "EUR",
    "wal_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "a b",
    "ö",
    "x".repeat(256)
  ),
  fc.constantFrom(-1, 0, 1e21, 0.1 + 0.2, true, [], {}, ["USDC"]),
  fc.jsonValue()
)
const names = fc.constantFrom(
  ...["type", "from_wallet_id", "to_wallet_id", "amount", "currency", "idempotency_key", "memo", "quote_id", "toString"]
)

/** A body as JSON brings it: every name may be a member. */
const asJson = (members: object): unknown => JSON.parse(JSON.stringify(members))
const changed = fc
  .tuple(plain, fc.array(fc.tuple(names, anything), { minLength: 1, maxLength: 2 }))
  .map(([body, changes]) => asJson({ ...body, ...Object.fromEntries(changes) }))

describe("the body of a transfer that is read in passing", () => {
  it("is what the schema makes of it, where it is plain", () => {
    void fc.assert(
      fc.property(plain, (body) => {
        assert.deepStrictEqual(readPlainly(asJson(body)), Result.getOrThrow(decode(asJson(body))))
      })
    )
  })

  it("is left to the schema where it is anything else, or is the same", () => {
    void fc.assert(
      fc.property(fc.oneof(changed, anything), (body) => {
        const read = readPlainly(body)
        if (read !== undefined) assert.deepStrictEqual(read, Result.getOrThrow(decode(body)))
      }),
      { numRuns: 1000 }
    )
  })
})

describe("a transfer of a type", () => {
  const all = Result.getOrThrow(
    decode({
      from_wallet_id: "01890a5d-ac96-774b-bcce-b302099a8001",
      to_wallet_id: "01890a5d-ac96-774b-bcce-b302099a8002",
      amount: "1",
      currency: "USDC",
      quote_id: "01890a5d-ac96-774b-bcce-b302099a8003",
      stream_id: "01890a5d-ac96-774b-bcce-b302099a8004",
      flow_rate: "1",
      buffer: "0"
    })
  )
  /** What each type needs, and what it takes besides. */
  const types = {
    internal: ["from_wallet_id to_wallet_id amount currency", ""],
    wrap: ["from_wallet_id to_wallet_id amount currency", ""],
    unwrap: ["from_wallet_id to_wallet_id amount currency", ""],
    cross_border: ["from_wallet_id to_wallet_id quote_id", "amount currency"],
    stream_start: ["from_wallet_id to_wallet_id amount currency flow_rate", "buffer"],
    stream_withdraw: ["stream_id", "from_wallet_id to_wallet_id amount currency"],
    stream_cancel: ["stream_id", "from_wallet_id to_wallet_id currency"]
  } as const
  const words = (text: string) => text.split(" ").filter((word) => word !== "")
  const having = (names: ReadonlyArray<string>) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)))
  const wrong = (order: ReturnType<typeof orderOf>) =>
    Result.isFailure(order) ? order.failure.errors.map(({ message, path }) => `${path} ${message}`) : []

  for (const [name, [needed, besides]] of Object.entries(types)) {
    const type = name as keyof typeof types
    it(`${type} has the fields that it needs, and may have those that mean something to it`, () => {
      for (const names of [words(needed), [...words(needed), ...words(besides)]]) {
        const order = orderOf({ type, ...having(names), memo: "m", idempotency_key: "k" })
        assert.deepStrictEqual(Result.getOrThrow(order) as object, { type, ...having(names), memo: "m" })
      }
    })
    it(`${type} is refused by every field that it lacks, and by every one that means nothing to it`, () => {
      const lacking = words(needed).map((path) => `${path} is needed for a transfer of type ${type}`)
      assert.sameMembers(wrong(orderOf({ type })), lacking)
      const foreign = Object.keys(all).filter((path) => ![...words(needed), ...words(besides)].includes(path))
      assert.sameMembers(
        wrong(orderOf({ type, ...all })),
        foreign.map((path) => `${path} does not belong to a transfer of type ${type}`)
      )
    })
    it(`${type} ${type.startsWith("stream_") ? "acts" : "does not act"} on a stream`, () => {
      const order = orderOf({ type, ...having(words(needed)) })
      assert.strictEqual(Result.isSuccess(order) && isOfStream(order.success), type.startsWith("stream_"))
    })
  }

  it("that is not said is internal", () => {
    const order = orderOf(having(words(types.internal[0])))
    assert.strictEqual(Result.isSuccess(order) && order.success.type, "internal")
  })
})
