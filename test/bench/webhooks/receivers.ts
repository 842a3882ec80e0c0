import { createServer } from "node:http"

// Ten receivers behind one port. A parent that sends `hang` makes the first of them hang for 15 s on every call; one that sends
// anything else is answered with what came since it last asked: the number in the event's data, the receiver, and when.

const hanging = 15_000
let isHanging = false
let came: Array<readonly [number: number, receiver: number, at: number]> = []

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const place = Number(/\d+$/.exec(request.url ?? "")?.[0])
    const number = Number(/"number": ?(\d+)/.exec(Buffer.concat(chunks).toString("latin1"))?.[1])
    came.push([number, place, performance.timeOrigin + performance.now()])
    if (isHanging && place % 10 === 0) return void setTimeout(() => response.end(), hanging)
    response.writeHead(200, { "content-length": "2" }).end("ok")
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.send?.(typeof address === "object" && address !== null ? address.port : 0)
})
process.on("message", (message) => {
  if (message === "hang" || message === "heal") isHanging = message === "hang"
  const sent = came
  came = []
  process.send?.(sent)
})
process.on("disconnect", () => process.exit())
