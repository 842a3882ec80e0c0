import { Duration } from "effect"
import type { Socket } from "node:net"
import { afterEach, assert, describe, it } from "vitest"
import { brief, closeAll, gatewayTo, httpOrigin, rawCall, tcpOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

const patient = Duration.minutes(2)

/** An origin that reads everything and then says how much it was. */
const countingOrigin = () =>
  httpOrigin((request, response) => {
    let read = 0
    request.on("data", (part: Buffer) => {
      read += part.length
    })
    request.on("end", () => response.end(`read ${read}.`))
  })

const heads = [
  ["that is sent in one piece", "content-length: 100", "x"],
  ["that streams", "content-length: 100000", "x"],
  ["without a length", "transfer-encoding: chunked", "1\r\nx\r\n"]
] as const
const post = (field: string) => `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${field}\r\n\r\n`

/** Sends `part` this often, with pauses. */
const drip = (socket: Socket, part: string, times: number) => {
  let left = times
  const timer = setInterval(() => {
    if (left-- > 0) socket.write(part)
    else clearInterval(timer)
  }, 100)
  socket.on("close", () => clearInterval(timer))
}

describe("a request", () => {
  it.each(heads)("%s and stalls is cut long before the origin's time is over", async (_, field, part) => {
    const origin = await countingOrigin()
    const { events, port } = await gatewayTo(origin, { policy: { stallTimeout: brief } })
    const caller = rawCall(port, post(field) + part)
    assert.match(await caller.contains("CallerSlow"), /^HTTP\/1\.1 502 /)
    assert.deepStrictEqual(events, ["CallerSlow"])
  })

  it.each([
    ["that is sent in one piece", 1000],
    ["that streams", 4000]
  ])("%s and is slow takes nothing of the origin's time", async (_, bytes) => {
    const origin = await countingOrigin()
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 1000 })
    const caller = rawCall(port, post(`content-length: ${bytes * 15}`))
    drip(caller.socket, "x".repeat(bytes), 15)
    assert.match(await caller.closed(), new RegExp(`^HTTP/1\\.1 200 [^]*read ${bytes * 15}\\.`))
    assert.deepStrictEqual(events, ["headers 200", "complete"])
  })

  it.each(heads)("%s and never ends is cut when its whole time is over", async (_, field, part) => {
    const origin = await countingOrigin()
    const { events, port } = await gatewayTo(origin, { uploadMillis: 500, policy: { stallTimeout: patient } })
    const caller = rawCall(port, post(field))
    drip(caller.socket, part, 90)
    assert.match(await caller.contains("CallerSlow"), /^HTTP\/1\.1 502 /)
    assert.deepStrictEqual(events, ["CallerSlow"])
  })

  it("of which the origin takes no more is a timeout of the origin", async () => {
    const { port: origin } = await tcpOrigin((socket) => socket.pause())
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 500, policy: { stallTimeout: brief } })
    const length = 64 * 1_048_576
    const caller = rawCall(port, post(`content-length: ${length}`))
    caller.socket.write(Buffer.alloc(length))
    assert.match(await caller.contains("Timeout"), /^HTTP\/1\.1 504 /)
    assert.deepStrictEqual(events, ["Timeout"])
  })

  it("gives the origin all its time from its end on, and both together no more than there is", async () => {
    const origin = await httpOrigin((request) => void request.resume())
    const begun = performance.now()
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 110_000, totalMillis: 500 })
    assert.match(await rawCall(port, `${post("content-length: 1")}x`).closed(), /^HTTP\/1\.1 504 /)
    assert.isAbove(performance.now() - begun, 400)
    assert.deepStrictEqual(events, ["Timeout"])
  })

  it("may be silent for long when the answer to it has begun", async () => {
    const origin = await httpOrigin((request, response) => {
      response.write("early, ")
      request.resume().on("end", () => response.end("late."))
    })
    const { events, port } = await gatewayTo(origin, { timeoutMillis: 60_000, policy: { stallTimeout: brief } })
    const caller = rawCall(port, `${post("transfer-encoding: chunked")}1\r\nx\r\n`)
    await caller.contains("early, ")
    // Twice as long as it may stall before that.
    setTimeout(() => caller.socket.write("0\r\n\r\n"), 600)
    assert.include(await caller.closed(), "late.")
    assert.deepStrictEqual(events, ["headers 200", "complete"])
  })
})
