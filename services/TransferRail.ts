import { Context, type Effect } from "effect"
import type { Outcome, SettlementOrder } from "#domain/Settlement.ts"
import type { RailUnavailable } from "./Rail.ts"

/**
 * A port: settles what leaves one currency for another. `RailUnavailable` says nothing about the money; `Rejected` is said only when
 * none moved and none will.
 */
export class TransferRail extends Context.Service<
  TransferRail,
  {
    /** Settles the order, once however often it is submitted under one reference. */
    submit(order: SettlementOrder): Effect.Effect<Outcome, RailUnavailable>
    /** What became of an order that the rail has. */
    status(order: SettlementOrder): Effect.Effect<Outcome, RailUnavailable>
  }
>()("turnpike/services/TransferRail") {}
