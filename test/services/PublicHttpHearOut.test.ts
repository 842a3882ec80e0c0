import { Effect } from "effect"
import { Readable } from "node:stream"
import { Agent, request } from "undici"
import { afterEach, assert, describe, it } from "vitest"
import { guardedConnector } from "#services/PublicHttp/GuardedConnector.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import { closeAll, tcpOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

/** What a call came to whose origin says this and goes, before it has read the body, of which more is sent when it is gone. */
const callOf = async (answer: string) => {
  const body = new Readable({ read: () => undefined })
  const { port } = await tcpOrigin((origin) => {
    origin.pause()
    origin.on("close", () => {
      for (let piece = 0; piece < 3; piece++) body.push("more of it")
    })
    // What was not read makes the system reset the connection.
    setImmediate(() => origin.write(answer, () => origin.destroy()))
  })
  const policy = await Effect.runPromise(PublicHttpPolicy)
  const agent = new Agent({ connect: guardedConnector({ ...policy, allowHosts: [`127.0.0.1:${port}`] }) })
  body.push("x".repeat(1_000_000))
  const called = request(`http://127.0.0.1:${port}/`, { method: "POST", body, dispatcher: agent })
  return await called
    .then(async ({ body, statusCode }) => `${statusCode} ${await body.text()}`)
    .catch((error: NodeJS.ErrnoException) => String(error.code))
    .finally(() => agent.destroy())
}

describe("an origin that goes before it has read the body", () => {
  it("is heard out", async () => {
    assert.strictEqual(await callOf("HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno"), "401 no")
  })

  it("has not said everything where nobody can know whether it has", async () => {
    assert.strictEqual(await callOf("HTTP/1.1 200 OK\r\n\r\nthe first half"), "ORIGIN_RESET")
  })
})
