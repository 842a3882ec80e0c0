import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Hex } from "viem"
import { AccountId, TenantId, WalletId } from "#domain/Ids.ts"
import type { Network } from "#domain/Network.ts"
import { Principal } from "#domain/Principal.ts"
import type { Facilitation } from "#domain/protocol/Facilitation.ts"
import * as Test from "#layers/Test.ts"
import { Facilitator } from "#services/Facilitator.ts"
import { Ledger } from "#services/Ledger.ts"
import { Wallets } from "#services/Wallets.ts"
import { nonce, now, payer, signTransfer, usdc } from "../domain/protocol/Payers.ts"
import { tenant } from "../http/GatewayHarness.ts"

export const funds = 1_000_000n
export const own = Effect.fnUntraced(function* (network: Network, address?: string, amount = 0n) {
  const { principal } = yield* tenant
  const wallets = yield* Wallets
  const made = yield* wallets.create(principal, { network, ...(address === undefined ? {} : { address }) })
  if (amount > 0n) yield* wallets.fund(principal, made.id, { amount, currency: "USDC" })
  return { ...made, principal, address: made.address as Hex }
})

/** The platform at the time that payloads are signed for. */
export const platform = Test.layer.pipe(
  Layer.provide(
    Layer.effect(
      Clock.Clock,
      Effect.map(
        Clock.Clock,
        (clock): Clock.Clock => Object.assign(Object.create(clock), { currentTimeMillisUnsafe: () => now })
      )
    )
  )
)

/** A seller, and who settles for it. */
export const fair = Effect.gen(function* () {
  const seller = yield* own("base-sepolia")
  return { seller, facilitator: yield* Facilitator }
})

/** The wallet of the one payer whose key the tests have; the first who asks opens it. */
export const theirs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql`SELECT id, tenant_id, owner_id FROM wallets WHERE address = ${payer.address.toLowerCase()}`
  if (found === undefined) return yield* own("base-sepolia", payer.address, funds)
  const principal = new Principal({
    tenant_id: TenantId.make(String(found["tenant_id"])),
    environment: "sandbox",
    actor_type: "api_key",
    actor_id: "key",
    account_id: AccountId.make(String(found["owner_id"])),
    scopes: ["*:*"]
  })
  return { id: WalletId.make(String(found["id"])), principal }
})

export const requirementsOf = (payTo: string, more: object = {}) => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: usdc,
  payTo,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
  ...more
})
export const ask = (payload: object, requirements: object, more: object = {}): Facilitation => ({
  x402Version: 2,
  paymentPayload: { x402Version: 2, accepted: requirements, payload, ...more } as never,
  paymentRequirements: requirements as never
})
/** A payment of 0.01 to this address. */
export const paid = Effect.fnUntraced(function* (
  to: Hex,
  name: string,
  change: Parameters<typeof signTransfer>[0] = {}
) {
  const payload = yield* Effect.promise(() => signTransfer({ to, nonce: nonce(name), ...change }))
  return ask(payload, requirementsOf(to))
})
export const posted = Effect.fnUntraced(function* (id: string) {
  return (yield* (yield* Ledger).account(id)).posted
})
