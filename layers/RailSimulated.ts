import { createHash } from "node:crypto"
import { Context, Effect, Layer, Queue, Ref } from "effect"
import type { Outcome, Settlement } from "#domain/ChainSettlement.ts"
import { AuthorizationRefused, Rail, RailUnavailable } from "#services/Rail.ts"

/**
 * What the simulated chain does when it is asked. `lose` moves the money and its answer never arrives; `hang` does nothing for ever;
 * `pending` knows a transaction that is not final; `silent` knows nothing; a function answers for itself.
 */
export type Behaviour =
  | "settle"
  | "refuse"
  | "lose"
  | "hang"
  | "pending"
  | "silent"
  | "unavailable"
  | "break"
  | ((settlement: Settlement) => Effect.Effect<Outcome, RailUnavailable>)

/** The simulated chain from behind: what it does next, and what it did. */
export class RailControl extends Context.Service<
  RailControl,
  {
    readonly behaviour: Ref.Ref<Behaviour>
    /** The transaction of every settlement that moved money. */
    readonly moved: Ref.Ref<ReadonlyMap<string, string>>
    /** The ids it was asked about, in order; the oldest are forgotten. */
    readonly asked: Queue.Queue<string>
  }
>()("turnpike/layers/RailSimulated/RailControl") {}

/** The transaction of a settlement on the simulated chain. */
export const transactionOf = (id: string): string => `0x${createHash("sha256").update(`simulated ${id}`).digest("hex")}`

/** A chain in memory that does what `RailControl` says. It keeps the port's promises, whatever it is told to do. */
export const layer = Layer.effectContext(
  Effect.gen(function* () {
    const behaviour = yield* Ref.make<Behaviour>("settle")
    const moved = yield* Ref.make<ReadonlyMap<string, string>>(new Map())
    const asked = yield* Queue.sliding<string>(1000)

    const move = ({ id }: Settlement) => {
      const transaction = transactionOf(id)
      return Effect.as(
        Ref.update(moved, (before) => new Map([...before, [id, transaction]])),
        { _tag: "Settled", transaction } satisfies Outcome
      )
    }
    const answers: Record<Extract<Behaviour, string>, Exclude<Behaviour, string>> = {
      settle: move,
      refuse: () => Effect.succeed({ _tag: "Refused", reason: "insufficient_funds" }),
      lose: () => Effect.never,
      hang: () => Effect.never,
      pending: ({ id }) => Effect.succeed({ _tag: "Pending", transaction: transactionOf(id) }),
      silent: () => Effect.succeed({ _tag: "Pending", transaction: undefined }),
      unavailable: () => Effect.fail(new RailUnavailable({ reason: "simulated" })),
      break: () => Effect.die("simulated")
    }
    const answer = Effect.fnUntraced(function* (settlement: Settlement) {
      const now = yield* Ref.get(behaviour)
      const movedBefore = (yield* Ref.get(moved)).has(settlement.id)
      if (now === "lose") yield* move(settlement)
      yield* Queue.offer(asked, settlement.id)
      // What moved once has moved, whatever happens later.
      if (movedBefore) return yield* move(settlement)
      return yield* (typeof now === "string" ? answers[now] : now)(settlement)
    })
    const rail = Rail.of({
      kinds: Effect.succeed([{ network: "base-sepolia", scheme: "exact", extra: {} }]),
      verify: Effect.fnUntraced(function* () {
        const now = yield* Ref.get(behaviour)
        if (now === "refuse") return yield* new AuthorizationRefused({ reason: "insufficient_funds" })
        if (now === "unavailable") return yield* new RailUnavailable({ reason: "simulated" })
      }),
      settle: answer,
      status: answer
    })
    return Context.make(Rail, rail).pipe(Context.add(RailControl, { behaviour, moved, asked }))
  })
)
