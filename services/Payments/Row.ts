import { EndpointScheme } from "#domain/Endpoint.ts"
import { TenantId } from "#domain/Ids.ts"
import { Currency } from "#domain/Money.ts"
import { Network } from "#domain/Network.ts"
import { PaymentProtocol, PaymentRail, PaymentRow, PaymentState } from "#domain/Payment.ts"
import type { Price } from "#domain/Price.ts"
import * as Pipeline from "../Database/Pipeline.ts"

const asProtocol = Pipeline.oneOf(...PaymentProtocol.literals)
const asRail = Pipeline.oneOf(...PaymentRail.literals)
const asState = Pipeline.oneOf(...PaymentState.literals)
const asCurrency = Pipeline.oneOf(...Currency.literals)
const asNetwork = Pipeline.oneOf(...Network.to.literals)
const asTenant = (value: unknown) => TenantId.make(Pipeline.text(value), { disableChecks: true })
const textOrNull = Pipeline.nullable(Pipeline.text)
const schemeOrNull = Pipeline.nullable(Pipeline.oneOf(...EndpointScheme.literals))
const dateOrNull = Pipeline.nullable(Pipeline.date)
const intOrNull = Pipeline.nullable(Pipeline.int)
const bigintOrNull = Pipeline.nullable(Pipeline.bigint)

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
const micros = (value: unknown) => BigInt(Pipeline.text(value))
const asTiers = (value: unknown): Price["tiers"] => {
  if (!Array.isArray(value)) throw new TypeError("Expected the tiers of a price in a row")
  return value.map((tier) => ({
    threshold: Pipeline.int(field(tier, "threshold")),
    amount: micros(field(tier, "amount"))
  }))
}
/** As it was stored with the payment. */
const asPrice = (value: unknown): Price => ({
  base: micros(field(value, "base")),
  tiers: asTiers(field(value, "tiers"))
})

/** The columns of a payment, in the order in which `paymentOf` reads them. */
export const paymentColumns = Object.keys(PaymentRow.fields)
  .map((name) => `p.${name}`)
  .join(", ")

/** A row of `paymentColumns`: by hand, because every paid call reads one. */
export const paymentOf = (row: Pipeline.Row): PaymentRow => ({
  id: Pipeline.text(row[0]),
  tenant_id: asTenant(row[1]),
  endpoint_id: Pipeline.text(row[2]),
  protocol: asProtocol(row[3]),
  rail: asRail(row[4]),
  reservation: textOrNull(row[5]),
  payer_id: Pipeline.text(row[6]),
  payer_address: textOrNull(row[7]),
  payee_wallet_id: Pipeline.text(row[8]),
  method: Pipeline.text(row[9]),
  currency: asCurrency(row[10]),
  network: asNetwork(row[11]),
  price: asPrice(row[12]),
  amount: Pipeline.bigint(row[13]),
  charged: bigintOrNull(row[14]),
  state: asState(row[15]),
  hold_id: textOrNull(row[16]),
  attempt: Pipeline.int(row[17]),
  lease_until: dateOrNull(row[18]),
  proof_expires_at: Pipeline.date(row[19]),
  origin_status: intOrNull(row[20]),
  origin_ms: intOrNull(row[21]),
  transaction: textOrNull(row[22]),
  failure: textOrNull(row[23]),
  request_fingerprint: textOrNull(row[24]),
  delivered_at: dateOrNull(row[25]),
  created_at: Pipeline.date(row[26]),
  completed_at: dateOrNull(row[27]),
  scheme: schemeOrNull(row[28])
})
