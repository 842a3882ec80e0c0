import { assert, describe, it } from "vitest"
import { channelOf, failure, next, platform, until } from "./ChannelStranger.ts"
import { json, stranger } from "./Strangers.ts"

describe("the channel ends", () => {
  it("when another connection of the session took over, after what came before", async () => {
    const server = await platform((connection) => {
      connection.say("evt_1", "task_assigned")
      connection.say(undefined, "superseded")
    })
    const channel = channelOf(server)
    assert.deepStrictEqual(await next(channel, 1), ["evt_1"])
    assert.strictEqual((await failure(channel)).code, "SUPERSEDED")
    await until(() => server.open.size === 0)
    assert.lengthOf(server.asked, 3)
  })

  const refusals: Record<string, readonly [status: number, code: string]> = {
    "is suspended": [403, "AGENT_SUSPENDED"],
    "does not exist": [404, "NOT_FOUND"],
    "may not connect": [403, "FORBIDDEN"],
    "asked for nonsense": [400, "INVALID_REQUEST"]
  }
  for (const [name, [status, code]] of Object.entries(refusals)) {
    it(`when the agent ${name}`, async () => {
      const before = (_: number, response: Parameters<typeof json>[0]) => {
        json(response, status, { code, title: "No", request_id: "req_1" })
        return false
      }
      const server = await platform(() => undefined, { before })
      const error = await failure(channelOf(server))
      assert.deepStrictEqual([error.code, error.status], [code, status])
      assert.lengthOf(server.asked, 3)
    })
  }

  it("when its key is not taken, after a few attempts", async () => {
    const server = await platform(() => undefined)
    const error = await failure(channelOf(server, { privateKey: Buffer.alloc(32, 7).toString("base64") }))
    assert.deepStrictEqual([error.code, error.status], ["INVALID_SIGNATURE", 401])
    assert.strictEqual(server.asked.filter((what) => what === "forged").length, 3)
  })

  it("when every session it opens is refused", async () => {
    const server = await platform(() => undefined, {
      before: (_, response) => {
        json(response, 401, { code: "INVALID_SESSION_TOKEN", title: "No" })
        return false
      }
    })
    assert.strictEqual((await failure(channelOf(server))).code, "INVALID_SESSION_TOKEN")
    assert.strictEqual(server.asked.filter((what) => what.startsWith("connect")).length, 3)
  })

  it("when it is refused again and again, whatever else goes wrong in between", async () => {
    const server = await platform(() => undefined, {
      challenge: (attempt, response) => {
        json(response, attempt === 2 ? 503 : 401, { code: "TROUBLE", title: "No" })
        return false
      }
    })
    assert.strictEqual((await failure(channelOf(server))).status, 401)
    assert.lengthOf(server.asked, 4)
  })

  it("not when it is refused now and then", async () => {
    const refused = [1, 2, 4, 5, 7, 8]
    const server = await platform(
      (connection, attempt) => {
        connection.say(`evt_${attempt}`, "task_assigned")
        connection.end()
      },
      {
        before: (attempt, response) => {
          if (refused.includes(attempt)) json(response, 401, { code: "SESSION_EXPIRED", title: "Over" })
          return !refused.includes(attempt)
        }
      }
    )
    assert.deepStrictEqual(await next(channelOf(server), 3), ["evt_3", "evt_6", "evt_9"])
  })

  it("when it is sent elsewhere: nobody else is heard", async () => {
    const other = await stranger((_, response) => response.end())
    const server = await platform(() => undefined, {
      before: (_, response) => {
        response.writeHead(307, { location: other.url }).end()
        return false
      }
    })
    assert.strictEqual((await failure(channelOf(server, { retries: 0 }))).code, "NETWORK_ERROR")
    assert.lengthOf(other.seen, 0)
  })

  it("when what signs fails, with that error", async () => {
    const server = await platform(() => undefined)
    const broken = new Error("the key service is closed")
    const sign = () => Promise.reject(broken)
    const error = await channelOf(server, { privateKey: undefined, sign })
      .next()
      .catch((error) => error)
    assert.strictEqual(error, broken)
  })

  it("without an error when its signal is aborted, and closes the connection", async () => {
    const server = await platform((connection) => connection.say("evt_1", "task_assigned"))
    const controller = new AbortController()
    const ids: Array<string | undefined> = []
    for await (const { id } of channelOf(server, { signal: controller.signal })) {
      ids.push(id)
      controller.abort()
    }
    assert.deepStrictEqual(ids, ["evt_1"])
    await until(() => server.open.size === 0)
  })

  it("before it begins when its signal is aborted already", async () => {
    const server = await platform(() => undefined)
    const channel = channelOf(server, { signal: AbortSignal.abort() })
    assert.deepStrictEqual(await channel.next(), { done: true, value: undefined })
    assert.lengthOf(server.asked, 0)
  })

  it("when the loop over it is left, and closes the connection", async () => {
    const server = await platform((connection) => connection.say("evt_1", "task_assigned"))
    for await (const _ of channelOf(server)) break
    await until(() => server.open.size === 0)
  })

  it("when it is closed while somebody waits for the next event", async () => {
    const server = await platform(() => undefined)
    const retries: Array<unknown> = []
    const channel = channelOf(server, { onRetry: (retry: unknown) => retries.push(retry) })
    const waiting = channel.next()
    await until(() => server.open.size === 1)
    await channel.return()
    assert.deepStrictEqual(await waiting, { done: true, value: undefined })
    await until(() => server.open.size === 0)
    assert.deepStrictEqual(retries, [])
  })

  const waits: Record<string, readonly [asked: string, delay: number]> = {
    "between two attempts": ["60", 60_000],
    "while a server wants it to wait for months, which it does not": ["9999999", 300_000]
  }
  for (const [name, [asked, delay]] of Object.entries(waits)) {
    it(`when it is closed ${name}`, async () => {
      const server = await platform(() => undefined, {
        before: (_, response) => {
          response.writeHead(503, { "retry-after": asked }).end()
          return false
        }
      })
      const delays: Array<number> = []
      const onRetry = ({ delayMs }: { readonly delayMs: number }) => delays.push(delayMs)
      const channel = channelOf(server, { onRetry })
      const waiting = channel.next()
      await until(() => delays.length > 0)
      await channel.return()
      assert.isTrue((await waiting).done)
      assert.deepStrictEqual(delays, [delay])
    })
  }
})

describe("a connection that ends after it asked for the next one", () => {
  it("is followed by that one alone", async () => {
    const server = await platform((connection, attempt) => {
      if (attempt > 1) return connection.say("evt_2", "task_assigned")
      connection.say("evt_1", "task_assigned")
      for (const _ of ["once", "twice"]) connection.say(undefined, "reconnect_required")
      connection.end()
    })
    const retries: Array<unknown> = []
    const channel = channelOf(server, { onRetry: (retry: unknown) => retries.push(retry) })
    assert.deepStrictEqual(await next(channel, 2), ["evt_1", "evt_2"])
    assert.deepStrictEqual(retries, [])
    assert.lengthOf(server.asked, 4)
  })
})
