import { type Context, type Deferred, Duration } from "effect"
import type { Posted } from "#domain/Command.ts"
import type { PostingRefused, Superseded } from "#domain/PostingRefused.ts"
import { passed } from "../RealTime.ts"
import type { LedgerCommand } from "./Group.ts"
import type { LanePolicy } from "./LanePolicy.ts"

export interface Job {
  readonly command: LedgerCommand
  readonly since: number
  readonly done: Deferred.Deferred<Posted, PostingRefused | Superseded>
}

const itemsOf = ({ command: { items } }: Job): number => items?.length ?? 0
const sum = (jobs: ReadonlyArray<Job>): number => jobs.reduce((items, job) => items + itemsOf(job), 0)

/** The commands that wait for a group, oldest first. */
export const make = (policy: Context.Service.Shape<typeof LanePolicy>) => {
  let jobs: Array<Job> = []
  let items = 0

  const keep = (left: Array<Job>) => {
    jobs = left
    items = sum(left)
  }

  /** Whether there was room for it. */
  const add = (job: Job): boolean => {
    const more = itemsOf(job)
    // Each item is as heavy as a command: what may wait has to fit into memory, and to be done before it is overdue.
    const isHeavy = more > 0 && items > 0 && items + more > policy.waitingItems
    if (jobs.length >= policy.waiting || isHeavy) return false
    jobs.push(job)
    items += more
    return true
  }

  /** A group of those who were taken before and of what waits, as far as there is room in it. */
  const take = (before: ReadonlyArray<Job>): ReadonlyArray<Job> => {
    const taken = [...before]
    const left: Array<Job> = []
    let heavy = sum(taken)
    let place = 0
    for (; place < jobs.length && taken.length < policy.group; place++) {
      const job = jobs[place]
      if (job === undefined) continue
      const more = itemsOf(job)
      // One that is a group by itself goes with single ones and not with its like: they would be out of time together.
      if (more > 0 && heavy > 0 && heavy + more > policy.group) left.push(job)
      else {
        taken.push(job)
        heavy += more
      }
    }
    keep(left.concat(jobs.slice(place)))
    return taken
  }

  /** Puts those back who were taken, before all others. */
  const putBack = (taken: ReadonlyArray<Job>) => {
    if (taken.length > 0) keep([...taken, ...jobs])
  }

  /** Those who have waited for longer than was promised; they do not wait any more. */
  const takeOverdue = (): ReadonlyArray<Job> => {
    const since = passed() - Duration.toMillis(policy.commandTimeout)
    const overdue = jobs.filter((job) => job.since < since)
    if (overdue.length > 0) keep(jobs.filter((job) => job.since >= since))
    return overdue
  }

  const takeAll = (): ReadonlyArray<Job> => {
    const all = jobs
    keep([])
    return all
  }

  return { size: () => jobs.length, add, take, putBack, takeOverdue, takeAll }
}
