import { closeSync, fstatSync, openSync, readSync } from "node:fs"

const most = 16 * 1024

/** The end of what a server logged since `from`; empty where that cannot be read. */
export const end = (file: string, from: number): string => {
  try {
    const handle = openSync(file, "r")
    try {
      const { size } = fstatSync(handle)
      const buffer = Buffer.alloc(most)
      return buffer.toString("utf8", 0, readSync(handle, buffer, 0, most, Math.max(from, size - most)))
    } finally {
      closeSync(handle)
    }
  } catch {
    return ""
  }
}

/**
 * Why a server ended, in its own words, by the end of its log: there it stands among all that was refused while the server came up.
 * What else a start says, such as that data may be damaged and a backup needed, is no reason; nor is what sessions were told before
 * the server began anew, such as that their role does not exist.
 */
export const reasonIn = (log: string): string | undefined =>
  [
    ...log
      .slice(log.lastIndexOf(anew) + 1)
      .matchAll(/^.*?(?:FATAL|PANIC): {2}(.*)$((?:\n.*?(?:DETAIL|HINT): {2}.*$)*)/gm)
  ]
    .filter(([, saying = ""]) => !ofSession.test(saying))
    .map(([, saying = "", more = ""]) => saying + more.replace(/\n.*?(DETAIL|HINT): {2}/g, ". $1: "))
    .at(-1)

/** What a server says that starts again by itself, because one of its processes crashed. */
const anew = "all server processes terminated; reinitializing"

/** What is said to whoever wants a session, or has one. */
const ofSession = /^(?:the database system is |terminating )/
