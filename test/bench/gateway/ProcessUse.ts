import { readdirSync, readFileSync } from "node:fs"

/** Resident memory of a process, in MB. */
export const residentMegabytes = (pid: number): number =>
  number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1]) / 1024

/** Memory of some processes together, in MB, where pages they share count once. */
export const sharedMegabytes = (pids: ReadonlyArray<number>): number =>
  sum(pids.map((pid) => number(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]))) / 1024

/** Processor time these processes used so far, in seconds. */
export const processorSeconds = (pids: ReadonlyArray<number>): number =>
  sum(pids.map((pid) => number(stat(pid)[11]) + number(stat(pid)[12]))) / ticksPerSecond

/** The processes below a process, children of children included. */
export const descendants = (pid: number): ReadonlyArray<number> => {
  const children = readdirSync("/proc")
    .map(Number)
    .filter((candidate) => candidate > 0 && number(stat(candidate)[1]) === pid)
  return [...children, ...children.flatMap(descendants)]
}

// `USER_HZ`, which Linux fixes at 100 for what it shows in /proc.
const ticksPerSecond = 100

/** The fields of /proc/<pid>/stat from the third on: the second may contain spaces. */
const stat = (pid: number): ReadonlyArray<string> =>
  read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ")

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
const number = (text: string | undefined) => Number(text ?? 0)

/** Nothing for a process that has ended. */
const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
