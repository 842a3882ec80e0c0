import { Buffer } from "node:buffer"
import { type Context, Latch, Metric } from "effect"
import { dueAt, life, reconnectRequired, superseded } from "#domain/Channel.ts"
import type { Line } from "./Line.ts"
import type { Telling } from "./Reading.ts"
import type { Kept } from "./Unanswered.ts"

const gauge = Metric.gauge("turnpike_channel_connections", { description: "Open event channels of agents" })
const delivered = Metric.counter("turnpike_channel_events_total", {
  description: "Events written to channels of agents",
  incremental: true
})

const second = 1_000
const slots = life.heartbeat / second
/** Events for one connection are joined up to this size before they are written. */
const chunk = 65_536

/** The open connections of this process. `left` is told of each that is over, unless another took its place. */
export class Lines {
  private readonly bySession = new Map<string, Line>()
  private readonly byAgent = new Map<string, Array<Line>>()
  private readonly byHash = new Map<string, Line>()
  /** By the second in which they began: every thirty seconds each of them is due, and never all at once. */
  private readonly wheel = Array.from({ length: slots }, () => new Set<Line>())
  /** Those that could not take what they were to be told. */
  readonly behind = new Set<Line>()
  private ticked = 0
  private readonly left: (line: Line) => void
  private readonly context: Context.Context<never>

  constructor(context: Context.Context<never>, left: (line: Line) => void) {
    this.context = context
    this.left = left
    gauge.updateUnsafe(0, context)
    delivered.updateUnsafe(0, context)
  }

  /** Open while there is a connection. */
  readonly occupied = Latch.makeUnsafe(false)

  get size(): number {
    return this.bySession.size
  }
  all(): ReadonlyArray<Line> {
    return [...this.bySession.values()]
  }
  session(id: string): Line | undefined {
    return this.bySession.get(id)
  }
  withHash(hash: string): Line | undefined {
    return this.byHash.get(hash)
  }

  /** From now on this is the connection of its session, unless there is a later one. */
  add(line: Line, now: number): void {
    const other = this.bySession.get(line.session_id)
    const earlier = other !== undefined && other.fence > line.fence ? line : other
    if (earlier !== undefined) this.supersede(earlier)
    if (earlier === line) return
    line.since = now
    this.bySession.set(line.session_id, line)
    this.byHash.set(line.hash, line)
    const others = this.byAgent.get(line.agent_id)
    if (others === undefined) this.byAgent.set(line.agent_id, [line])
    else others.push(line)
    this.slotOf(line)?.add(line)
    this.counted()
  }

  /** Forgets a connection; whether it was one. */
  private forget(line: Line): boolean {
    if (line.state === "closed") return false
    line.state = "closed"
    if (this.bySession.get(line.session_id) === line) this.bySession.delete(line.session_id)
    if (this.byHash.get(line.hash) === line) this.byHash.delete(line.hash)
    const others = (this.byAgent.get(line.agent_id) ?? []).filter((other) => other !== line)
    if (others.length === 0) this.byAgent.delete(line.agent_id)
    else this.byAgent.set(line.agent_id, others)
    this.slotOf(line)?.delete(line)
    this.behind.delete(line)
    this.counted()
    return true
  }

  private counted(): void {
    gauge.updateUnsafe(this.size, this.context)
    if (this.size === 0) this.occupied.closeUnsafe()
    else this.occupied.openUnsafe()
  }

  private slotOf(line: Line): Set<Line> | undefined {
    return this.wheel[Math.floor(line.since / second) % slots]
  }

  /** The peer is gone. */
  lost(line: Line): void {
    if (this.forget(line)) this.left(line)
  }
  /** Closes it after these last words. */
  end(line: Line, words: string): void {
    if (line.state === "opening") line.outlet.begin()
    if (!this.forget(line)) return
    line.outlet.end(words)
    this.left(line)
  }
  /** A later connection of the same session has its place. */
  supersede(line: Line): void {
    if (line.state === "opening") line.outlet.begin()
    if (this.forget(line)) line.outlet.end(superseded)
  }
  cut(line: Line): void {
    line.outlet.destroy()
    this.lost(line)
  }

  /** Writes events, which are in order. Each agent's are encoded once, however many connections it has. */
  tell(tellings: ReadonlyArray<Telling>): void {
    for (const [agent, its] of Map.groupBy(tellings, ({ agent_id }) => agent_id)) {
      const lines = this.byAgent.get(agent) ?? []
      let from = 0
      while (from < its.length && lines.length > 0) {
        let upTo = from
        let size = 0
        while (upTo < its.length && (upTo === from || size < chunk)) size += its[upTo++]?.text.length ?? 0
        this.write(lines, its.slice(from, upTo))
        from = upTo
      }
    }
  }
  private write(lines: ReadonlyArray<Line>, its: ReadonlyArray<Telling>): void {
    const encode = (some: ReadonlyArray<Telling>) => Buffer.from(some.map(({ text }) => text).join(""))
    const [first, last] = [its[0], its.at(-1)]
    if (first === undefined || last === undefined) return
    const bytes = encode(its)
    for (const line of lines) {
      if (line.state !== "open" || line.isBehind || line.cursor >= last.seq) continue
      const isNews = line.cursor < first.seq
      const news = isNews ? its : its.filter(({ seq }) => seq > line.cursor)
      if (!line.take(isNews ? bytes : encode(news))) {
        this.lag(line)
        continue
      }
      line.cursor = last.seq
      line.lastEventId = last.id
      delivered.updateUnsafe(news.length, this.context)
    }
  }
  /** Live events pass it by until it was told what came before them. */
  lag(line: Line): void {
    line.isBehind = true
    this.behind.add(line)
  }
  /** Tells one connection what it has not been told, as much as it takes; `upTo` is where that is all of it. */
  retell(line: Line, its: ReadonlyArray<Telling>, upTo: bigint): void {
    for (const { id, seq, text } of its) {
      if (seq <= line.cursor) continue
      if (!line.take(text)) {
        this.lag(line)
        return
      }
      line.cursor = seq
      line.lastEventId = id
      delivered.updateUnsafe(1, this.context)
    }
    if (line.cursor < upTo) line.cursor = upTo
    line.isBehind = false
    this.behind.delete(line)
  }

  /** What is due at this moment, and was since the last time. */
  tick(now: number): void {
    const to = Math.floor(now / second)
    const from = Math.max(this.ticked + 1, to - slots + 1)
    this.ticked = to
    for (let at = from; at <= to; at++) {
      for (const line of this.wheel[at % slots] ?? []) if (line.state === "open") this.due(line, now)
    }
  }
  private due(line: Line, now: number): void {
    // Its second is what it is counted by.
    const age = (Math.floor(now / second) - Math.floor(line.since / second)) * second
    if (age < life.heartbeat) return
    const due = dueAt(age)
    if (due === "end") this.end(line, "")
    else if (!line.beat()) this.cut(line)
    else if (due === "farewell" && !line.isTold) {
      line.isTold = true
      if (!line.take(reconnectRequired("max_duration"))) this.cut(line)
    }
  }

  /** Cuts off those to which nothing got through for too long, and those for which the system has to keep too much. */
  listen(kept: ReadonlyMap<string, Kept>, now: number): void {
    for (const line of this.bySession.values()) {
      // Nearly always there is nothing to ask, and asking for a peer is remembered by its socket.
      if (kept.size === 0 && line.silentSince === 0) continue
      const { peer } = line.outlet
      if (peer !== undefined && line.isSilent(kept.get(peer), now)) this.cut(line)
    }
  }
}
