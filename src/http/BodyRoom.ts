import { Context } from "effect"

/** What all bodies of a process may take at once, in bytes; one owner may have a quarter of it. */
const most = 128 * 1024 * 1024

/** What a body has for nothing, in bytes: how many connections there are is limited, and a login waits for no batch. */
export const free = 16_384

/** What one body takes. */
export interface Place {
  /** Whether there is room for so many bytes more. */
  readonly take: (bytes: number) => boolean
  /** Gives back all that was taken, once. */
  readonly leave: () => void
}

/** The place of a body of this owner's, which has taken nothing yet. */
export type Enter = (owner: string) => Place

/** Room of this many bytes. */
export const make = (most: number): Enter => {
  const held = new Map<string, number>()
  let all = 0
  const add = (owner: string, bytes: number) => {
    all += bytes
    const now = (held.get(owner) ?? 0) + bytes
    if (now === 0) held.delete(owner)
    else held.set(owner, now)
  }
  return (owner) => {
    let arrived = 0
    let taken = 0
    let isLeft = false
    return {
      take: (bytes) => {
        arrived += bytes
        const more = Math.max(0, arrived - free) - taken
        if (isLeft || more === 0) return true
        const before = held.get(owner) ?? 0
        // What is alone is let in at any size: it would never be, however often it is asked for.
        if (all + more > most || (before > 0 && before + more > most / 4)) return false
        taken += more
        add(owner, more)
        return true
      },
      leave: () => {
        if (!isLeft) add(owner, -taken)
        isLeft = true
      }
    }
  }
}

/**
 * Bodies in memory, of requests until they are answered and of answers until they are taken: whoever sends many large ones at once and
 * does not come to their end, or asks for many and reads none, would otherwise take all of it. Memory is the whole process's, so the
 * room is as well; a reference, so that a test has a small one.
 */
export const BodyRoom = Context.Reference<Enter>("turnpike/http/BodyRoom", { defaultValue: () => make(most) })
