import { Context, Effect, Schema } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import type { Network } from "#domain/Network.ts"
import type { Authorization } from "#domain/protocol/Authorization.ts"

/** The rail could not be asked, or its answer says nothing. Nothing follows from it about the money. */
export class RailUnavailable extends Schema.TaggedError<RailUnavailable>()(
  "RAIL_UNAVAILABLE",
  { reason: Schema.String, retry_after: Schema.Int.pipe(Schema.withConstructorDefault(Effect.succeed(5))) },
  { httpApiStatus: 503, title: "The settlement rail does not answer" }
) {}

/** This authorisation would not go through. `reason` is spelled as x402 spells it. */
export class AuthorizationRefused extends Schema.TaggedError<AuthorizationRefused>()(
  "AUTHORIZATION_REFUSED",
  { reason: Schema.String },
  { httpApiStatus: 402, title: "The authorization would not settle" }
) {}

/** A way to be paid that this rail can settle, and what an offer of it must say in `extra`. */
export interface Kind {
  readonly network: Network
  readonly scheme: "exact" | "upto"
  /** `feePayer` on Solana, `facilitatorAddress` under `upto`. */
  readonly extra: Readonly<Record<string, unknown>>
  /** All addresses that an offer may name in the place of the one in `extra`, which may be another each time. */
  readonly signers?: ReadonlyArray<string>
}

/** A port: moves authorised money on a chain. */
export class Rail extends Context.Service<
  Rail,
  {
    readonly kinds: Effect.Effect<ReadonlyArray<Kind>, RailUnavailable>
    /** Whether the payer has the money and the authorisation would go through now. */
    verify(authorization: Authorization): Effect.Effect<void, AuthorizationRefused | RailUnavailable>
    /** Moves the money, at most once however often it is asked with one id. `Refused` is final; all else is asked about again. */
    settle(settlement: Settlement): Effect.Effect<Outcome, RailUnavailable>
    /** What became of a settlement whose transaction is known; sees to it that the transaction gets through. */
    status(settlement: Settlement): Effect.Effect<Outcome, RailUnavailable>
  }
>()("turnpike/services/Rail") {}
