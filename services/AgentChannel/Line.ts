import type { Buffer } from "node:buffer"
import type { Result } from "effect"
import { heartbeat, life } from "#domain/Channel.ts"
import type { EventId } from "#domain/Ids.ts"
import type { Kept } from "./Unanswered.ts"

/** Where the bytes of a connection go. */
export interface Outlet {
  /** Begins the answer. */
  begin(): void
  write(bytes: string | Buffer): void
  /** How many bytes the system has not taken yet. */
  readonly pending: number
  /** How many bytes the system took. */
  readonly taken: number
  /** By what the system knows the connection; undefined when there is no such thing. */
  readonly peer: string | undefined
  /** Closes the connection when these are written, and soon in any case. */
  end(bytes: string): void
  destroy(): void
}

/** What somebody who connects has shown. */
export interface Visitor {
  readonly session_id: string
  readonly agent_id: string
  readonly tenant_id: string
  /** SHA-256 of the session token, in hex. */
  readonly hash: string
  /** After which event the client wants to go on. */
  readonly wanted: Result.Result<EventId | undefined, "malformed">
}

/** An open connection: a socket, a place in the log and a few numbers. There is no fiber, stream or timer in it. */
export class Line {
  readonly session_id: string
  readonly agent_id: string
  readonly tenant_id: string
  readonly hash: string
  wanted: Visitor["wanted"] | undefined
  readonly outlet: Outlet
  /** Of two connections of a session the later one has the higher fence. Zero until it is registered. */
  fence = 0n
  /** Since when it is open, by the monotonic clock: whatever time it is set to be, heartbeats go on. */
  since = 0
  /** What was told, or need not be. */
  cursor = 0n
  lastEventId: EventId | undefined = undefined
  missed = 0
  private beaten = 0
  /** It is told again from its cursor on, as fast as it reads. */
  isBehind = false
  isTold = false
  /** What the peer is known to have, and since when it has no more; see `isSilent`. */
  private arrived = 0
  silentSince = 0
  /** What it had when very much began to be kept for it, or when it had last taken as much, and since when. */
  private paced = 0
  private slowSince = 0
  state: "opening" | "open" | "closed" = "opening"

  constructor(visitor: Visitor, outlet: Outlet) {
    this.session_id = visitor.session_id
    this.agent_id = visitor.agent_id
    this.tenant_id = visitor.tenant_id
    this.hash = visitor.hash
    this.wanted = visitor.wanted
    this.outlet = outlet
  }

  /** Whether there was room for it. What does not read is not waited for; what it is still to be told stays where it is. */
  take(bytes: string | Buffer): boolean {
    const { pending } = this.outlet
    if (pending > 0 && pending + bytes.length > life.pending) return false
    this.outlet.write(bytes)
    if (pending === 0) this.beaten = this.outlet.taken
    return true
  }

  /** Whether it took something since the last heartbeat, or has not missed too many of them in a row. */
  beat(): boolean {
    const { pending, taken } = this.outlet
    if (pending > 0 && taken === this.beaten) this.missed++
    else this.missed = 0
    this.beaten = taken
    if (pending === 0) this.outlet.write(heartbeat)
    return this.missed < life.missed
  }

  /** Whether nothing arrives at the peer for too long, or too little of very much that the system keeps for it. */
  isSilent(kept: Kept | undefined, now: number): boolean {
    const bytes = kept?.bytes ?? 0
    const arrived = this.outlet.taken - bytes
    if (kept === undefined || bytes === 0) this.silentSince = 0
    else if (this.silentSince === 0 || arrived > this.arrived) this.silentSince = now
    if (bytes <= life.pending) this.slowSince = 0
    else if (this.slowSince === 0 || arrived - this.paced >= life.pending) {
      this.slowSince = now
      this.paced = arrived
    }
    this.arrived = arrived
    const unread = life.missed * life.heartbeat
    // A line that loses much sends much again and moves all the same.
    const patience = kept?.isVain === true ? life.silence : unread
    return (
      (this.silentSince > 0 && now - this.silentSince >= patience) ||
      (this.slowSince > 0 && now - this.slowSince >= unread)
    )
  }
}
