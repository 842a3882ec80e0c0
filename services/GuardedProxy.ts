import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Data, Effect, type Scope } from "effect"
import { guardedConnector } from "./PublicHttp/GuardedConnector.ts"
import type { ConnectRules } from "./PublicHttp/Policy.ts"
import { failureOf } from "./SiteVisits/Failure.ts"

/** What one browser may take through the proxy, over the proxy's life. */
export interface ProxyLimits {
  /** Open at once. */
  readonly connections: number
  /** Tunnels and requests together. */
  readonly requests: number
  /** Of both directions together. */
  readonly bytes: number
}

/** One thing that was asked of the proxy: a tunnel (`CONNECT host:port`) or a request in the clear. */
export interface ProxyAsked {
  readonly method: string
  /** `host:port` of a tunnel, the address of a request; at most 500 characters. */
  readonly target: string
  /** Why it was refused or did not come about; undefined when it went through, or is still on its way. */
  readonly failure: string | undefined
}

/** A proxy on loopback that lets through what a visit may reach, and nothing else. */
export interface GuardedProxy {
  /**
   * On 127.0.0.1. A browser has to be told to send everything here: loopback too (`--proxy-bypass-list=<-loopback>`), and nothing
   * past it (`--disable-quic`, `--force-webrtc-ip-handling-policy=disable_non_proxied_udp`).
   */
  readonly port: number
  /** In order; never longer than `limits.requests`. */
  readonly asked: () => ReadonlyArray<ProxyAsked>
  /** How many bytes went through. When they are all spent every connection is closed, and none is made. */
  readonly bytes: () => number
}

/** There is no place to listen at, such as for want of files to open. */
export class ProxyUnopened extends Data.TaggedError("ProxyUnopened")<{ readonly cause: Error }> {}

/** Longest answer head of a request in the clear. */
const headerBytes = 32_768

/** Fields for one hop only; the rest is between the browser and the site. */
const hopByHop = /^(?:connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade|host)$/i

/** Opens a proxy for the length of the scope. `rules` are those of visits: `visitRules` of SiteVisits/Rules.ts. */
export const open = (
  limits: ProxyLimits,
  rules: ConnectRules
): Effect.Effect<GuardedProxy, ProxyUnopened, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<Proxying, ProxyUnopened>((resume) => {
      const proxying = new Proxying(rules, limits)
      proxying.server.on("error", (cause) => resume(new ProxyUnopened({ cause })))
      proxying.server.listen(0, "127.0.0.1", () => resume(Effect.succeed(proxying)))
    }),
    (proxying) => Effect.sync(() => proxying.close())
  )

class Proxying implements GuardedProxy {
  readonly server: Server
  readonly #limits: ProxyLimits
  readonly #connect: ReturnType<typeof guardedConnector>
  readonly #sockets = new Set<Duplex>()
  readonly #asked: Array<ProxyAsked> = []
  #bytes = 0

  constructor(rules: ConnectRules, limits: ProxyLimits) {
    this.#limits = limits
    this.#connect = guardedConnector(rules)
    this.server = createServer((request, response) => this.#pass(request, response))
    this.server.maxConnections = limits.connections
    this.server.on("connection", (socket: Socket) => this.#own(socket))
    this.server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#tunnel(request.url ?? "", socket, head)
    )
    this.server.on("upgrade", (_request, socket: Duplex) => socket.destroy())
  }

  get port(): number {
    const address = this.server.address()
    return address !== null && typeof address === "object" ? address.port : 0
  }

  readonly asked = () => [...this.#asked]
  readonly bytes = () => this.#bytes

  close() {
    for (const socket of this.#sockets) socket.destroy()
    this.server.close()
  }

  #own(socket: Duplex) {
    this.#sockets.add(socket)
    // A site or a browser may go away at any time; that ends this connection and nothing else.
    socket.on("error", () => socket.destroy())
    socket.on("close", () => this.#sockets.delete(socket))
  }

  #tunnel(authority: string, browser: Duplex, head: Buffer) {
    const url = /^[^/?#@]+:\d{1,5}$/.test(authority) ? URL.parse(`http://${authority}/`) : null
    const note = this.#note("CONNECT", authority)
    if (url === null || note === undefined) return void browser.end("HTTP/1.1 403 Forbidden\r\n\r\n")
    this.#reach(url, portOf(authority), (site, failure) => {
      note(failure)
      if (site === undefined) return void browser.end("HTTP/1.1 502 Bad Gateway\r\n\r\n")
      if (browser.destroyed) return void site.destroy()
      browser.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      if (head.length > 0) browser.unshift(head)
      this.#join(browser, site)
      this.#join(site, browser)
    })
  }

  #pass(request: IncomingMessage, response: ServerResponse) {
    const url = URL.parse(request.url ?? "")
    const note = this.#note(request.method ?? "", request.url ?? "")
    if (url?.protocol !== "http:" || note === undefined) return void response.writeHead(403).end()
    this.#reach(url, url.port === "" ? "80" : url.port, (site, failure) => {
      if (site === undefined) {
        note(failure)
        return void response.writeHead(502).end()
      }
      // Whoever asked has left meanwhile, and nobody would ever close it.
      if (request.socket.destroyed) return void site.destroy()
      const onward = httpRequest({
        method: request.method ?? "GET",
        path: url.pathname + url.search,
        headers: ["Host", url.host, "Connection", "close", ...endToEnd(request.rawHeaders)],
        maxHeaderSize: headerBytes,
        createConnection: () => site
      })
      const end = (failure: string) => {
        note(failure)
        site.destroy()
        if (response.writableEnded) return
        if (response.headersSent) response.destroy()
        else response.writeHead(502).end()
      }
      const fail = (error: Error) => end(failureOf(error).detail)
      onward.on("error", fail)
      // Nobody asked for another protocol.
      onward.on("upgrade", () => end("the answer changes the protocol"))
      onward.on("response", (answer) => {
        const status = answer.statusCode ?? 0
        answer.on("error", fail)
        // Sites also say 000, which is read but cannot be passed on.
        if (status < 200 || status > 999) return end("the answer has no status")
        note(undefined)
        response.writeHead(status, endToEnd(answer.rawHeaders))
        this.#count(answer)
        answer.pipe(response)
      })
      response.on("close", () => site.destroy())
      this.#count(request)
      request.pipe(onward)
    })
  }

  /** A connection to a site, past the guard. TLS is the browser's business. */
  #reach(url: URL, port: string, done: (site: Socket | undefined, failure: string | undefined) => void) {
    const { hostname } = url
    const bare = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
    this.#connect({ hostname: bare, host: url.host, protocol: "http:", port }, (error, socket) => {
      if (error !== null) return done(undefined, failureOf(error).detail)
      this.#own(socket)
      done(socket, undefined)
    })
  }

  #join(from: Duplex, to: Duplex) {
    this.#count(from)
    from.pipe(to)
    from.on("close", () => to.destroy())
  }

  #count(stream: IncomingMessage | Duplex) {
    stream.on("data", (chunk: Buffer) => {
      this.#bytes += chunk.length
      if (this.#bytes > this.#limits.bytes) for (const socket of this.#sockets) socket.destroy()
    })
  }

  /** Writes down what is asked, and gives where to say how it went; undefined when nothing more may be asked. */
  #note(method: string, target: string): ((failure: string | undefined) => void) | undefined {
    if (this.#asked.length >= this.#limits.requests || this.#bytes > this.#limits.bytes) return undefined
    const asked = { method: method.slice(0, 20), target: target.slice(0, 500), failure: undefined }
    const at = this.#asked.push(asked) - 1
    return (failure) => {
      this.#asked[at] = { ...asked, failure }
    }
  }
}

const portOf = (authority: string): string => authority.slice(authority.lastIndexOf(":") + 1)

const endToEnd = (raw: ReadonlyArray<string>): Array<string> =>
  raw.filter((_, index) => !hopByHop.test(raw[index - (index % 2)] ?? ""))
