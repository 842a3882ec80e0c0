import { Context, Duration, Effect, Layer, Queue, Ref } from "effect"
import { parseAddress } from "#domain/Network.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"
import * as Postgres from "#layers/Postgres.ts"
import * as RailSimulated from "#layers/RailSimulated.ts"
import { type ChainOrder, ChainSettlements } from "#services/ChainSettlements.ts"
import { ChainPolicy } from "#services/ChainSettlements/Policy.ts"
import { UnresolvedOnChain } from "#services/ChainSettlements/UnresolvedOnChain.ts"
import { newUuid } from "#services/NewId.ts"

const asset = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
const payer = "0x1111111111111111111111111111111111111111"
const payTo = "0x2222222222222222222222222222222222222222"

/** An authorisation of its own nonce, as the gateway hands it over once it is checked. */
export const authorization = (changed: Partial<Authorization> = {}): Authorization => {
  const nonce = `0x${newUuid().replaceAll("-", "").padStart(64, "0")}`
  const requirements = {
    scheme: "exact" as const,
    network: "eip155:84532",
    amount: "10000",
    asset,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: "USDC", version: "2" }
  }
  return {
    protocol: "x402v2",
    scheme: "exact",
    method: "eip3009",
    network: "base-sepolia",
    asset: parseAddress("base-sepolia", asset) ?? asset,
    payer,
    payTo,
    amount: 10_000n,
    nonce,
    // The virtual clock starts at 1970.
    validUntil: new Date(300_000),
    quote: undefined,
    payload: {
      x402Version: 2,
      accepted: requirements,
      payload: {
        signature: `0x${"11".repeat(65)}`,
        authorization: { from: payer, to: payTo, value: "10000", validAfter: "0", validBefore: "300", nonce }
      }
    },
    requirements,
    identifier: undefined,
    ...changed
  }
}

export const order = (changed: Partial<ChainOrder> = {}): ChainOrder => ({
  id: newUuid(),
  payment_id: newUuid(),
  authorization: authorization(),
  amount: 10_000n,
  ...changed
})

const policy = (changed: Partial<ChainPolicy>) =>
  Layer.effect(
    ChainPolicy,
    Effect.map(ChainPolicy, (usual) => ({ ...usual, ...changed }))
  )

/** Settlements over a private database and a simulated chain. */
export const testLayer = (changed: Partial<ChainPolicy> = {}) =>
  Layer.merge(ChainSettlements.layer, UnresolvedOnChain.layer).pipe(
    Layer.provide(policy(changed)),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, RailSimulated.layer))
  )

/** Nobody waits: what is settled is left to the worker. */
export const unattended = { wait: Duration.zero }

/** A second process on the same database and the same chain. */
export const another = (changed: Partial<ChainPolicy> = {}) =>
  Effect.map(Layer.build(Layer.fresh(ChainSettlements.layer.pipe(Layer.provide(policy(changed))))), (context) =>
    Context.get(context, ChainSettlements)
  )

export const chain = {
  does: (behaviour: RailSimulated.Behaviour) =>
    Effect.flatMap(RailSimulated.RailControl, (control) => Ref.set(control.behaviour, behaviour)),
  /** Resumes when the chain is asked about this settlement. */
  asked: Effect.fnUntraced(function* (id: string) {
    const { asked } = yield* RailSimulated.RailControl
    while ((yield* Queue.take(asked)) !== id) {
      // Of another settlement.
    }
  }),
  moved: Effect.flatMap(RailSimulated.RailControl, ({ moved }) => Ref.get(moved))
}
