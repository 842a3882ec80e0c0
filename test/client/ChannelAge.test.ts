import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"
import { channelOf, failure, platform, until } from "./ChannelStranger.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterEach(() => void vi.useRealTimers())

/** An agent's channel over connections that bring nothing and end when they are so old, and how many in a row went wrong each time. */
const over = async (millis: number) => {
  let heard = () => {}
  const server = await platform(async (connection) => {
    const open = new Promise<void>((resolve) => {
      heard = resolve
    })
    connection.say(undefined, "connected")
    await open
    connection.end()
  })
  const attempts: Array<number> = []
  const channel = channelOf(server, {
    retries: 2,
    onConnect: () => {
      vi.setSystemTime(Date.now() + millis)
      heard()
    },
    onRetry: ({ attempt }: { readonly attempt: number }) => attempts.push(attempt)
  })
  return { attempts, channel }
}

describe("a connection without events", () => {
  it("that stood for 10 seconds is no failure in a row with those before it", async () => {
    const { attempts, channel } = await over(10_000)
    await Promise.race([channel.next(), until(() => attempts.length === 4)])
    assert.deepStrictEqual(attempts, [1, 1, 1, 1])
  })

  it("that stood for less is one more", async () => {
    const { attempts, channel } = await over(9_999)
    assert.strictEqual((await failure(channel)).code, "NETWORK_ERROR")
    assert.deepStrictEqual(attempts, [1, 2])
  })
})
