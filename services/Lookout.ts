import { Clock, Context, DateTime, Duration, Effect, Latch, Layer, Schema, type Scope } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { monotonic, within } from "./RealTime.ts"
import { upkeep } from "./Upkeep.ts"

/** Something to do whenever the database says so. */
export interface Duty {
  /** What the log says when a turn fails. */
  readonly failed: string
  /** An SQL expression of whether there is something to do: quick, also where there is much that is not due. */
  readonly isDue: (now: Date) => Statement.Fragment
  readonly step: Effect.Effect<unknown>
  /** The least time between the starts of two turns, to the second; one second unless said. */
  readonly every?: Duration.Input
}

interface Post {
  readonly isDue: Duty["isDue"]
  readonly due: Latch.Latch
  readonly every: number
  /** Since when its last turn is, by the monotonic clock. */
  at: number
}

const Answer = Schema.Tuple([Schema.Struct({ due: Schema.Array(Schema.NullOr(Schema.Boolean)) })])

/** Looks come a little before or after their second, in milliseconds. */
const slack = 500

/** How long the question may take before all do without it. */
const patience = "3 seconds"

/**
 * Asks the database once a second what has fallen due, for all of this process who do something about it: a process where nothing happens
 * hardly works, and the others ask no more. Where the question cannot be answered everybody looks for himself.
 */
export class Lookout extends Context.Service<
  Lookout,
  {
    /** Takes a first turn at once, and one when it is due, for as long as the scope is open. One that fails is logged and ends nothing. */
    keep(duty: Duty): Effect.Effect<void, never, Scope.Scope>
  }
>()("turnpike/services/Lookout") {
  static readonly layer = Layer.effect(
    Lookout,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const clock = yield* Clock.Clock
      const posts = new Set<Post>()

      const ask = (questions: ReadonlyArray<Statement.Fragment>) =>
        Effect.flatMap(sql`SELECT ARRAY[${sql.csv(questions)}] AS due`, Schema.decodeUnknownEffect(Answer))
      const look = Effect.gen(function* () {
        const asked = [...posts]
        if (asked.length === 0) return
        const now = yield* DateTime.nowAsDate
        const all = Effect.succeed([{ due: asked.map(() => true) }])
        const [{ due }] = yield* ask(asked.map(({ isDue }) => isDue(now))).pipe(
          (answer) => within(answer, { duration: patience, orElse: () => all }),
          Effect.catchCause((cause) =>
            Effect.andThen(Effect.logError("What is due could not be looked for", cause), all)
          )
        )
        const at = monotonic(clock)
        asked.forEach((post, index) => {
          if (due[index] !== true || at - post.at < post.every - slack) return
          post.at = at
          post.due.openUnsafe()
        })
      })
      yield* upkeep("What is due could not be looked for", look, "1 second")

      const keep = Effect.fnUntraced(function* ({ every = 0, failed, isDue, step }: Duty) {
        const due = Latch.makeUnsafe(true)
        const post: Post = {
          isDue,
          due,
          every: Duration.toMillis(Duration.fromInputUnsafe(every)),
          at: monotonic(clock)
        }
        yield* Effect.acquireRelease(
          Effect.sync(() => posts.add(post)),
          () => Effect.sync(() => posts.delete(post))
        )
        const turn = Effect.andThen(
          due.await,
          Effect.suspend(() => {
            due.closeUnsafe()
            return step
          })
        )
        yield* turn.pipe(
          Effect.catchCause((cause) => Effect.logError(failed, cause)),
          Effect.forever,
          Effect.forkScoped
        )
      })
      return Lookout.of({ keep })
    })
  )
}
