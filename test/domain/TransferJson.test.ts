import * as fc from "fast-check"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { FailureReason, Transfer, transferOnWire, TransferStatus, TransferType } from "#domain/Transfer.ts"
import { begunJson, transferJson } from "#domain/TransferJson.ts"

const maybe = <A>(some: fc.Arbitrary<A>) => fc.option(some, { nil: null })
const uuid = fc.uuid({ version: 7 })
const micros = fc.bigInt({ min: 0n, max: 9_223_372_036_854_775_807n })
const instant = fc.date({ min: new Date("2020-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
const currency = fc.constantFrom("USDC", "EURC")
const nasty = fc.oneof(fc.string({ unit: "binary" }), fc.constant('"\\u2028\u0007</script>,"status":"completed"'))

const transfers = fc
  .record({
    id: uuid,
    type: fc.constantFrom(...TransferType.literals),
    status: fc.constantFrom(...TransferStatus.literals),
    amount: micros,
    currency,
    from_wallet_id: maybe(uuid),
    to_wallet_id: maybe(uuid),
    from_account_id: maybe(uuid),
    to_account_id: maybe(uuid),
    memo: maybe(nasty),
    quote_id: maybe(uuid),
    destination_amount: maybe(micros),
    destination_currency: maybe(currency),
    fee: micros,
    batch_id: maybe(uuid),
    stream_id: maybe(uuid),
    scheduled_at: maybe(instant),
    initiated_by: fc.record({ type: fc.constantFrom("api_key", "agent"), id: nasty }),
    protocol: fc.constantFrom("internal", "stream"),
    protocol_metadata: fc.dictionary(nasty, fc.oneof(nasty, fc.integer())),
    failure_reason: maybe(fc.constantFrom(...FailureReason.literals)),
    refunded_amount: micros,
    created_at: instant,
    updated_at: instant,
    completed_at: maybe(instant)
  })
  .map((transfer) => ({ ...transfer, protocol_metadata: { ...transfer.protocol_metadata } }))

const isTransfer = Schema.is(Schema.toType(Transfer))

describe("the JSON of a transfer", () => {
  it("is that of the record as callers see it, to the letter, and so is that of its beginning", () => {
    void fc.assert(
      fc.property(transfers, (transfer) => {
        if (!isTransfer(transfer)) return fc.pre(false)
        assert.strictEqual(transferJson(transfer), JSON.stringify(transferOnWire(transfer)))
        const begun = { ...transfer, status: "pending", failure_reason: null, completed_at: null } as const
        assert.strictEqual(begunJson(transfer), JSON.stringify(transferOnWire(begun)))
        return true
      })
    )
  })
})
