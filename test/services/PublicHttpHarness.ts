import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as httpRequest,
  type Server,
  type ServerResponse
} from "node:http"
import { createServer as createTlsServer } from "node:https"
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
  setDefaultAutoSelectFamilyAttemptTimeout,
  type Socket
} from "node:net"
import { Context, Duration, Effect, Exit, Layer, Scope } from "effect"
import { PublicHttp } from "#services/PublicHttp.ts"
import type { Exchange, ForwardFailure } from "#services/PublicHttp/Forward.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"

const cleanups: Array<() => unknown> = []

// A busy machine that needs longer than a quarter of a second for one address of localhost would be taken to the other one.
setDefaultAutoSelectFamilyAttemptTimeout(60_000)

/** Closes everything a test opened. */
export const closeAll = async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
}

const listen = (server: Server | TcpServer) =>
  new Promise<number>((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

export const httpOrigin = async (listener: RequestListener) => {
  const server = createServer(listener)
  cleanups.push(() => server.close() && server.closeAllConnections())
  return await listen(server)
}

/** Does this, and then nothing at all for half a second: no timer, no byte. */
export const standStill = (before: () => void) => {
  before()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
}

/** An origin with a certificate it signed itself, or another one. */
export const tlsOrigin = async (
  listener: RequestListener,
  certificate: Parameters<typeof createTlsServer>[0] = { key, cert }
) => {
  const server = createTlsServer(certificate, listener)
  cleanups.push(() => server.close() && server.closeAllConnections())
  return await listen(server)
}

/** An origin that speaks bytes: `onRequest` runs once per connection, when something arrived. */
export const tcpOrigin = async (onRequest: (socket: Socket) => void) => {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on("error", () => {}))
    socket.once("data", () => onRequest(socket))
  })
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const port = await listen(server)
  return { port, connections: () => sockets.size }
}

/** For tests that wait until something has taken too long. */
export const brief = Duration.millis(300)

/** The service, as patient as a busy machine needs it unless the policy says otherwise. */
export const publicHttp = async (policy: Partial<PublicHttpPolicy>) => {
  const scope = Scope.makeUnsafe()
  cleanups.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const defaults = await Effect.runPromise(PublicHttpPolicy)
  const chosen = { ...defaults, connectTimeout: Duration.seconds(60), ...policy }
  const layer = PublicHttp.layer.pipe(Layer.provide(Layer.succeed(PublicHttpPolicy, chosen)))
  return Context.get(await Effect.runPromise(Layer.buildWithScope(layer, scope)), PublicHttp)
}

export interface GatewayOptions {
  readonly origin?: string
  readonly added?: ReadonlyArray<string>
  readonly timeoutMillis?: number
  readonly uploadMillis?: number
  readonly totalMillis?: number
  /** Whose call this is, by its path; one endpoint and one payer when left out. */
  readonly endpointOf?: (path: string) => string
  readonly payerOf?: (path: string) => string
  /** Instead of sending and finishing at once. */
  readonly onHeaders?: (exchange: Exchange) => void
  /** When the origin's body begins. */
  readonly onBody?: () => void
  readonly policy?: Partial<PublicHttpPolicy>
}

/** A server that forwards everything to one origin, the path as it came, and writes down what happened. */
export const gatewayTo = async (originPort: number, options: GatewayOptions = {}) => {
  const http = await publicHttp({ allowHosts: [`127.0.0.1:${originPort}`], ...options.policy })
  const events: Array<string> = []
  const waiting: Array<() => void> = []
  const note = (event: string) => {
    events.push(event)
    for (const check of [...waiting]) check()
  }
  const handle = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) =>
    http.forward(
      {
        request,
        response,
        awaitsContinue,
        origin: options.origin ?? `http://127.0.0.1:${originPort}`,
        path: request.url ?? "/",
        added: options.added ?? [],
        endpoint: options.endpointOf?.(request.url ?? "/") ?? "endpoint",
        payer: options.payerOf?.(request.url ?? "/") ?? "payer",
        timeoutMillis: options.timeoutMillis ?? 110_000,
        uploadMillis: options.uploadMillis ?? 110_000,
        totalMillis: options.totalMillis ?? 220_000
      },
      {
        onHeaders: (exchange) => {
          note(`headers ${exchange.status}`)
          if (options.onHeaders) return options.onHeaders(exchange)
          exchange.send(exchange.headers)
          exchange.finish()
        },
        onBody: () => options.onBody?.(),
        onComplete: () => note("complete"),
        onError: (failure: ForwardFailure) => {
          note(failure)
          if (response.headersSent || response.destroyed) return
          response.writeHead(failure === "Timeout" ? 504 : 502).end(failure)
        }
      }
    )
  const server = createServer((request, response) => void handle(request, response, false))
  server.on("checkContinue", (request, response) => void handle(request, response, true))
  cleanups.push(() => server.close() && server.closeAllConnections())
  const port = await listen(server)
  /** Resolves once `event` has been noted. */
  const happened = (event: string) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!events.includes(event)) return
        waiting.splice(waiting.indexOf(check), 1)
        resolve()
      }
      waiting.push(check)
      check()
    })
  return { port, events, happened }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

export interface Call {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string | Array<string>>
  readonly body?: string | Buffer
  /** Called with the first part of the answer's body. */
  readonly onPart?: () => void
}

/** A call whose answer arrived whole; rejects if it was cut. */
export const call = (port: number, { body, headers, method = "GET", onPart, path = "/" }: Call = {}) =>
  new Promise<Answer>((resolve, reject) => {
    const request = httpRequest({ port, method, path, headers: headers ?? {}, agent: false }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => {
        if (chunks.push(chunk) === 1) onPart?.()
      })
      response.on("error", reject)
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() })
      )
    })
    request.on("error", reject).end(body)
  })

/** A raw connection: what was received so far, and a wait for it to contain something or to close. */
export const rawCall = (port: number, text: string) => {
  let received = ""
  let closed = false
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const check of waiting) check()
  }
  const socket = connect(port, "127.0.0.1")
  socket.write(text)
  socket.setEncoding("latin1").on("error", () => {})
  socket.on("data", (chunk) => {
    received += String(chunk)
    changed()
  })
  socket.on("close", () => {
    closed = true
    changed()
  })
  cleanups.push(() => socket.destroy())
  const until = (condition: () => boolean) =>
    new Promise<string>((resolve) => {
      const check = () => {
        if (!condition()) return
        waiting.delete(check)
        resolve(received)
      }
      waiting.add(check)
      check()
    })
  return {
    socket,
    received: () => received,
    contains: (part: string) => until(() => received.includes(part)),
    closed: () => until(() => closed)
  }
}

/** A one-shot wait, to be resolved from a callback. */
export const signal = <A = void>() => Promise.withResolvers<A>()

// For 127.0.0.1 and localhost, valid for a century, trusted by nobody.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMTnwM6OFUw7xnYXx
Ocy6kvWhom7u4UVutLV5vxDkwdOhRANCAASzSHPjFBSiUxxP/3OtfP60GoOoxBPx
eNeKLvbq0Uq8++2nKe0Lj8Lzgbl8dfMymAdLx2Tjm8oQyUeVrL5VKW5A
-----END PRIVATE KEY-----`
const cert = `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUM1iD0zIiPNBqy95vCaDXRi++r8owCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEwNTQ1MloYDzIxMjYxMDI4
MTA1NDUyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAASzSHPjFBSiUxxP/3OtfP60GoOoxBPxeNeKLvbq0Uq8++2nKe0Lj8Lz
gbl8dfMymAdLx2Tjm8oQyUeVrL5VKW5Ao28wbTAdBgNVHQ4EFgQUrBCvw5yRJfsi
84/IT8q/dR7yM8cwHwYDVR0jBBgwFoAUrBCvw5yRJfsi84/IT8q/dR7yM8cwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwCgYIKoZI
zj0EAwIDRwAwRAIgWVb+SmUsXeqcvVmR/KJIB4s14sUL4poTiUQCSXmhYTkCIAuc
rbv4TBkdiExpXpOktWQeW2logyMgBCE2TXL2tvVm
-----END CERTIFICATE-----`
