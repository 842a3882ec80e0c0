import { Cause, Deferred, Duration, Effect, Exit, Fiber, FiberSet, Option, type PubSub } from "effect"
import { SqlClient } from "effect/sql"
import type { DomainNotAllowed } from "#domain/MerchantDomain.ts"
import type { IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import { type InsufficientCredits, ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import * as FairTurns from "../FairTurns.ts"
import { monotonicMillis } from "../RealTime.ts"
import * as Room from "../Room.ts"
import * as Billing from "./Billing.ts"
import { type Billed, ownerOf, type ScanBuyer, tenantOf } from "./Buyer.ts"
import * as Charging from "./Charging.ts"
import { type Claim, type Claims, newerWords, type Words } from "./Claims.ts"
import * as Ends from "./Ends.ts"
import { ScanPolicy } from "./Policy.ts"
import type { KeyTaken } from "./Repeating.ts"
import type { Stored, Wanted, Work } from "./Work.ts"

/** Work of this process and all who wait for it. */
interface Flight<A> extends Pick<Wanted, "domain" | "variant"> {
  /** Who asked for it first. */
  readonly owner: string
  words: Words
  /** What was there when it was asked for; whatever comes after that is an answer. */
  readonly begun: bigint
  /** With the last of them who leaves it ends. */
  readonly members: Set<Billing.Member>
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  readonly done: Deferred.Deferred<Landed<A>, DomainNotAllowed | ScannerUnavailable>
}
/** `settled` are the members whose charges were settled with the record; the others settle for themselves. */
interface Landed<A> {
  readonly record: A
  readonly settled: ReadonlyMap<Billing.Member, boolean>
}

const keyOf = ({ domain, variant }: Pick<Wanted, "domain" | "variant">) => `${domain} ${variant}`
/** How many charges are earned in the transaction of the record: it is held up for others. */
const settledAtOnce = 100

const failed = new ScannerUnavailable({ reason: "Failed", retry_after: 5 })

/**
 * Does one piece of work at a time for a domain, whoever asks and wherever: of this process by a flight that all who ask board, of
 * all processes by a claim. Who asks is charged before and gets the credits back unless there is a record. An order goes on to
 * its end when its caller hangs up; it ends with the process. Who pays for the very call does not pay when hanging up, so that order
 * ends at once: a record that nobody pays for is not made.
 */
export const make = Effect.fnUntraced(function* <A, F>(work: Work<A, F>, claims: Claims) {
  const sql = yield* SqlClient.SqlClient
  const ends = yield* Ends.make(work.kind)
  const charging = yield* Charging.make(work)
  const policy = yield* ScanPolicy
  const { settle } = yield* Billing.make
  const { atOnce, callers, longest, queue, share } = work.limits
  const turns = FairTurns.make(atOnce)
  // For flights, and for callers who wait for one.
  const sky = Room.make(atOnce + queue, share)
  const hall = Room.make(callers, share)
  const flights = new Map<string, Flight<A>>()
  const orders = yield* FiberSet.make()
  const running = yield* FiberSet.make()

  const busy = () =>
    new ScannerUnavailable({ reason: "Busy", retry_after: 4 * Math.max(1, Math.ceil(flights.size / atOnce)) })

  /** The record of our claim; nothing when the claim was lost to another process meanwhile. */
  const land = Effect.fnUntraced(
    function* (claim: Claim, flight: Flight<A>, findings: F) {
      if (!(yield* claims.end(claim))) return undefined
      const record = yield* work.store(claim, findings, flight.words)
      const settled = yield* settle(work.ended(record), [...flight.members].slice(0, settledAtOnce))
      yield* ends.tell(flight.domain)
      return { record, settled } satisfies Landed<A>
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )
  const keep = (claim: Claim) =>
    Effect.sleep(Duration.divideUnsafe(policy.lease, 3)).pipe(
      // Whether it is lost is asked again before anything is stored.
      Effect.andThen(Effect.catchDefect(claims.prolong(claim), () => Effect.succeed(true))),
      Effect.repeat({ while: (isOurs) => isOurs }),
      Effect.as(undefined)
    )
  const lookAt = Effect.fnUntraced(
    function* (claim: Claim, flight: Flight<A>) {
      yield* claims.begin(claim)
      return { findings: yield* work.look(claim, flight.words) }
    },
    (looking, _, { owner }) =>
      Effect.timeoutOrElse(looking, { duration: longest, orElse: () => Effect.fail(failed) }).pipe(
        Effect.provideService(FairTurns.Owner, owner),
        (looking) => Effect.scoped(Effect.andThen(turns(owner), looking))
      )
  )
  const giveUp = (claim: Claim) =>
    Effect.andThen(claims.end(claim), ends.tell(claim.domain)).pipe(
      Effect.catchCause((cause) => Effect.logWarning("A claim of the scanner waits for its end", cause))
    )
  const asOwner = (claim: Claim, flight: Flight<A>) =>
    Effect.raceFirst(lookAt(claim, flight), keep(claim)).pipe(
      Effect.flatMap((looked) =>
        looked === undefined ? Effect.succeed(undefined) : land(claim, flight, looked.findings)
      )
    )

  /** What was stored since `begun`. */
  const newer = ({ domain, variant }: Flight<A>, begun: bigint) =>
    Effect.map(
      work.newest(domain, variant),
      Option.filter(({ place }) => place > begun)
    )
  const shared = ({ record }: Stored<A>): Landed<A> => ({ record, settled: new Map() })

  const under = Effect.fnUntraced(function* (
    claim: Option.Option<Claim>,
    ended: PubSub.Subscription<string>,
    flight: Flight<A>,
    begun: bigint
  ) {
    // After the claim: whoever had it before gave it up together with storing the record.
    const found = yield* newer(flight, begun)
    if (Option.isSome(found) && Option.isSome(claim)) yield* giveUp(claim.value)
    if (Option.isSome(found)) return shared(found.value)
    if (Option.isNone(claim)) return yield* ends.waitFor(ended, flight.domain)
    // An answer to the commit may have been lost: then there is a record all the same.
    return yield* asOwner(claim.value, flight).pipe(
      Effect.catchDefect((defect) =>
        Effect.flatMap(newer(flight, begun), (stored) =>
          Option.isSome(stored) ? Effect.succeed(shared(stored.value)) : Effect.die(defect)
        )
      )
    )
  })
  /** Does it, or waits for who does. Ends with nothing when there is something new to see. */
  const attempt = Effect.fnUntraced(function* (flight: Flight<A>, begun: bigint) {
    const ended = yield* ends.listen
    return yield* Effect.acquireUseRelease(
      claims.take(work.kind, flight.domain, flight.variant, flight.words),
      (claim) => under(claim, ended, flight, begun),
      (claim, exit) => (Option.isSome(claim) && Exit.isFailure(exit) ? giveUp(claim.value) : Effect.void)
    )
  }, Effect.scoped)
  const fly = Effect.fn("Scans.fly")(function* (flight: Flight<A>) {
    const since = yield* monotonicMillis
    while ((yield* monotonicMillis) - since < Duration.toMillis(policy.patience)) {
      const landed = yield* attempt(flight, flight.begun)
      if (landed !== undefined) return landed
    }
    return yield* busy()
  })

  /** Nobody boards it any more. */
  const retire = (flight: Flight<A>) => {
    const key = keyOf(flight)
    if (flights.get(key) === flight) flights.delete(key)
  }
  const leave = (flight: Flight<A>, member: Billing.Member) =>
    Effect.suspend(() => {
      flight.members.delete(member)
      if (flight.members.size > 0 || flight.fiber === undefined) return Effect.void
      retire(flight)
      return Fiber.interrupt(flight.fiber)
    })
  /** The flight that does this, ours or a new one; nothing when there is no room for it. */
  const board = Effect.fnUntraced(function* (
    { domain, variant, words }: Wanted,
    begun: bigint,
    member: Billing.Member
  ) {
    const key = keyOf({ domain, variant })
    const known = flights.get(key)
    // One that was begun before the newest record may end with that, which was there before this was asked for.
    if (known !== undefined && known.begun >= begun) {
      known.words = newerWords(words, known.words)
      known.members.add(member)
      return known
    }
    const owner = ownerOf(member.tenant_id)
    if (!sky.enter(owner)) return yield* busy()
    const done: Flight<A>["done"] = Deferred.makeUnsafe()
    const flight: Flight<A> = {
      domain,
      variant,
      owner,
      words,
      begun,
      members: new Set([member]),
      fiber: undefined,
      done
    }
    flights.set(key, flight)
    const flying = fly(flight).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          sky.leave(owner)
          retire(flight)
          Deferred.doneUnsafe(flight.done, exit)
        })
      )
    )
    // At once: what is interrupted before it starts would never leave.
    flight.fiber = yield* FiberSet.run(running, flying, { startImmediately: true })
    return flight
  })

  const tellRepetitions = ({ claim }: Billing.Member, { domain }: Wanted) =>
    claim === undefined ? Effect.void : ends.tell(domain)
  const settleAlone = Effect.fnUntraced(
    function* (wanted: Wanted, record: A, member: Billing.Member) {
      yield* work.remember(wanted.domain, wanted.words)
      const settled = yield* settle(work.ended(record), [member])
      yield* tellRepetitions(member, wanted)
      return settled.get(member) ?? false
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", Effect.die)
  )
  const takePart = Effect.fnUntraced(function* (wanted: Wanted, begun: bigint, member: Billing.Member) {
    const { record, settled } = yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(board(wanted, begun, member), (flight) =>
        restore(Effect.raceFirst(Deferred.await(flight.done), charging.keep(member))).pipe(
          Effect.onInterrupt(() => leave(flight, member))
        )
      )
    )
    return { record, earned: settled.get(member) ?? (yield* settleAlone(wanted, record, member)) }
  })

  const attended = Effect.fnUntraced(function* (buyer: ScanBuyer, wanted: Wanted) {
    const begun = yield* work.last(wanted.domain, wanted.variant)
    const charge = yield* charging.charge(buyer, wanted.domain, wanted.claim)
    const member = { tenant_id: tenantOf(buyer), charge, claim: wanted.claim }
    const exit = yield* Effect.exit(Effect.interruptible(takePart(wanted, begun, member)))
    if (Exit.isSuccess(exit)) {
      const { earned, record } = exit.value
      const charged = earned ? work.credits : 0
      const remaining = charge && charge.remaining + charge.credits - charged
      return { record, charged, remaining } satisfies Billed<A>
    }
    const refused = Cause.findErrorOption(exit.cause)
    const reason = Option.match(refused, { onNone: () => "failed", onSome: ({ _tag }) => _tag.toLowerCase() })
    yield* charging.refund(member, reason)
    yield* tellRepetitions(member, wanted)
    if (Option.isSome(refused)) return yield* refused.value
    if (!Cause.hasInterrupts(exit.cause)) yield* Effect.logError("The scanner failed", wanted.domain, exit.cause)
    return yield* failed
  })
  const inHall = (buyer: ScanBuyer, wanted: Wanted) => {
    const owner = ownerOf(tenantOf(buyer))
    return Effect.acquireUseRelease(
      Effect.sync(() => hall.enter(owner)),
      (isIn) => Effect.uninterruptible(isIn ? attended(buyer, wanted) : busy()),
      (isIn) => Effect.sync(() => isIn && hall.leave(owner))
    )
  }

  /** Charges, waits for the record, and settles. */
  const order = Effect.fnUntraced(function* (
    buyer: ScanBuyer,
    wanted: Wanted
  ): Effect.fn.Return<
    Billed<A>,
    InsufficientCredits | DomainNotAllowed | ScannerUnavailable | IdempotencyKeyReused | KeyTaken
  > {
    const exit = yield* Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(FiberSet.run(orders, inHall(buyer, wanted)), (fiber) =>
        Effect.onInterrupt(restore(Fiber.await(fiber)), () =>
          buyer._tag === "PaidCall" ? Fiber.interrupt(fiber) : Effect.void
        )
      )
    )
    return yield* Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause) ? failed : exit
  })
  return { order }
})
