import { ConfigProvider, Context, Duration, Effect, Exit, Layer, Option, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { generatePrivateKey } from "viem/accounts"
import * as Postgres from "../../../layers/Postgres.ts"
import * as RailLayer from "../../../layers/Rail.ts"
import { ChainSettlements } from "../../../services/ChainSettlements.ts"
import { ChainPolicy } from "../../../services/ChainSettlements/Policy.ts"
import { newUuid } from "../../../services/NewId.ts"
import { Rail } from "../../../services/Rail.ts"
import type { Authorization } from "../../../src/domain/protocol/Authorization.ts"
import type { Devnet } from "./Devnet.ts"

const quick = (changed: Partial<ChainPolicy>) =>
  Layer.effect(
    ChainPolicy,
    Effect.map(ChainPolicy, (usual) => ({
      ...usual,
      wait: Duration.seconds(20),
      firstRetry: Duration.millis(100),
      longestRetry: Duration.millis(400),
      ...changed
    }))
  )

/** A private database, on which any number of Turnpike processes run. */
export const database = async () => {
  const scope = Scope.makeUnsafe()
  // What is broken on purpose need not be reported.
  const level = process.env["TURNPIKE_LOG_LEVEL"] === "Debug" ? "Debug" : "None"
  const layer = Layer.merge(Postgres.layerTest, Layer.succeed(References.MinimumLogLevel, level))
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  return { context, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}
export type TestDatabase = Awaited<ReturnType<typeof database>>

export const relayerKey = generatePrivateKey()

/** The live rail of one process, as its environment describes it. */
export const start = async (
  devnet: Devnet,
  { context }: TestDatabase,
  changed: { readonly env?: Record<string, string | undefined>; readonly policy?: Partial<ChainPolicy> } = {}
) => {
  const scope = Scope.makeUnsafe()
  const environment = ConfigProvider.layer(
    ConfigProvider.fromUnknown({
      TURNPIKE_EVM_NETWORK: "base-sepolia",
      TURNPIKE_RPC_URL: devnet.url,
      TURNPIKE_RELAYER_KEY: relayerKey,
      TURNPIKE_MAX_FEE_GWEI: "20",
      TURNPIKE_CONFIRMATIONS: "2",
      ...changed.env
    })
  )
  const layer = ChainSettlements.layer.pipe(
    Layer.provideMerge(RailLayer.chosen),
    Layer.provide([environment, quick(changed.policy ?? {})])
  )
  const services = await Effect.runPromise(
    Layer.buildWithScope(Layer.fresh(layer), scope).pipe(Effect.provideContext(context))
  )
  const settlements = Context.get(services, ChainSettlements)
  const run = Effect.runPromiseWith(context)
  const stateOf = async (id: string) =>
    Option.match(await run(settlements.get(id)), { onNone: () => undefined, onSome: (row) => row })
  return {
    rail: Context.get(services, Rail),
    settle: (authorization: Authorization, id = newUuid(), amount = authorization.amount) =>
      run(settlements.settle({ id, payment_id: newUuid(), authorization, amount })),
    reconcile: () => run(settlements.reconcileDue),
    stateOf,
    run,
    /** What was signed for this settlement. */
    signed: (id: string) =>
      run(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`SELECT hash FROM chain_transactions WHERE settlement_id = ${id}`
        )
      ),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
export type Process = Awaited<ReturnType<typeof start>>
