import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId, EndpointId, TenantId } from "#domain/Ids.ts"
import { networksOf } from "#domain/Network.ts"
import { Principal } from "#domain/Principal.ts"
import { goods } from "#domain/ScannerGoods.ts"
import { Accounts } from "./Accounts.ts"
import { BoughtCalls } from "./BoughtCalls.ts"
import { Deployment } from "./Deployment.ts"
import { Endpoints } from "./Endpoints.ts"
import { Wallets } from "./Wallets.ts"

/** Who receives what is paid for the scanner's calls: the first tenant, which is the operator's. */
export interface Seller {
  readonly tenant_id: TenantId
  readonly account_id: AccountId
}

/** The scanner's operations as goods of our own gateway: whoever has no key pays for the call, by any protocol that it takes. */
export class ScannerSales extends Context.Service<
  ScannerSales,
  {
    /**
     * Puts what is not there yet on sale; any number of processes may. From then on this process lets bought calls in. On a live
     * server nothing is on sale before the seller has a wallet for it: nobody else knows where the money should go.
     */
    open(seller: Seller): Effect.Effect<void>
  }
>()("turnpike/services/ScannerSales") {
  static readonly layer = Layer.effect(
    ScannerSales,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { environment } = yield* Deployment
      const accounts = yield* Accounts
      const bought = yield* BoughtCalls
      const endpoints = yield* Endpoints
      const wallets = yield* Wallets

      const principalOf = ({ account_id, tenant_id }: Seller, scope: string) =>
        new Principal({
          tenant_id,
          environment,
          actor_type: "system",
          actor_id: "00000000-0000-8000-8000-00000000402a",
          account_id,
          scopes: [scope],
          credential: { kind: "scanner_key", id: "paid" }
        })

      const receiving = Effect.fnUntraced(function* (seller: Principal) {
        // The network that most clients of x402 pay on.
        const [, network] = networksOf(environment)
        const found = yield* wallets.byAccount(seller.account_id, "USDC", network)
        if (Option.isSome(found)) return Option.some({ seller, walletId: found.value.id })
        if (environment === "sandbox") {
          // An account's own endpoints are paid to its oldest wallet, which must be one that somebody made.
          const { id, tenant_id } = yield* accounts.create(seller.tenant_id, { name: "Scanner sales" })
          const apart = principalOf({ account_id: id, tenant_id }, "*:*")
          const wallet = yield* wallets.create(apart, { currency: "USDC", network, name: "Scanner sales" })
          return Option.some({ seller: apart, walletId: wallet.id })
        }
        yield* Effect.logWarning(`The scanner's calls are not on sale: there is no wallet for USDC on ${network}`)
        return Option.none()
      })
      /** False when there is no wallet for it. */
      const offerAll = Effect.fnUntraced(
        function* (operator: Principal) {
          // Starters queue here, or each would make a wallet.
          yield* sql`SELECT pg_advisory_xact_lock(hashtext('turnpike.scanner_sales'))`
          const paths = goods.map(({ path }) => path)
          const known = yield* sql`SELECT id FROM endpoints WHERE own_path = ANY(${paths}::text[])`
          if (known.length === goods.length) return true
          const till = yield* receiving(operator)
          if (Option.isNone(till)) return false
          const { seller, walletId } = till.value
          yield* Effect.forEach(goods, ({ description, id, method, name, path, price, timeoutMs }) =>
            endpoints.create(
              seller,
              { name, description, path, method, basePrice: price, walletId, timeoutMs },
              { id: id as EndpointId, path }
            )
          )
          return true
        },
        sql.withTransaction,
        Effect.orDie
      )
      const open = Effect.fn("ScannerSales.open")(function* (seller: Seller) {
        if (yield* offerAll(principalOf(seller, "*:*"))) bought.admit(principalOf(seller, "scanner:*"))
      })

      return ScannerSales.of({ open })
    })
  )
}
