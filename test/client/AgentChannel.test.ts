import { createPrivateKey, sign as signWith } from "node:crypto"
import { assert, describe, it } from "vitest"
import { agentChannel } from "#client/client.ts"
import { channelOf, closed, type Connection, failure, next, platform, seed, until } from "./ChannelStranger.ts"
import { json } from "./Strangers.ts"

describe("the channel", () => {
  it("logs in, connects, and gives what comes", async () => {
    const server = await platform((connection) => connection.say("evt_1", "task_assigned", { task: { id: "task_1" } }))
    const channel = channelOf(server)
    assert.lengthOf(server.asked, 0)
    assert.deepStrictEqual(await channel.next(), {
      done: false,
      value: { id: "evt_1", type: "task_assigned", data: { task: { id: "task_1" } } }
    })
    assert.deepStrictEqual(server.asked, ["challenge", "authenticate", "connect sess_1"])
  })

  it("shows no key of an API that its caller has among his options", async () => {
    const server = await platform((connection) => connection.say("evt_1", "task_assigned"))
    const shown: Array<string | null> = []
    const watched: typeof fetch = (input, init) => {
      shown.push(new Request(input, init).headers.get("authorization"))
      return fetch(input, init)
    }
    await next(channelOf(server, { apiKey: "pk_test_secret", fetch: watched }), 1)
    assert.deepStrictEqual(shown, [null, null, "Bearer sess_1"])
  })

  it("goes on after the last event of an earlier run", async () => {
    const server = await platform((connection) => {
      connection.say("evt_7", "transfer_completed")
      connection.say("evt_8", "transfer_completed")
    })
    assert.deepStrictEqual(await next(channelOf(server, { lastEventId: "evt_7" }), 1), ["evt_8"])
    assert.strictEqual(server.asked.at(-1), "connect sess_1 after evt_7")
  })

  it("resumes under the same session where the connection was cut, and gives no event twice", async () => {
    const server = await platform((connection, attempt) => {
      if (attempt === 1) {
        connection.say("evt_1", "task_assigned")
        connection.say("evt_2", "task_assigned")
        return connection.write("id: evt_3\ndata: {", () => connection.destroy())
      }
      for (const id of ["evt_2", "evt_3", "evt_3", "evt_4"]) connection.say(id, "task_assigned")
    })
    assert.deepStrictEqual(await next(channelOf(server), 4), ["evt_1", "evt_2", "evt_3", "evt_4"])
    assert.deepStrictEqual(server.asked.slice(2), ["connect sess_1", "connect sess_1 after evt_2"])
  })

  it("logs in again when its session is gone, at once", async () => {
    const server = await platform(
      (connection, attempt) => {
        connection.say(`evt_${attempt}`, "task_assigned")
        connection.end()
      },
      {
        before: (attempt, response) => {
          if (attempt === 2) json(response, 401, { code: "SESSION_EXPIRED", title: "Over" })
          return attempt !== 2
        }
      }
    )
    assert.deepStrictEqual(await next(channelOf(server, { retries: 1 }), 2), ["evt_1", "evt_3"])
    assert.deepStrictEqual(server.asked.slice(2, 7), [
      "connect sess_1",
      "connect sess_1 after evt_1",
      "challenge",
      "authenticate",
      "connect sess_2 after evt_1"
    ])
  })

  it("keeps heartbeats to itself, named or as comments", async () => {
    const server = await platform((connection) => {
      connection.say(undefined, "heartbeat")
      connection.write(": still here\n\n")
      connection.say("evt_1", "stream_alert")
    })
    assert.deepStrictEqual(await next(channelOf(server), 1), ["evt_1"])
  })

  it("connects again when the server says nothing for too long", async () => {
    const server = await platform((connection, attempt) => attempt > 1 && connection.say("evt_1", "task_updated"))
    const retries: Array<string> = []
    const channel = channelOf(server, {
      heartbeatTimeoutMs: 30,
      onRetry: ({ error }: { readonly error: { readonly code: string } }) => retries.push(error.code)
    })
    assert.deepStrictEqual(await next(channel, 1), ["evt_1"])
    assert.deepStrictEqual(retries.slice(0, 1), ["TIMEOUT"])
  })

  it("lets the server be silent for any time, where its caller wants that", async () => {
    const server = await platform((connection) => setTimeout(() => connection.say("evt_1", "task_updated"), 100))
    const unlimited = { heartbeatTimeoutMs: Number.POSITIVE_INFINITY, timeoutMs: Number.POSITIVE_INFINITY }
    assert.deepStrictEqual(await next(channelOf(server, unlimited), 1), ["evt_1"])
    assert.deepStrictEqual(server.asked, ["challenge", "authenticate", "connect sess_1"])
  })

  it("tells of events that are lost, and goes on from where the server is", async () => {
    const server = await platform((connection, attempt) => {
      if (attempt > 1) return connection.say("evt_9", "task_updated")
      connection.say("evt_8", "resync", { reason: "expired", from: "evt_1", to: "evt_8" })
      connection.say("evt_8", "connected", { resumed: false })
      connection.end()
    })
    const channel = channelOf(server, { lastEventId: "evt_1" })
    const { value } = await channel.next()
    if (value?.type !== "resync") return assert.fail()
    assert.deepStrictEqual([value.id, value.data.to], ["evt_8", "evt_8"])
    assert.deepStrictEqual(await next(channel, 1), ["evt_9"])
    assert.deepStrictEqual(server.asked.slice(-2), ["connect sess_1 after evt_1", "connect sess_1 after evt_8"])
  })

  it("resumes where the server said it begins, when it was cut before the first event", async () => {
    const server = await platform((connection, attempt) => {
      if (attempt > 1) return connection.say("evt_6", "task_updated")
      connection.say("evt_5", "connected", { resumed: false })
      connection.end()
    })
    let connected = 0
    assert.deepStrictEqual(await next(channelOf(server, { onConnect: () => (connected += 1) }), 1), ["evt_6"])
    assert.strictEqual(server.asked.at(-1), "connect sess_1 after evt_5")
    assert.strictEqual(connected, 1)
  })

  it("that lost nothing does not go back to where the stream began", async () => {
    const server = await platform((connection, attempt) => {
      if (attempt === 3) return connection.say("evt_7", "task_updated")
      connection.say("evt_5", "connected", { resumed: false })
      if (attempt === 1) connection.say("evt_6", "task_updated")
      connection.end()
    })
    assert.deepStrictEqual(await next(channelOf(server), 2), ["evt_6", "evt_7"])
    assert.strictEqual(server.asked.at(-1), "connect sess_1 after evt_6")
  })
})

describe("a connection that the server wants to close", () => {
  it("is left for a new one that is opened before, and nothing is lost or doubled", async () => {
    let first: Connection | undefined
    const server = await platform((connection, attempt) => {
      if (attempt === 1) {
        first = connection
        connection.write("retry: 100\n\n")
        connection.say("evt_1", "task_assigned")
        connection.say(undefined, "reconnect_required")
        return connection.say("evt_2", "task_assigned")
      }
      assert.isFalse(first?.destroyed)
      // What both connections know, in either order.
      first?.say("evt_3", "task_assigned")
      first?.say(undefined, "superseded")
      for (const id of ["evt_3", "evt_4"]) connection.say(id, "task_assigned")
    })
    const channel = channelOf(server)
    assert.deepStrictEqual(await next(channel, 4), ["evt_1", "evt_2", "evt_3", "evt_4"])
    assert.deepStrictEqual(server.asked.slice(2), ["connect sess_1", "connect sess_1 after evt_2"])
    if (first !== undefined) await closed(first)
    assert.strictEqual(server.open.size, 1)
  })

  it("may say that it was superseded before the new one is there: it was so by us", async () => {
    let first: Connection | undefined
    const server = await platform(
      (connection, attempt) => {
        if (attempt > 1) return connection.say("evt_2", "task_assigned")
        first = connection
        connection.say("evt_1", "task_assigned")
        connection.say(undefined, "reconnect_required")
      },
      {
        before: async (attempt) => {
          if (attempt === 1) return true
          first?.say(undefined, "superseded")
          first?.end()
          await new Promise((done) => setTimeout(done, 50))
          return true
        }
      }
    )
    assert.deepStrictEqual(await next(channelOf(server), 2), ["evt_1", "evt_2"])
    assert.strictEqual(server.asked.filter((what) => what.startsWith("connect")).length, 2)
  })

  it("goes on being heard while the new one cannot be opened", async () => {
    let first: Connection | undefined
    const server = await platform(
      (connection, attempt) => {
        if (attempt > 1) return connection.say("evt_3", "task_assigned")
        first = connection
        connection.say("evt_1", "task_assigned")
        connection.say(undefined, "reconnect_required")
      },
      {
        before: (attempt, response) => {
          if (attempt === 1 || attempt > 4) return true
          if (attempt === 3) first?.say("evt_2", "task_assigned")
          response.writeHead(503).end()
          return false
        }
      }
    )
    assert.deepStrictEqual(await next(channelOf(server), 3), ["evt_1", "evt_2", "evt_3"])
    assert.strictEqual(server.asked.at(-1), "connect sess_1 after evt_2")
  })

  it("costs no retry: the new one has all of them", async () => {
    const server = await platform(
      (connection, attempt) => {
        connection.say(`evt_${attempt}`, "task_assigned")
        connection.say(undefined, "reconnect_required")
      },
      {
        before: (attempt, response) => {
          if (attempt === 2) response.writeHead(503).end()
          return attempt !== 2
        }
      }
    )
    assert.deepStrictEqual(await next(channelOf(server, { retries: 1 }), 2), ["evt_1", "evt_3"])
  })

  it("goes on being heard when the new one is given up", async () => {
    let first: Connection | undefined
    const server = await platform(
      (connection) => {
        first = connection
        connection.say("evt_1", "task_assigned")
        connection.say(undefined, "reconnect_required")
      },
      {
        before: (attempt, response) => {
          if (attempt > 1) response.writeHead(503).end(() => first?.say("evt_2", "task_assigned"))
          return attempt === 1
        }
      }
    )
    const channel = channelOf(server, { retries: 0 })
    assert.deepStrictEqual(await next(channel, 2), ["evt_1", "evt_2"])
    first?.end()
    assert.strictEqual((await failure(channel)).code, "NETWORK_ERROR")
  })

  it("may be the only one there is: an endless row of them does not become a storm", async () => {
    const server = await platform((connection) => connection.say(undefined, "reconnect_required"))
    const delays: Array<number> = []
    const channel = channelOf(server, {
      maxRetryDelayMs: 40,
      onRetry: ({ delayMs }: { readonly delayMs: number }) => delays.push(delayMs)
    })
    void channel.next()
    await until(() => delays.length > 3)
    await channel.return()
    assert.isAtLeast(Math.min(...delays), 20)
    assert.isBelow(server.open.size, 3)
  })
})

describe("an agent's key", () => {
  it("may be one of WebCrypto, or stay where it is", async () => {
    const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(seed, "base64")])
    const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" })
    const ways = [
      { privateKey: await crypto.subtle.importKey("pkcs8", pkcs8, "Ed25519", false, ["sign"]) },
      { privateKey: undefined, sign: (text: string) => signWith(null, Buffer.from(text), key) },
      { privateKey: undefined, sign: async (text: string) => signWith(null, Buffer.from(text), key).toString("base64") }
    ]
    for (const way of ways) {
      const server = await platform((connection) => connection.say("evt_1", "task_assigned"))
      assert.deepStrictEqual(await next(channelOf(server, way), 1), ["evt_1"])
    }
  })

  it("signs nothing but challenges: not what would replace the key", async () => {
    const server = await platform(() => undefined, {
      challenge: (_, response) => {
        json(response, 200, { challenge: "rotate:agt_1", expiresIn: 60 })
        return false
      }
    })
    assert.strictEqual((await failure(channelOf(server))).code, "INVALID_ANSWER")
    assert.deepStrictEqual(server.asked, ["challenge"])
  })

  it("is not used where a time or a number of attempts is none", () => {
    for (const name of ["heartbeatTimeoutMs", "timeoutMs", "retries", "maxRetryDelayMs"]) {
      const options = { baseUrl: "http://localhost", agentId: "agt_1", privateKey: seed, [name]: Number.NaN }
      assert.throws(() => agentChannel(options), TypeError, name)
    }
  })

  for (const wrong of ["", "not base64!", Buffer.alloc(31).toString("base64"), Buffer.alloc(64).toString("base64")]) {
    it(`that is none is refused at once: "${wrong.slice(0, 12)}"`, () => {
      assert.throws(() => agentChannel({ baseUrl: "http://localhost", agentId: "agt_1", privateKey: wrong }), TypeError)
    })
  }
})
