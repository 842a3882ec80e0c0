import { fork } from "node:child_process"
import { once } from "node:events"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import type { Writable } from "node:stream"
import { afterEach, assert, describe, it } from "vitest"
import { brief, closeAll, gatewayTo, httpOrigin, rawCall, signal, tcpOrigin } from "./PublicHttpHarness.ts"

afterEach(closeAll)

describe("a caller", () => {
  it("may call again on the same connection after its body was not wanted", async () => {
    const { port: origin } = await tcpOrigin((socket) => {
      socket.pause().write("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
    })
    const { port } = await gatewayTo(origin)
    const length = 4_000_000
    const caller = rawCall(port, `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`)
    caller.socket.write(Buffer.alloc(length))
    await caller.contains("413")
    caller.socket.write("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    assert.lengthOf((await caller.closed()).match(/HTTP\/1\.1 413/g) ?? [], 2)
  })

  it("that leaves before the origin answered frees the origin", async () => {
    const reached = signal()
    const freed = signal()
    const { port: origin } = await tcpOrigin((socket) => {
      socket.on("close", () => freed.resolve())
      reached.resolve()
    })
    const { events, happened, port } = await gatewayTo(origin)
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    await reached.promise
    caller.socket.destroy()
    await Promise.all([freed.promise, happened("CallerGone")])
    assert.deepStrictEqual(events, ["CallerGone"])
  })

  it("that leaves within the body frees the origin", async () => {
    const freed = signal()
    const origin = await httpOrigin((_, response) => {
      response.on("close", () => freed.resolve()).write("part")
    })
    const { happened, port } = await gatewayTo(origin)
    const caller = rawCall(port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n")
    await caller.contains("part")
    caller.socket.destroy()
    await Promise.all([freed.promise, happened("CallerGone")])
  })

  it("that waits for 100 Continue gets it when the origin is ready, and not if there is none", async () => {
    const origin = await httpOrigin(
      (request, response) => void request.pipe(response.writeHead(200, { "content-length": 4 }))
    )
    const head = "POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: 4\r\n\r\n"
    const { port } = await gatewayTo(origin)
    const caller = rawCall(port, head)
    assert.strictEqual(await caller.contains("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n")
    caller.socket.write("body")
    assert.isTrue((await caller.closed()).endsWith("body"))
    const { port: nobody } = await gatewayTo(1)
    assert.match(await rawCall(nobody, head).closed(), /^HTTP\/1\.1 502 /)
  })

  it("that stops reading holds the origin back, and is let go after the idle time", async () => {
    let sent = 0
    const chunk = Buffer.alloc(65_536)
    const origin = await httpOrigin((_, response) => {
      const more = () => {
        while (!response.destroyed) {
          sent += chunk.length
          if (!response.write(chunk)) return
        }
      }
      response.on("drain", more)
      more()
    })
    const { happened, port } = await gatewayTo(origin, { policy: { idleTimeout: brief } })
    const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"))
    socket.pause()
    await happened("Timeout")
    socket.destroy()
    assert.isBelow(sent, 24_000_000)
  })

  it("that uploads is held back by an origin that does not read", async () => {
    const release = signal()
    const origin = await httpOrigin((request, response) => {
      void release.promise.then(() => request.resume().on("end", () => response.end("done")))
    })
    const { port } = await gatewayTo(origin)
    const total = 64 * 1_048_576
    const upload = httpRequest({ port, method: "POST", headers: { "content-length": total }, agent: false })
    const chunk = Buffer.alloc(65_536)
    let sent = 0
    const more = () => {
      while (sent < total) {
        sent += chunk.length
        if (!upload.write(chunk)) return
      }
      upload.end()
    }
    upload.on("drain", more)
    more()
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.isBelow(sent, 32_000_000)
    const status = new Promise((resolve) => upload.on("response", (response) => resolve(response.resume().statusCode)))
    release.resolve()
    assert.strictEqual(await status, 200)
    assert.strictEqual(sent, total)
  })

  it.each(["down", "up"])("takes 1 GB %s through flat memory", async (direction) => {
    const samples: Array<{ readonly kept: number; readonly rss: number }> = []
    let moved = 0
    const origin = await httpOrigin((request, response) => {
      if (direction === "down") return produce(response.writeHead(200, { "content-length": gigabyte }))
      request.on("data", count).on("end", () => response.end())
    })
    // What nobody refers to any more is garbage, and when it goes is up to V8: the gateway collects it before it is asked.
    const program = new URL("./PublicHttpProcess.ts", import.meta.url)
    const gateway = fork(program, [String(origin)], { execArgv: ["--expose-gc"] })
    const count = (part: Buffer) => {
      const before = moved >> 24
      moved += part.length
      if (moved >> 24 > before) gateway.send("memory")
    }
    try {
      const [{ port }] = await once(gateway, "message")
      const sampled = new Promise<void>((resolve) => {
        gateway.on("message", (sample: (typeof samples)[number]) => {
          if (samples.push(sample) === 64) resolve()
        })
      })
      const received = await new Promise<number>((resolve, reject) => {
        const headers = direction === "up" ? { "content-length": gigabyte } : {}
        const request = httpRequest(
          { port, method: direction === "up" ? "POST" : "GET", headers, agent: false },
          (response) => {
            let received = 0
            response.on("data", (part: Buffer) => {
              received += part.length
              count(part)
            })
            response.on("error", reject).on("end", () => resolve(received))
          }
        ).on("error", reject)
        if (direction === "up") produce(request)
        else request.end()
      })
      assert.strictEqual(received, direction === "up" ? 0 : gigabyte)
      await sampled
      // The first part fills the heap and the buffers; what follows must not add to it.
      const median = (from: number, to: number) =>
        samples
          .slice(from, to)
          .map(({ kept }) => kept)
          .sort((a, b) => a - b)[(to - from) >> 1] ?? 0
      assert.isBelow(median(48, 64) - median(16, 32), 20_000_000)
      assert.isBelow(Math.max(...samples.map(({ rss }) => rss)), 400_000_000)
    } finally {
      gateway.disconnect()
    }
  })
})

const gigabyte = 1_073_741_824

const produce = (target: Writable) => {
  const chunk = Buffer.alloc(262_144)
  let left = gigabyte
  const more = () => {
    while (left > 0) {
      left -= chunk.length
      if (!target.write(chunk)) return
    }
    target.end()
  }
  target.on("drain", more)
  more()
}
