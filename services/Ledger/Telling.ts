import { Deferred, Effect } from "effect"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import { ServiceUnavailable } from "#domain/Refusal.ts"
import type { Answer } from "./Group.ts"
import type { Job } from "./Waiting.ts"

/** Why nothing is posted any more. */
export const stopped = "the ledger has stopped"

export const unavailable = (why: string) => Effect.die(ServiceUnavailable.because(why))

export const settle = (job: Job, answer: Effect.Effect<Posted, PostingRefused | Superseded>): void => {
  Deferred.doneUnsafe(job.done, answer)
}

export const giveUp = (jobs: ReadonlyArray<Job>, why: string): void => {
  for (const job of jobs) settle(job, unavailable(why))
}

/** Those whose group is committed. They are told when the next group is on its way: what they do then takes time. */
export const make = () => {
  let answered: Array<readonly [Job, Answer]> = []
  return {
    add: (jobs: ReadonlyArray<Job>, answers: ReadonlyArray<Answer>) => {
      for (const [index, job] of jobs.entries()) {
        const answer = answers[index]
        if (answer !== undefined) answered.push([job, answer])
      }
    },
    now: () => {
      const told = answered
      answered = []
      for (const [job, answer] of told) settle(job, Effect.fromResult(answer))
    }
  }
}
