import * as fc from "fast-check"
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { CreateTransfer, readPlainly } from "#domain/TransferOrder.ts"

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
