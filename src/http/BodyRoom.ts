import { Context } from "effect"
import type { IncomingMessage } from "node:http"

/** What all bodies of a process may take at once, in bytes; one owner may have a quarter of it. */
const most = 128 * 1024 * 1024

/** What a body has for nothing, in bytes: how many connections there are is limited, and a login waits for no batch. */
const free = 16_384

/** Gives the room of one body back. Giving it back again is giving it back once. */
export type Leave = () => void

/** Takes the room of a body, until it is given back; undefined when its owner has too much of it, or all owners together. */
export type Enter = (owner: string, bytes: number) => Leave | undefined

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
  return (owner, bytes) => {
    const taken = Math.max(0, bytes - free)
    if (all + taken > most || (held.get(owner) ?? 0) + taken > most / 4) return undefined
    add(owner, taken)
    let isLeft = false
    return () => {
      if (!isLeft) add(owner, -taken)
      isLeft = true
    }
  }
}

/**
 * Bodies that are read into memory: whoever sends many large ones at once, and does not come to their end, would otherwise take all of
 * it. Memory is the whole process's, so the room is as well; a reference, so that a test has a small one.
 */
export const BodyRoom = Context.Reference<Enter>("turnpike/http/BodyRoom", { defaultValue: () => make(most) })

/** How many bytes are to be expected of a body: what it announces, or the `longest` that there may be. */
export const expected = ({ headers }: IncomingMessage, longest: number): number =>
  headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : longest
