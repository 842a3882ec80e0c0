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
const ownerOf = ({ command: { owner } }: Job): string => owner ?? ""
const isSingle = (job: Job): boolean => itemsOf(job) === 0
const sum = (jobs: ReadonlyArray<Job>): number => jobs.reduce((items, job) => items + itemsOf(job), 0)

/** What one owner has waiting of commands with items. */
interface Line {
  readonly jobs: Array<Job>
  items: number
}

/** By owner, in the order in which they are served next. None is empty. */
const linesOf = (jobs: ReadonlyArray<Job>): Map<string, Line> => {
  const lines = new Map<string, Line>()
  for (const job of jobs) join(lines, job)
  return lines
}
const join = (lines: Map<string, Line>, job: Job): void => {
  const line = lines.get(ownerOf(job)) ?? { jobs: [], items: 0 }
  line.jobs.push(job)
  line.items += itemsOf(job)
  lines.set(ownerOf(job), line)
}

/**
 * The commands that wait for a group. Those that want one thing each are taken oldest first, and do not wait for what another wants a
 * thousand of, but for the end of one such group. Those of many items are taken in turn by owner.
 */
export const make = (policy: Context.Service.Shape<typeof LanePolicy>) => {
  let singles: Array<Job> = []
  let lines = new Map<string, Line>()
  /** Whether the group that is put together is for single commands only, and whether the last one was not. */
  let isOfSingles = false
  let hadItems = false

  const inLines = () => [...lines.values()].flatMap(({ jobs }) => jobs)
  const size = () => {
    let all = singles.length
    for (const { jobs } of lines.values()) all += jobs.length
    return all
  }
  const items = () => {
    let all = 0
    for (const line of lines.values()) all += line.items
    return all
  }

  /** Whether there was room for it. */
  const add = (job: Job): boolean => {
    if (size() >= policy.waiting) return false
    if (isSingle(job)) {
      singles.push(job)
      return true
    }
    // Each item is as heavy as a command: what may wait has to fit into memory, and to be done before it is overdue.
    const [all, own, more] = [items(), lines.get(ownerOf(job))?.items ?? 0, itemsOf(job)]
    if (all > 0 && all + more > policy.waitingItems) return false
    if (own > 0 && own + more > policy.waitingItems * policy.waitingShare) return false
    join(lines, job)
    return true
  }

  /** A group of those who were taken before and of what waits, as far as there is room in it. */
  const take = (before: ReadonlyArray<Job>): ReadonlyArray<Job> => {
    if (before.length === 0) isOfSingles = hadItems && singles.length > 0
    const taken = [...before]
    let heavy = sum(taken)
    // Who was served and wants more is behind the others, and comes again in this very loop.
    for (const [owner, line] of isOfSingles ? [] : lines) {
      const [job] = line.jobs
      if (job === undefined || taken.length >= policy.group) break
      // One that is a group by itself goes with single ones and not with its like: they would be out of time together.
      if (heavy > 0 && heavy + itemsOf(job) > policy.group) continue
      taken.push(job)
      heavy += itemsOf(job)
      line.jobs.shift()
      line.items -= itemsOf(job)
      lines.delete(owner)
      if (line.jobs.length > 0) lines.set(owner, line)
    }
    hadItems = heavy > 0
    taken.push(...singles.splice(0, Math.max(0, policy.group - taken.length)))
    return taken
  }

  /** Puts those back who were taken, before all others. */
  const putBack = (taken: ReadonlyArray<Job>) => {
    if (taken.length === 0) return
    singles = [...taken.filter(isSingle), ...singles]
    lines = linesOf([...taken.filter((job) => !isSingle(job)), ...inLines()])
    // Their turn did not come to anything, and is theirs again.
    hadItems = false
  }

  /** Those who have waited for longer than was promised; they do not wait any more. */
  const takeOverdue = (): ReadonlyArray<Job> => {
    const since = passed() - Duration.toMillis(policy.commandTimeout)
    const isLate = (job: Job) => job.since < since
    const overdue = [...inLines(), ...singles].filter(isLate)
    if (overdue.length > 0) {
      lines = linesOf(inLines().filter((job) => !isLate(job)))
      singles = singles.filter((job) => !isLate(job))
    }
    return overdue
  }

  const takeAll = (): ReadonlyArray<Job> => {
    const all = [...inLines(), ...singles]
    lines = new Map()
    singles = []
    return all
  }

  return { size, add, take, putBack, takeOverdue, takeAll }
}
