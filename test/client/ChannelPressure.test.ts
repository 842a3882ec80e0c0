import { once } from "node:events"
import { assert, describe, it } from "vitest"
import type { TurnpikeError } from "#client/client.ts"
import { channelOf, failure, next, platform } from "./ChannelStranger.ts"
import { json } from "./Strangers.ts"

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)
const ids = (from: number, to: number) => numbers(from, to).map((number) => `evt_${number}`)

describe("a caller that is slow", () => {
  it("holds the server back, and then gets everything in order", async () => {
    let sent = 0
    const server = await platform(async (connection) => {
      for (const id of ids(0, 3_000)) {
        sent += 1
        connection.say(id, "task_assigned", { padding: "x".repeat(10_000) })
        if (connection.writableNeedDrain) await once(connection, "drain")
      }
    })
    const channel = channelOf(server)
    assert.deepStrictEqual(await next(channel, 1), ["evt_0"])
    // Until nothing more was taken for a while.
    for (let quiet = 0, before = -1; quiet < 8; quiet = sent === before ? quiet + 1 : 0) {
      before = sent
      await new Promise((done) => setTimeout(done, 50))
    }
    assert.isBelow(sent, 2_500)
    assert.deepStrictEqual(await next(channel, 2_999), ids(1, 3_000))
  })

  it("is not taken for a server that says nothing", async () => {
    const server = await platform((connection) => {
      for (const id of ids(0, 500)) connection.say(id, "task_assigned")
      const beating = setInterval(() => connection.say(undefined, "heartbeat"), 50)
      connection.on("close", () => clearInterval(beating))
    })
    const channel = channelOf(server, { heartbeatTimeoutMs: 2_000 })
    assert.deepStrictEqual(await next(channel, 1), ["evt_0"])
    await new Promise((done) => setTimeout(done, 2_500))
    assert.deepStrictEqual(await next(channel, 499), ids(1, 500))
    assert.strictEqual(server.asked.filter((what) => what.startsWith("connect")).length, 1)
  })
})

describe("a network that cuts everywhere", () => {
  it("loses no event and doubles none", async () => {
    const total = 400
    let seed = 7
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    const server = await platform(
      (connection) => {
        const last = server.asked.at(-1)?.split(" after evt_")[1]
        // What a server replays begins a little before, as two buses may overlap.
        const from = Math.max(0, Number(last ?? -1) + 1 - random(3))
        const text = numbers(from, total)
          .map((number) => `id: evt_${number}\r\nevent: task_updated\r\ndata: {"number":\r\ndata: ${number}}\r\n\r\n`)
          .join("")
        if (random(3) === 0) connection.say(undefined, "reconnect_required")
        const cut = 200 + random(4_000)
        connection.write(text.slice(0, cut), () => (cut < text.length ? connection.destroy() : undefined))
      },
      {
        before: (attempt, response) => {
          const kind = attempt === 1 ? 9 : random(12)
          if (kind === 0) json(response, 401, { code: "SESSION_EXPIRED", title: "Over" })
          if (kind === 1) response.writeHead(503).end()
          if (kind === 2) response.destroy()
          return kind > 2
        }
      }
    )
    assert.deepStrictEqual(await next(channelOf(server), total), ids(0, total))
    assert.isAbove(server.asked.filter((what) => what.startsWith("connect")).length, 5)
  })
})

describe("what came", () => {
  it("is no reason to keep to oneself that something is lost", async () => {
    const server = await platform((connection) => {
      connection.say("evt_1", "task_assigned")
      connection.say("evt_1", "resync", { reason: "expired", from: "evt_1", to: "evt_1" })
      connection.say("evt_2", "task_assigned")
    })
    assert.deepStrictEqual(await next(channelOf(server), 3), ["evt_1", "evt_1", "evt_2"])
  })

  it("is remembered for longer than a server replays, and not for ever", async () => {
    const server = await platform((connection) => {
      for (const id of [...ids(0, 1_000), "evt_0", ...ids(1_000, 1_001), "evt_0"]) connection.say(id, "task_assigned")
    })
    assert.deepStrictEqual(await next(channelOf(server), 1_002), [...ids(0, 1_001), "evt_0"])
  })
})

describe("a server in trouble", () => {
  const delaysOf = async (
    answer: (attempt: number) => readonly [status: number, headers: Record<string, string>],
    options: object
  ) => {
    const server = await platform(() => undefined, {
      before: (attempt, response) => {
        const [status, headers] = answer(attempt)
        json(response, status, { code: "TROUBLE", title: "No" }, headers)
        return false
      }
    })
    const delays: Array<number> = []
    const error = await failure(
      channelOf(server, { ...options, onRetry: ({ delayMs }: { readonly delayMs: number }) => delays.push(delayMs) })
    )
    return { delays, error }
  }

  it("is asked less and less often, and as often as it was agreed", async () => {
    const { delays, error } = await delaysOf(() => [503, {}], { retries: 6, maxRetryDelayMs: 20 })
    assert.deepStrictEqual([error.status, error.code], [503, "TROUBLE"])
    assert.lengthOf(delays, 6)
    for (const delay of delays) assert.isTrue(delay >= 10 && delay <= 20)
  })

  it("that wants no pause between connections gets one", async () => {
    const server = await platform((connection) => connection.end("retry: 0\n\n"))
    const delays: Array<number> = []
    const onRetry = ({ delayMs }: { readonly delayMs: number }) => delays.push(delayMs)
    await failure(channelOf(server, { retries: 1, maxRetryDelayMs: 1_000, onRetry }))
    assert.isAtLeast(delays[0] ?? 0, 50)
  })

  it("that says when it is back is not asked before", async () => {
    const { delays } = await delaysOf(() => [429, { "retry-after": "1" }], { retries: 1 })
    assert.deepStrictEqual(delays, [1_000])
  })

  for (const status of [408, 425, 429, 500, 502, 503, 504]) {
    it(`that answers ${status} is tried again`, async () => {
      const { delays } = await delaysOf(() => [status, {}], { retries: 1, maxRetryDelayMs: 5 })
      assert.lengthOf(delays, 1)
    })
  }

  for (const status of [400, 403, 404, 409, 410]) {
    it(`that answers ${status} is not`, async () => {
      const { delays, error } = await delaysOf(() => [status, {}], { retries: 1, maxRetryDelayMs: 5 })
      assert.deepStrictEqual([delays, error.status], [[], status])
    })
  }

  it("that sends an event without an end is left", async () => {
    const server = await platform(async (connection) => {
      connection.write("id: evt_1\ndata: ")
      while (!connection.destroyed) if (!connection.write("x".repeat(1_000_000))) await once(connection, "drain")
    })
    assert.strictEqual((await failure(channelOf(server))).code, "INVALID_ANSWER")
  })

  for (const type of ["text/html", "application/json", "text/event-streams"]) {
    it(`that answers with ${type} is none of ours`, async () => {
      const server = await platform(() => undefined, {
        before: (_, response) => {
          response.writeHead(200, { "content-type": type }).end("data: 1\n\n")
          return false
        }
      })
      assert.strictEqual((await failure(channelOf(server))).code, "INVALID_ANSWER")
    })
  }

  it("that does not answer is tried again", async () => {
    const server = await platform((connection) => connection.say("evt_1", "task_assigned"), {
      before: (attempt) => attempt > 1
    })
    const errors: Array<string> = []
    const onRetry = ({ error }: { readonly error: TurnpikeError }) => errors.push(error.code)
    assert.deepStrictEqual(await next(channelOf(server, { timeoutMs: 50, onRetry }), 1), ["evt_1"])
    // On a slow machine a login is late as well.
    assert.deepStrictEqual([...new Set(errors)], ["TIMEOUT"])
  })

  it("that is not there is tried again, when it may be", async () => {
    const gone = { url: "http://127.0.0.1:1" }
    const error = await failure(channelOf(gone, { retries: 2 }))
    assert.deepStrictEqual([error.code, error.status], ["NETWORK_ERROR", 0])
  })
})

describe("ids that cannot travel back", () => {
  it("are none: the events come, and the channel resumes at the last that can", async () => {
    const server = await platform((connection, attempt) => {
      if (attempt > 1) return connection.say("evt_3", "task_assigned")
      connection.say("evt_1", "task_assigned")
      for (const id of ["evt 2", "évt_2", "x".repeat(300)]) connection.say(id, "task_updated")
      connection.end()
    })
    const events = await next(channelOf(server), 5)
    assert.deepStrictEqual(events, ["evt_1", "task_updated", "task_updated", "task_updated", "evt_3"])
    assert.strictEqual(server.asked.at(-1), "connect sess_1 after evt_1")
  })
})
