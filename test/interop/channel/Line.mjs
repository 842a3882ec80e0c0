import { once } from "node:events"
import { connect, createServer } from "node:net"

/** A line to the server that can be cut. `resumedAt` has the ids after which connections were to go on. */
export const openLine = async (baseUrl) => {
  const { hostname, port } = new URL(baseUrl)
  const sockets = new Set()
  const resumedAt = []
  let isCut = false
  const server = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near]
    ]) {
      sockets.add(from)
      from.on("error", () => undefined)
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
    near.on("data", (bytes) => {
      const found = /^last-event-id: (\S+)|[?&]last_event_id=([^&\s]+)/im.exec(bytes.toString("latin1"))
      if (found !== null) resumedAt.push(found[1] ?? found[2])
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    resumedAt,
    cut,
    heal: () => {
      isCut = false
    },
    close: () => {
      cut()
      server.close()
    }
  }
}
