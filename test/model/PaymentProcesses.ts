import { Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Platform from "#layers/Platform.ts"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { EventLog } from "#services/EventLog.ts"
import { Ledger } from "#services/Ledger.ts"
import type { LedgerCommand } from "#services/Ledger/Group.ts"
import { Payments } from "#services/Payments.ts"
import { Rail } from "#services/Rail.ts"
import { within } from "#services/RealTime.ts"

/** Where a command may sleep: until it is told to go on, or for ever, when its process dies there. */
const Halts = Context.Reference<(where: string) => Effect.Effect<void>>("test/model/Halts", {
  defaultValue: () => () => Effect.void
})
const halt = (where: string) => Effect.flatMap(Halts, (stop) => stop(where))
const halting = <A, E, R>(where: string, effect: Effect.Effect<A, E, R>) =>
  halt(`before ${where}`).pipe(
    Effect.andThen(Effect.exit(effect)),
    Effect.tap(() => halt(`after ${where}`)),
    Effect.flatten
  )

/** Payments over the services of this process that may sleep before and after they go to the ledger, the log or a chain. */
const haltingPayments = Effect.gen(function* () {
  const [ledger, events] = [yield* Ledger, yield* EventLog]
  const [rail, chains] = [yield* Effect.serviceOption(Rail), yield* Effect.serviceOption(ChainSettlements)]
  const post = (command: LedgerCommand) => halting("the ledger", ledger.post(command))
  const slow = [
    Layer.succeed(Ledger, Ledger.of({ ...ledger, post: post as Ledger["Service"]["post"] })),
    Layer.succeed(EventLog, EventLog.of({ ...events, enter: Effect.andThen(halt("before the log"), events.enter) })),
    rail._tag === "None"
      ? Layer.empty
      : Layer.succeed(
          Rail,
          Rail.of({ ...rail.value, verify: (signed) => halting("the rail", rail.value.verify(signed)) })
        ),
    chains._tag === "None"
      ? Layer.empty
      : Layer.succeed(
          ChainSettlements,
          ChainSettlements.of({
            ...chains.value,
            place: (order) =>
              Effect.map(chains.value.place(order), (settle) => (longer) => halting("the chain", settle(longer)))
          })
        )
  ] as const
  const context = yield* Layer.build(Layer.fresh(Payments.layer).pipe(Layer.provide(Layer.mergeAll(...slow))))
  return Context.get(context, Payments)
})

/** Two processes on one database, each with a ledger of its own. */
export const twoProcesses = Effect.gen(function* () {
  const other = yield* Layer.build(Layer.fresh(Platform.layer))
  return [yield* haltingPayments, yield* Effect.provide(haltingPayments, other)] as const
})

interface Stop {
  readonly where: string
  readonly go: Deferred.Deferred<void>
}

/** A command under way. */
export class Task {
  readonly name: string
  readonly stops: Array<Stop> = []
  isDone = false
  #fiber: Fiber.Fiber<void> | undefined
  #quiet = Deferred.makeUnsafe<void>()

  constructor(name: string) {
    this.name = name
  }

  /** Until it is over or sleeps. What waits for time to pass, as for a chain, has its time. */
  readonly #until = Effect.suspend(() =>
    within(Effect.as(Deferred.await(this.#quiet), true), {
      duration: "300 millis",
      orElse: () => Effect.as(TestClock.adjust("1 second"), false)
    })
  ).pipe(
    Effect.repeat({ until: (isQuiet) => isQuiet, times: 60 }),
    Effect.flatMap((isQuiet) => (isQuiet ? Effect.void : Effect.die(`${this.name} neither ends nor sleeps`)))
  )

  /** Begins it; it sleeps at the places of these numbers. */
  start<A, E>(
    effect: Effect.Effect<A, E>,
    places: ReadonlyArray<number>,
    done: (exit: Exit.Exit<A, E>) => Effect.Effect<void>
  ) {
    let place = 0
    const stop = (where: string) =>
      Effect.suspend(() => {
        if (!places.includes(place++)) return Effect.void
        const go = Deferred.makeUnsafe<void>()
        this.stops.push({ where, go })
        Deferred.doneUnsafe(this.#quiet, Exit.void)
        return Deferred.await(go)
      })
    const over = Effect.exit(Effect.provideService(effect, Halts, stop)).pipe(
      Effect.flatMap(done),
      Effect.andThen(
        Effect.sync(() => {
          this.isDone = true
          Deferred.doneUnsafe(this.#quiet, Exit.void)
        })
      )
    )
    const forked = Effect.map(Effect.forkChild(over), (fiber) => {
      this.#fiber = fiber
    })
    return Effect.andThen(forked, this.#until)
  }

  /** Goes on from where it sleeps. */
  readonly resume = Effect.suspend(() => {
    this.#quiet = Deferred.makeUnsafe()
    const stop = this.stops.shift()
    if (stop !== undefined) Deferred.doneUnsafe(stop.go, Exit.void)
    return this.stops.length > 0 ? Effect.void : this.#until
  })

  /** Dies where it sleeps, and tells nobody. */
  readonly kill = Effect.suspend(() => {
    this.isDone = true
    return this.#fiber === undefined ? Effect.void : Fiber.interrupt(this.#fiber)
  })
}
