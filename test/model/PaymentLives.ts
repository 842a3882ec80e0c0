import { Cause, Clock, Effect, Exit, Option } from "effect"
import { TestClock } from "effect/testing"
import { toTypeId } from "#domain/Ids.ts"
import { SqlClient } from "effect/sql"
import { ChainSettlements } from "#services/ChainSettlements.ts"
import { Ledger } from "#services/Ledger.ts"
import type { Payments } from "#services/Payments.ts"
import { PaymentBook, type UsingCall } from "./PaymentBook.ts"
import { Task } from "./PaymentProcesses.ts"
import type { Subject } from "./PaymentSubjects.ts"

/** How often each answer was given: what the run has really seen. */
export type Coverage = Map<string, number>

const steps = 36
/** How long nobody does anything, in milliseconds. */
const pauses = [50, 250, 1000, 5000, 9000, 14_000, 16_000, 30_000, 61_000, 130_000, 400_000]
const behaviours = ["settle", "settle", "refuse", "pending", "silent", "unavailable"] as const

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export const diceOf = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * The life of one payment: calls that bring it, end, sleep and die, workers, and time, as a seed says. Undefined when all was as it
 * should be, and otherwise everything that happened.
 */
export const lived = Effect.fnUntraced(function* (
  seed: number,
  subject: Subject,
  processes: readonly [Payments["Service"], Payments["Service"]],
  coverage: Coverage
) {
  const sql = yield* SqlClient.SqlClient
  const { expireDue } = yield* Ledger
  const chains = yield* Effect.serviceOption(ChainSettlements)
  const dice = diceOf(seed)
  const below = (most: number) => Math.floor(dice() * most)
  const pick = <Thing>(things: ReadonlyArray<Thing>): Thing => things[below(things.length)]!
  const book = new PaymentBook(subject, yield* Clock.currentTimeMillis)
  const tasks: Array<Task> = []
  const look = Effect.map(Clock.currentTimeMillis, (now) => {
    book.now = now
  })
  const count = (what: string) => coverage.set(what, (coverage.get(what) ?? 0) + 1)

  // Every life has its own habits: what takes many steps of a few kinds is rare where all are as likely.
  const [sleepiness, furthest] = [pick([0.1, 0.45, 0.8]), pick([1, 3, 6])]
  const waits = [pick(pauses), pick(pauses), 16_000]
  const stops = () => (dice() < sleepiness ? [below(furthest), below(8)] : [])

  const sleeping = (task: Task) =>
    Effect.map(look, () => {
      const [stop] = task.stops
      if (task.isDone || stop === undefined) return
      book.takings++
      book.say(`${task.name} sleeps ${stop.where}`)
    })
  const start = <A>(
    name: string,
    effect: Effect.Effect<A, { readonly _tag: string }>,
    done: (answer: A | undefined, refusal: string) => void,
    places: ReadonlyArray<number> = stops()
  ) => {
    const task = new Task(name)
    tasks.push(task)
    const over = (exit: Exit.Exit<A, { readonly _tag: string }>) =>
      Effect.map(look, () => {
        const refusal = Exit.isFailure(exit) ? refusalIn(exit.cause) : ""
        book.say(`${name}: ${refusal === "" ? "done" : refusal}`)
        if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) book.breaks(Cause.pretty(exit.cause).slice(0, 600))
        done(Exit.isSuccess(exit) ? exit.value : undefined, refusal)
      })
    return Effect.andThen(task.start(effect, places, over), sleeping(task))
  }

  const bring = (process: 0 | 1, request: string, places?: ReadonlyArray<number>) => {
    book.takings++
    const name = `it is brought to process ${process} with ${request}`
    return start(
      name,
      subject.bring(processes[process], request),
      (grant, refusal) => count(`brought: ${book.answered(process, request, grant, refusal)}`),
      places
    )
  }
  const capture = (call: UsingCall) => {
    const text = book.newAnswer()
    const isKept = dice() < 0.7
    const kept = isKept ? { status: 200, headers: [], body: Buffer.from(text) } : undefined
    const reported = subject.signed?.scheme === "upto" && dice() < 0.5 ? 3000n : undefined
    book.charging(call, isKept ? text : undefined)
    return start(
      `call ${call.number} is charged${isKept ? ` for ${text}` : ""}`,
      processes[call.process].capture(call.payment, { status: 200, millis: 5, kept, reported }, subject.signed),
      (charge, refusal) => count(`charged: ${book.charged(call, charge?.charged, refusal)}`)
    )
  }
  const giveBack = (call: UsingCall, how: "release" | "unclaim") => {
    call.state = "over"
    count(how)
    const { release, unclaim } = processes[call.process]
    const ending = how === "unclaim" ? unclaim(call.payment) : release(call.payment, "origin_status")
    return start(`call ${call.number}: ${how}`, ending, () => undefined)
  }
  const sweep = (process: 0 | 1, places?: ReadonlyArray<number>) =>
    start(`process ${process} ends what is due`, processes[process].resolveDue, () => undefined, places)
  const upkeep = Effect.gen(function* () {
    yield* expireDue
    if (Option.isSome(chains)) yield* chains.value.reconcileDue
    yield* processes[0].dropOldAnswers
  })
  const pass = (millis: number) => Effect.andThen(TestClock.adjust(millis), look)

  const process = () => pick([0, 1] as const)
  const withOne = <Thing>(things: () => ReadonlyArray<Thing>, use: (thing: Thing) => Effect.Effect<void>) =>
    Effect.suspend(() => {
      const some = things()
      return some.length === 0 ? Effect.void : use(pick(some))
    })
  const live = () => book.calls.filter(({ state }) => state === "live")
  const charged = () => book.calls.filter(({ state }) => state === "charged")
  const asleep = () => tasks.filter(({ isDone }) => !isDone)
  const actions = [
    Effect.suspend(() => bring(process(), dice() < 0.85 ? "f" : "g")),
    withOne(live, capture),
    withOne(live, (call) => giveBack(call, "release")),
    withOne(live, (call) => giveBack(call, "unclaim")),
    withOne(live, (call) => {
      call.state = "dead"
      return Effect.sync(() => book.say(`call ${call.number} dies`))
    }),
    withOne(asleep, (task) => {
      book.say(`${task.name} wakes`)
      return Effect.andThen(task.resume, sleeping(task))
    }),
    withOne(asleep, (task) => {
      book.say(`${task.name} dies`)
      return task.kill
    }),
    Effect.suspend(() => sweep(process())),
    upkeep,
    withOne(
      () => (subject.rail === "chain" ? behaviours : []),
      (behaviour) => {
        book.say(`the chain: ${behaviour}`)
        return subject.chainDoes(behaviour)
      }
    ),
    withOne(charged, (call) => {
      const delivered = dice() < 0.5
      book.isSeen = true
      book.say(`call ${call.number} is seen, ${delivered ? "delivered" : "lost"}`)
      return Effect.sync(() =>
        processes[call.process].seen(call.payment.id, delivered, call.payment.protocol !== "native")
      )
    }),
    withOne(
      () => charged().filter(({ kept }) => kept.size === 0),
      (call) => {
        const text = book.newAnswer()
        call.kept.add(text)
        const answer = { status: 200, headers: [], body: Buffer.from(text) }
        return start(
          `call ${call.number} keeps ${text}`,
          processes[call.process].keep(call.payment, answer),
          () => undefined
        )
      }
    ),
    Effect.suspend(() => pass(pick(waits)))
  ]

  const before = yield* subject.money
  yield* bring(process(), "f", dice() < 0.8 ? [] : undefined)
  const habits = actions.flatMap((action) => Array.from({ length: pick([0, 1, 1, 3, 6]) }, () => action))
  for (let step = 0; step < steps && !book.isBroken && habits.length > 0; step++) yield* pick(habits)

  // Whoever sleeps wakes or dies. From here on only the workers do anything.
  for (const task of asleep()) {
    if (dice() < 0.5) yield* task.kill
    while (!task.isDone) yield* task.resume
  }
  yield* subject.chainDoes("settle")
  for (let turn = 0; turn < 5; turn++) {
    yield* pass(300_000)
    yield* upkeep
    for (const one of [0, 1] as const) yield* sweep(one, [])
  }
  const row = yield* subject.find
  const after = yield* subject.money
  const facts =
    row === undefined
      ? []
      : yield* sql`SELECT type FROM events
          WHERE tenant_id = ${row.tenant_id} AND data #>> '{payment,id}' = ${toTypeId("pay", row.id)}`
  const open = yield* sql`SELECT 1 FROM holds WHERE state = 'open'`
  count(`ended: ${row?.state}`)
  book.ended(
    row,
    { before, after },
    facts.map(({ type }) => String(type)),
    open.length
  )
  return book.isBroken ? `${subject.kind}\n${book.trace.join("\n")}` : undefined
})

const refusalIn = (cause: Cause.Cause<{ readonly _tag: string }>): string => {
  const refusal = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (refusal === undefined) return "defect"
  return "reason" in refusal ? `${refusal._tag} ${String(refusal.reason)}` : refusal._tag
}
