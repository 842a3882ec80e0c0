import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connect as dial, type Socket } from "node:net"
import { toTypeId } from "#domain/Ids.ts"
import { Transfers } from "#services/Transfers.ts"
import { Wallets } from "#services/Wallets.ts"
import { agent, open, tenant } from "../services/AgentsHarness.ts"
import { messagesOf } from "../services/AgentChannelHarness.ts"
import { entrance } from "./PlatformHarness.ts"

/** A client on a socket: what it sent, and what came back, as it came. */
export class Wire {
  text = ""
  /** What came behind the head, as far as it is whole. */
  stream = ""
  /** Whether it was said that this is all. */
  isWhole = false
  private isBegun = false
  private rest: Buffer = Buffer.alloc(0)
  isOver = false
  readonly socket: Socket
  constructor(port: number, bytes: string) {
    this.socket = dial(port, "127.0.0.1", () => this.socket.write(bytes))
    this.socket.on("data", (chunk) => {
      this.text += chunk.toString()
      this.rest = Buffer.concat([this.rest, chunk])
      while (this.part());
    })
    for (const event of ["close", "end", "error"]) {
      this.socket.on(event, () => {
        this.isOver = true
      })
    }
  }
  /** Takes the head away, or a part of the stream, if it is there. */
  private part(): boolean {
    const { rest } = this
    if (!this.isBegun) {
      const end = rest.indexOf("\r\n\r\n")
      this.isBegun = end !== -1
      if (this.isBegun) this.rest = rest.subarray(end + 4)
      return this.isBegun
    }
    const from = rest.indexOf("\r\n") + 2
    const size = Number.parseInt(rest.toString("latin1", 0, from), 16)
    this.isWhole ||= size === 0
    if (from < 2 || from + size > rest.length || !(size > 0)) return false
    this.stream += rest.toString("utf8", from, from + size)
    this.rest = rest.subarray(from + size + 2)
    return true
  }
  get head(): string {
    return this.text.split("\r\n\r\n", 1)[0] ?? ""
  }
  get messages() {
    return messagesOf(this.stream)
  }
  get names() {
    return this.messages.map(({ event }) => event)
  }
}

export const until = (what: () => string, holds: () => boolean) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const look = Effect.as(sql`SELECT pg_sleep(0.005)`, undefined)
    yield* Effect.repeat(look, { until: holds, times: 1_000 })
    assert.isTrue(holds(), what())
  })

/** An agent with a session, and how it connects. */
export const scene = Effect.gen(function* () {
  const { base, port } = yield* entrance
  const caller = yield* tenant
  const one = yield* agent(caller)
  const session = yield* open(one)
  const shown = toTypeId("agt", one.id)
  const path = `/v1/agents/${shown}/connect`
  const request = (target = path, headers: Record<string, string> = {}, method = "GET", version = "1.1") => {
    const all = { host: "turnpike.test", authorization: `Bearer ${session.sessionToken}`, ...headers }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return `${method} ${target} HTTP/${version}\r\n${lines.join("")}\r\n`
  }
  const connect = Effect.fnUntraced(function* (headers?: Record<string, string>, target = path) {
    const wire = new Wire(port, request(target, headers))
    yield* Effect.addFinalizer(() => Effect.sync(() => wire.socket.destroy()))
    yield* until(
      () => wire.text,
      () => wire.names.includes("connected")
    )
    return wire
  })
  const told = (wire: Wire, ...names: ReadonlyArray<string>) =>
    until(
      () => `${names} is not ${wire.names}`,
      () => names.every((name) => wire.names.includes(name))
    )
  const over = (wire: Wire) =>
    until(
      () => "the connection is still open",
      () => wire.isOver
    )
  const { id: till } = yield* (yield* Wallets).create(caller, {})
  /** Money for the agent; the memo tells which it was. */
  const pay = Effect.fnUntraced(function* (memo: string) {
    yield* (yield* Wallets).fund(caller, till, { amount: 1_000_000n, currency: "USDC" })
    const between = { from_wallet_id: till, to_wallet_id: one.data.wallet_id }
    return yield* (yield* Transfers).create(caller, {
      ...between,
      type: "internal",
      amount: 1_000_000n,
      currency: "USDC",
      memo
    })
  })
  const memos = (wire: Wire) =>
    wire.messages.filter(({ event }) => event === "transfer_completed").map(({ data }) => data.transfer.memo)
  return { base, caller, connect, memos, one, over, path, pay, port, request, session, shown, told }
})
