import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { alternate, median, ratio, report, type Round, say } from "./Bench.ts"
import { type Connection, get } from "./gateway/Connection.ts"
import { drive, expectStatus } from "./gateway/HttpLoad.ts"
import * as Peer from "./gateway/Peer.ts"
import * as ProcessUse from "./gateway/ProcessUse.ts"
import * as Turnpike from "./gateway/Turnpike.ts"
import * as ExpressPeer from "./x402/ExpressPeer.ts"
import { makePayers, type Payers } from "./x402/Payer.ts"
import * as Sandbox from "./x402/Sandbox.ts"

// Calls paid for with a signed authorisation (EIP-3009), through Turnpike and through the official Express middleware with the
// official facilitator in its process, in front of one origin. Turnpike holds and captures in its durable ledger; the peer's
// settlement is simulated at its own interface to the chain and costs it nothing.

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const millis = Number(process.env["BENCH_MILLIS"] ?? 4000)
/** The parts to run; all unless the command line names some. */
const parts = process.argv.slice(2)
const runs = (part: "unpaid" | "paid") => parts.length === 0 || parts.includes(part)
const connections = 16
const payers = makePayers(32)

interface Seller {
  readonly pid: number
  readonly port: number
  readonly path: string
  /** Milliseconds of processor time that the seller and its database used for a call, round by round. */
  readonly processor: Array<number>
}

const show = (label: string, results: ReadonlyArray<Round>, { processor }: Seller) => {
  const middle = (of: (round: Round) => number) => median(results.map(of)).toFixed(2).padStart(8)
  const perSecond = median(results.map((round) => round.perSecond))
    .toFixed(0)
    .padStart(7)
  const times = `p50 ${middle((r) => r.p50)} ms  p99 ${middle((r) => r.p99)} ms`
  const cost = median(processor.slice(-results.length)).toFixed(2)
  say(`     ${label.padEnd(44)} ${perSecond}/s  ${times}  processor ${cost} ms a call`)
}

/** Repeats `work` on every connection to a seller. */
const measure = Effect.fnUntraced(function* (
  { pid, port, processor }: Seller,
  work: (connection: Connection) => Promise<boolean>
) {
  const used = () => ProcessUse.processorSeconds([pid, ...ProcessUse.descendants(pid)])
  let calls = 0
  const before = used()
  const round = yield* drive({
    port,
    connections,
    millis,
    work: async (connection) => {
      const goesOn = await work(connection)
      if (goesOn) calls++
      return goesOn
    }
  })
  processor.push(((used() - before) * 1000) / calls)
  return round
})

const unpaidCalls = (seller: Seller) => {
  const request = get(seller.path)
  return measure(seller, async (connection) => {
    expectStatus(402, await connection.exchange(request))
    return true
  })
}

/** Fresh payments for one stretch at a time: enough for the speed of the last stretch and half more are signed before. */
const paidCalls = (seller: Seller, payers: Payers, expectedPerSecond: number) => {
  let expected = expectedPerSecond
  let answered = 0
  const stretch = Effect.gen(function* () {
    const requests = yield* payers.sign(seller.port, seller.path, Math.ceil((expected * millis) / 1000))
    const round = yield* measure(seller, async (connection) => {
      const request = requests.pop()
      if (request === undefined) return false
      expectStatus(200, await connection.exchange(request))
      answered++
      return true
    })
    expected = round.perSecond * 1.5
    return round
  })
  return { stretch, answered: () => answered }
}

const main = Effect.gen(function* () {
  const originPort = yield* Peer.start("origin", {})
  const express: Seller = { ...(yield* ExpressPeer.start(originPort)), path: ExpressPeer.path, processor: [] }
  const server = yield* Turnpike.start(yield* Turnpike.temporaryData)
  const { path, seller } = yield* Sandbox.sell(server, `http://127.0.0.1:${originPort}/`)
  const turnpike: Seller = { pid: server.pid, port: server.port, path, processor: [] }

  if (runs("unpaid")) {
    const { ours = [], theirs = [] } = yield* alternate(rounds, {
      ours: unpaidCalls(turnpike),
      theirs: unpaidCalls(express)
    })
    say(`\nunpaid call, ${connections} connections`)
    show("turnpike", ours, turnpike)
    show("@x402/express", theirs, express)
    report("unpaid 402/s against @x402/express", ratio(ours, theirs), 1.5, "at least")
  }

  if (runs("paid")) {
    yield* Sandbox.fund(server, payers.addresses)
    const [us, them] = [paidCalls(turnpike, payers, 1500), paidCalls(express, payers, 300)]
    const { ours = [], theirs = [] } = yield* alternate(rounds, { ours: us.stretch, theirs: them.stretch })
    say(`\ncall with a fresh signed payment, ${connections} connections, ${payers.addresses.length} payers`)
    show("turnpike: verified, held, proxied, captured", ours, turnpike)
    show("@x402/express: verified, proxied", theirs, express)
    report("paid calls/s against @x402/express", ratio(ours, theirs), 10, "at least")
    report(
      "p99 of a paid call against @x402/express",
      ratio(ours, theirs, (round) => round.p99),
      0.25,
      "at most"
    )
    const earned = yield* Sandbox.available(server, seller)
    say(`     ${us.answered()} calls were answered, and the seller has ${earned / 1e6} USDC for them`)
    if (earned !== us.answered() * 10_000) throw new Error("Calls and captured payments differ")
  }
  say(`\nserver after the load: ${Turnpike.memory(server)}`)
}).pipe(Effect.scoped)

NodeRuntime.runMain(main)
