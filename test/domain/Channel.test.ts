import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  audience,
  beginning,
  dueAt,
  frame,
  frameOf,
  greeting,
  readLastEventId,
  type Remembered,
  resumption,
  retryOf,
  resync
} from "#domain/Channel.ts"
import { exampleData } from "#domain/EventExamples.ts"
import { EventId, fromTypeId, toTypeId } from "#domain/Ids.ts"

const uuid = (place: number) => `00000000-0000-7000-8000-${String(place).padStart(12, "0")}`
const id = (place: number) => EventId.make(uuid(place))
const minutes = 60_000
/** The last 101 events of an agent, newest first, the newest at this time and one every second. */
const latest = (newest: number, count = 101): ReadonlyArray<Remembered> =>
  Array.from({ length: count }, (_, back) => ({
    seq: BigInt(1_000 - back),
    event_id: id(1_000 - back),
    created_at: new Date(newest - back * 1_000)
  }))

describe("where a stream goes on", () => {
  const now = 100 * minutes
  it("is after any of the last events, as long as a hundred at most follow it", () => {
    for (let place = 900; place <= 1_000; place++) {
      assert.deepStrictEqual(resumption(latest(now), id(place), now), Result.succeed(BigInt(place)))
    }
    assert.deepStrictEqual(resumption(latest(now, 102), id(899), now), Result.fail("unknown"))
  })
  it("is nowhere when what follows is older than five minutes, to the millisecond", () => {
    const aged = (age: number) => resumption(latest(now - age, 2), id(999), now)
    assert.deepStrictEqual(aged(5 * minutes), Result.succeed(999n))
    assert.deepStrictEqual(aged(5 * minutes + 1), Result.fail("expired"))
  })
  it("is after the newest however old that is: nothing was missed", () => {
    assert.deepStrictEqual(resumption(latest(0), id(1_000), now), Result.succeed(1_000n))
  })
  it("is nowhere for what the agent was never told", () => {
    assert.deepStrictEqual(resumption(latest(now), id(5), now), Result.fail("unknown"))
    assert.deepStrictEqual(resumption([], id(5), now), Result.fail("unknown"))
  })
  it("is at the beginning for who was there before the first event, as long as nothing is forgotten", () => {
    assert.deepStrictEqual(resumption([], beginning, now), Result.succeed(0n))
    assert.deepStrictEqual(resumption(latest(now, 100), beginning, now), Result.succeed(0n))
    assert.deepStrictEqual(resumption(latest(now, 101), beginning, now), Result.fail("unknown"))
    // What is forgotten for its age leaves an event behind that is as old.
    const aged = (age: number) => resumption(latest(now - age, 1), beginning, now)
    assert.deepStrictEqual([aged(5 * minutes), aged(5 * minutes + 1)], [Result.succeed(0n), Result.fail("expired")])
  })
  it("is read from the id of an event, in both of its spellings, and from nothing else", () => {
    for (const text of [uuid(7), toTypeId("evt", uuid(7))]) {
      assert.deepStrictEqual(readLastEventId(text), Result.succeed(id(7)))
    }
    for (const none of [undefined, ""]) assert.deepStrictEqual(readLastEventId(none), Result.succeed(undefined))
    for (const wrong of [
      "0",
      "null",
      toTypeId("tx", uuid(7)),
      `${uuid(7)}, ${uuid(7)}`,
      `${uuid(7)}\n`,
      "x".repeat(1_048_576)
    ]) {
      assert.deepStrictEqual(readLastEventId(wrong), Result.fail("malformed"))
    }
  })
})

describe("a frame", () => {
  const hostile = "a\nb\r\ndata: x\n\nevent: key_rotated\nid: 1\u2028\u2029\u0000 \ud83d\ude00"
  it("is one line of data, whatever the data says", () => {
    const text = frame("task_assigned", { [hostile]: hostile }, id(1))
    const lines = text.split(/\r\n|\r|\n/)
    assert.deepStrictEqual(
      lines.map((line) => line.split(":", 1)[0]),
      ["event", "id", "data", "", ""]
    )
    assert.deepStrictEqual(JSON.parse(lines[2]!.slice("data: ".length)), { [hostile]: hostile })
  })
  it("of the channel itself has no id, and a beginning that of the event after which the stream goes on, or the first of all", () => {
    const about = { agent_id: uuid(1), session_id: uuid(2), at: new Date(0), resumed: false }
    const first = "\nid: evt_00000000000000000000000000\n"
    assert.include(greeting({ ...about, position: id(2) }), `\nid: ${toTypeId("evt", id(2))}\n`)
    assert.include(greeting({ ...about, position: undefined }), first)
    assert.include(greeting({ ...about, position: undefined }), '"last_event_id":null')
    assert.include(resync("unknown", id(1), undefined), first)
    assert.strictEqual(frame("heartbeat", {}), "event: heartbeat\ndata: {}\n\n")
    assert.include(resync("unknown", undefined, id(2)), `\nid: ${toTypeId("evt", id(2))}\n`)
  })
  it("of a transfer shows the side of the agent's own wallet", () => {
    const data = exampleData("transfer.completed")
    const transfer = Object(data["transfer"])
    const shown = (wallet_id: string) =>
      JSON.parse(frameOf({ id: id(1), type: "transfer.completed", data, wallet_id }).split("data: ")[1]!)
    const of = (text: string) => fromTypeId("wal", text) ?? assert.fail(text)
    const out = shown(of(transfer.from_wallet_id))
    assert.deepStrictEqual(
      [out.direction, out.wallet_id, out.amount],
      ["outbound", transfer.from_wallet_id, transfer.amount]
    )
    assert.deepStrictEqual(out.transfer, transfer)
    const into = shown(of(transfer.to_wallet_id))
    assert.deepStrictEqual([into.direction, into.amount, into.currency], ["inbound", out.amount, out.currency])
  })
  it("of a conversion shows what left to whom it left, and what arrived to whom it arrived", () => {
    const transfer = {
      id: "tx",
      from_wallet_id: toTypeId("wal", uuid(2)),
      amount: "1.00",
      currency: "USDC",
      destination_amount: "0.90",
      destination_currency: "EURC"
    }
    const shown = (wallet_id: string) => {
      const text = frameOf({ id: id(1), type: "transfer.completed", data: { transfer }, wallet_id })
      const { amount, currency } = JSON.parse(text.split("data: ")[1]!)
      return [amount, currency]
    }
    assert.deepStrictEqual(shown(uuid(2)), ["1.00", "USDC"])
    assert.deepStrictEqual(shown(uuid(3)), ["0.90", "EURC"])
  })
  it("is there for every fact that concerns agents, and every path leads to a wallet or an agent", () => {
    for (const { holder, path, type } of audience) {
      const data = exampleData(type)
      const named = path.reduce<unknown>((at, name) => Object(at)[name], data)
      assert.isDefined(fromTypeId(holder === "wallet" ? "wal" : "agt", String(named)), `${type} ${path.join(".")}`)
      assert.notStrictEqual(frameOf({ id: id(1), type, data, wallet_id: null }), "")
    }
  })
})

it("a connection is told to go at 23:55 and goes at 24:00", () => {
  const at = (hours: number, seconds: number) => dueAt(hours * 3_600_000 + seconds * 1_000)
  assert.deepStrictEqual(
    [at(23, 3_299), at(23, 3_300), at(24, -1), at(24, 0)],
    ["heartbeat", "farewell", "farewell", "end"]
  )
})

it("clients come back after one to five seconds, not all at once", () => {
  const retries = Array.from({ length: 200 }, (_, place) =>
    retryOf(uuid(place).slice(0, -4) + (place * 331).toString(16).padStart(4, "0"))
  )
  assert.isTrue(retries.every((retry) => retry >= 1_000 && retry < 5_000))
  assert.isAbove(new Set(retries).size, 100)
})
