import { Context, Effect, Layer } from "effect"
import type { NewEndpoint } from "#domain/Endpoint.ts"
import { priceOf } from "#domain/EndpointPrice.ts"
import type { WalletId } from "#domain/Ids.ts"
import { Endpoints } from "#services/Endpoints.ts"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { Payments } from "#services/Payments.ts"
import { Wallets } from "#services/Wallets.ts"
import { tenant } from "../http/GatewayHarness.ts"

export const funds = 1_000_000n
/** An origin's answer that nobody keeps. */
export const answered = (status: number) => ({ status, millis: 5, kept: undefined })

/** A buyer with money, and a seller's endpoint. */
export const market = Effect.fnUntraced(function* (endpoint: Partial<NewEndpoint> = {}) {
  const [seller, buyer] = [(yield* tenant).principal, (yield* tenant).principal]
  const wallets = yield* Wallets
  const till = (yield* wallets.create(seller, {})).id
  const purse = (yield* wallets.create(buyer, {})).id
  yield* wallets.fund(buyer, purse, { amount: funds, currency: "USDC" })
  const record = yield* (yield* Endpoints).create(seller, {
    name: "Weather",
    path: "/a",
    method: "GET",
    originUrl: "https://origin.example",
    ...endpoint
  })
  const payments = yield* Payments
  const reserve = Effect.map(payments.pay(buyer, { url: record.gatewayUrl, from_wallet_id: purse }), ({ paid }) => paid)
  const snapshot = { endpoint: record, price: priceOf(record.basePrice, record.volumeDiscounts), origin: undefined }
  const call = (proof: string) => ({ proof, snapshot, method: "GET", fingerprint: "f" })
  const claim = (proof: string) => payments.claim(call(proof))
  const granted = Effect.fnUntraced(function* (proof: string) {
    const grant = yield* claim(proof)
    return grant._tag === "Granted" ? grant.payment : yield* Effect.die(grant)
  })
  const money = (id: WalletId) =>
    Effect.flatMap(Ledger, (ledger) => Effect.map(ledger.account(id), ({ held, posted }) => ({ held, posted })))
  return { seller, buyer, till, purse, record, payments, reserve, call, claim, granted, money }
})

/** The payments of another process, where something else happens before each of its postings. */
export const another = (before: Effect.Effect<unknown>) => {
  const slow = Effect.map(Ledger, (ledger) => {
    const post = (command: LedgerCommand) => Effect.andThen(before, ledger.post(command))
    return Ledger.of({ ...ledger, post: post as Ledger["Service"]["post"] })
  })
  const process = Layer.fresh(Payments.layer).pipe(Layer.provide(Layer.effect(Ledger, slow)))
  return Effect.map(Layer.build(process), Context.get(Payments))
}
