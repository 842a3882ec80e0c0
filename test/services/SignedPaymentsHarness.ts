import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { priceOf } from "#domain/EndpointPrice.ts"
import type { PaymentRow } from "#domain/Payment.ts"
import { Principal } from "#domain/Principal.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { ChainPolicy } from "#services/ChainSettlements/Policy.ts"
import { Deployment } from "#services/Deployment.ts"
import { Doctor } from "#services/Doctor.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import { Payments } from "#services/Payments.ts"
import { Tenants } from "#services/Tenants.ts"
import { Wallets } from "#services/Wallets.ts"
import { authorization } from "./ChainSettlementsHarness.ts"

const publicUrl = "https://turnpike.test"
const deployment = Layer.succeed(Deployment, { environment: "live", publicUrl, scannerUrl: publicUrl })
/** A live server whose chain is simulated. */
export const live = (changed: Partial<ChainPolicy>) =>
  Platform.layer.pipe(
    Layer.provideMerge(
      ChainSettlements.layer.pipe(
        Layer.provide(
          Layer.effect(
            ChainPolicy,
            Effect.map(ChainPolicy, (usual) => ({ ...usual, ...changed }))
          )
        )
      )
    ),
    Layer.provideMerge(RailSimulated.layer),
    Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, BusMemory.layer, deployment))
  )

/** What a payer in the sandbox begins with. */
export const funds = 1_000_000n
/** An answer of the origin that is kept. */
export const kept = (text: string) => ({
  status: 200,
  millis: 12,
  kept: { status: 200, headers: [], body: Buffer.from(text) }
})
/** An answer of the origin that nobody keeps. */
export const streamed = { status: 200, millis: 12, kept: undefined }
let addresses = 0
const newAddress = () => `0xb${(++addresses).toString(16).padStart(39, "0")}`

const principal = Effect.fnUntraced(function* (environment: "sandbox" | "live") {
  const { id, account_id } = yield* (yield* Tenants).create({ name: "A tenant" })
  return new Principal({
    tenant_id: id,
    environment,
    actor_type: "api_key",
    actor_id: "key",
    account_id,
    scopes: ["*:*"]
  })
})

/** A seller on Base, and somebody who signs for it. */
export const market = Effect.fnUntraced(function* (
  environment: "sandbox" | "live",
  endpoint: Partial<NewEndpoint> = {}
) {
  const network = environment === "live" ? "base-mainnet" : "base-sepolia"
  const [seller, buyer] = [yield* principal(environment), yield* principal(environment)]
  const [payTo, payer] = [newAddress(), newAddress()]
  const wallets = yield* Wallets
  const payments = yield* Payments
  const till = (yield* wallets.create(seller, { network, address: payTo })).id
  const purse = (yield* wallets.create(buyer, { network, address: payer })).id
  if (environment === "sandbox") yield* wallets.fund(buyer, purse, { amount: funds, currency: "USDC" })
  const record = yield* (yield* Endpoints).create(seller, {
    name: "Weather",
    path: "/a",
    method: "GET",
    network,
    originUrl: "https://origin.example",
    ...endpoint
  })
  const snapshot = { endpoint: record, price: priceOf(record.basePrice, record.volumeDiscounts), origin: undefined }
  const signs = (changed: Partial<Authorization> = {}): Authorization =>
    authorization({ network, payTo, payer, validUntil: new Date(864_000_000), ...changed })
  const bring = (signed: Authorization, fingerprint = "f") =>
    payments.present({ authorization: signed, snapshot, method: "GET", fingerprint })
  const granted = (signed: Authorization, fingerprint?: string) =>
    Effect.flatMap(bring(signed, fingerprint), (grant) =>
      grant._tag === "Granted" ? Effect.succeed(grant.payment) : Effect.die(grant)
    )
  const money = Effect.map(
    Effect.flatMap(Ledger, (ledger) => ledger.account(purse)),
    ({ held, posted }) => ({ held, posted })
  )
  const record_ = Effect.map(payments.list(seller, record.id, { limit: 10 }), ([one]) => one)
  return {
    payments,
    endpoint: record,
    snapshot,
    till,
    purse,
    signs,
    bring,
    granted,
    money,
    record: record_,
    payTo,
    buyer
  }
})

/** How many events say that this payment failed. */
export const failures = Effect.fnUntraced(function* ({ id }: PaymentRow) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT e.seq FROM events e JOIN payments p ON p.id = ${id}
    WHERE e.type = 'x402.payment.failed' AND e.tenant_id = p.tenant_id`
  return rows.length
})

/** What the doctor finds. */
export const inOrder = Effect.gen(function* () {
  const findings = yield* (yield* Doctor).examine
  return findings.flatMap(({ broken }) => broken)
})

/** A second process on the same database. */
export const twoProcesses = Effect.gen(function* () {
  const context = yield* Layer.build(Layer.fresh(Platform.layer))
  return [yield* Payments, yield* Effect.provide(Payments, context)]
})

/** A signature for nothing. */
export const free: Partial<Authorization> = { amount: 0n }
