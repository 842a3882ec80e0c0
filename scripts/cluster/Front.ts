import { createServer, request as call, type IncomingMessage, type ServerResponse } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"

/** Servers of one address, which takes requests to those that are ready, in turn. */
export interface Front {
  readonly port: number
  /** The servers that are ready right now. */
  readonly ready: () => ReadonlyArray<number>
  readonly close: () => Promise<void>
}

const hopByHop = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** Name and value in turn, as they came, but for what concerns one connection only. */
const endToEnd = (raw: ReadonlyArray<string>): Array<string> => {
  const kept: Array<string> = []
  for (let index = 0; index < raw.length; index += 2) {
    const [name = "", value = ""] = raw.slice(index, index + 2)
    if (!hopByHop.has(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** The request's fields, and where it came from. */
const fieldsOf = (request: IncomingMessage): Array<string> => {
  const fields = endToEnd(request.rawHeaders)
  const before = request.headers["x-forwarded-for"]
  const source = request.socket.remoteAddress ?? ""
  const others = fields.flatMap((name, index) =>
    index % 2 === 0 && name.toLowerCase() !== "x-forwarded-for" ? [name, fields[index + 1] ?? ""] : []
  )
  const chunked = request.headers["transfer-encoding"] === undefined ? [] : ["transfer-encoding", "chunked"]
  return [
    ...others,
    ...chunked,
    "x-forwarded-for",
    before === undefined ? source : `${before}, ${source}`,
    "connection",
    "close"
  ]
}

const refuse = (response: ServerResponse, status: number, title: string, code: string) => {
  if (response.headersSent || response.destroyed) return void response.destroy()
  response.writeHead(status, { "content-type": "application/problem+json", "retry-after": "1", connection: "close" })
  response.end(JSON.stringify({ title, status, code }))
}

/** Where nobody answers a connection the request goes to the next server: of it nothing was sent. After that it is sent once. */
const pass = (
  request: IncomingMessage,
  response: ServerResponse,
  servers: ReadonlyArray<number>,
  lost: (port: number) => void
) => {
  const [port, ...others] = servers
  if (port === undefined) return refuse(response, 503, "No server is ready", "SERVICE_UNAVAILABLE")
  let sent = false
  const upstream = call({
    host: "127.0.0.1",
    port,
    method: request.method,
    path: request.url,
    agent: false,
    setHost: false,
    headers: fieldsOf(request)
  })
  upstream.on("socket", (socket) => {
    socket.setNoDelay(true)
    socket.once("connect", () => {
      sent = true
      if (hasBody(request)) request.pipe(upstream)
      else upstream.end()
    })
  })
  upstream.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders))
    response.flushHeaders()
    answer.pipe(response)
    answer.on("error", () => response.destroy())
  })
  upstream.on("error", () => {
    if (sent) return refuse(response, 502, "The server died over this request", "BAD_GATEWAY")
    lost(port)
    pass(request, response, others, lost)
  })
  response.on("close", () => upstream.destroy())
}

const isReady = (port: number) =>
  fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(1_000) }).then(
    async (answer) => {
      await answer.body?.cancel()
      return answer.ok
    },
    () => false
  )

/** Opens a front for servers on these ports of this machine; which are ready is looked at twice a second. */
export const openFront = async (listenOn: number, ports: ReadonlyArray<number>): Promise<Front> => {
  const ready = new Set<number>()
  const look = () =>
    Promise.all(
      ports.map(async (port) => {
        if (await isReady(port)) ready.add(port)
        else ready.delete(port)
      })
    )
  await look()
  let turn = 0
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, (request, response) => {
    const able = ports.filter((port) => ready.has(port))
    const first = able.length === 0 ? 0 : turn++ % able.length
    pass(request, response, [...able.slice(first), ...able.slice(0, first)], (port) => ready.delete(port))
  }).listen(listenOn, "127.0.0.1")
  await once(server, "listening")
  const looking = setInterval(() => void look(), 500)
  return {
    port: (server.address() as AddressInfo).port,
    ready: () => [...ready],
    close: async () => {
      clearInterval(looking)
      const closed = once(server, "close")
      server.close()
      server.closeIdleConnections()
      const patience = setTimeout(() => server.closeAllConnections(), 10_000)
      await closed
      clearTimeout(patience)
    }
  }
}
