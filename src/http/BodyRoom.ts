import { Context } from "effect"
import type { Writable } from "node:stream"
import * as Room from "#services/Room.ts"

/** What all bodies of a process may take at once, in bytes, and how much of it one owner may have. */
const most = 128 * 1024 * 1024
const share = 1 / 4

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
  const room = Room.make(most, share)
  return (owner) => {
    let arrived = 0
    let taken = 0
    let isLeft = false
    return {
      take: (bytes) => {
        arrived += bytes
        const more = Math.max(0, arrived - free) - taken
        if (isLeft || more === 0) return true
        if (!room.enter(owner, more)) return false
        taken += more
        return true
      },
      leave: () => {
        if (!isLeft) room.leave(owner, taken)
        isLeft = true
      }
    }
  }
}

/** Has a place for as long as there is an answer to be written. */
export const leaveWith = (response: Writable, { leave }: Place): void => {
  if (response.closed) leave()
  else response.once("close", leave)
}

/**
 * Bodies in memory, of requests until they are answered and of answers until they are taken: whoever sends many large ones at once and
 * does not come to their end, or asks for many and reads none, would otherwise take all of it. Memory is the whole process's, so the
 * room is as well; a reference, so that a test has a small one.
 */
export const BodyRoom = Context.Reference<Enter>("turnpike/http/BodyRoom", { defaultValue: () => make(most) })
