import { type IncomingMessage, request as httpRequest, type RequestListener } from "node:http"
import { pick, type Random } from "./Random.ts"

type Fields = ReadonlyArray<string>

/** A request that somebody could send to an API. */
export interface Asked {
  readonly method: string
  /** Behind the address of the API. */
  readonly path: string
  readonly fields: Fields
  readonly body: Buffer
  readonly framing: "none" | "length" | "chunked"
  readonly expects: boolean
}

/** What an API could answer. */
export interface Answered {
  readonly status: number
  readonly fields: Fields
  readonly body: Buffer
  readonly framing: "length" | "chunked" | "close"
  /** The head leaves before the body, which comes in so many pieces. */
  readonly pieces: number
  readonly hints: boolean
  /** The connection breaks where the body should end, or within it. */
  readonly breaks: boolean
}

const values = [
  "",
  "a\tb  c",
  '"quoted, \\" and ;=": <>{}',
  "caf\u00e9 \u00ff\u0080",
  Buffer.from("ünïcode 日本").toString("latin1"),
  ", ,,",
  "x".repeat(2000)
]
const requestFields: ReadonlyArray<Fields> = [
  ["Accept", "text/html;q=0.1", "accept", "*/*"],
  ["Accept-Encoding", "gzip, br"],
  ["User-Agent", ""],
  ["Cookie", "a=b;c", "cookie", "d=\u00e9"],
  ["Cookie", ""],
  ["Authorization", "Basic YTpi"],
  ["Range", "bytes=0-1"],
  ["Content-Type", "multipart/form-data; boundary=abc"],
  ["Via", "1.0 fred"],
  ["TE", "trailers"]
]
const answerFields: ReadonlyArray<Fields> = [
  ["Content-Type", "text/event-stream"],
  ["Content-Type", "application/json; charset=utf-8"],
  ["Content-Encoding", "gzip"],
  ["Link", "</a>; rel=next", "link", "</b>; rel=prev"],
  ["WWW-Authenticate", 'Basic realm="a, b"', "WWW-Authenticate", "Bearer"],
  ["ETag", 'W/"x"'],
  ["Location", "/elsewhere"],
  ["Retry-After", "3"],
  ["Via", "1.0 fred"]
]
const names = ["X-Odd", "x!#$%&'*+-.^_`|~", "Odd.Name", "_x", "odd"]
const segments = ["a", "!$&'()*+,;=:@", "%20", "%C3%A9", "...", "~", "%3F", "%5B1%5D"]
const queries = ["", "?", "?a=b&a=c", "?x=%2F%2e%2e%00%zz", "?a=b?c/../e//f", '?{}|^`<>"[]', "?%ff\\"]
const sizes = [0, 0, 1, 100, 16_384, 16_385, 65_536, 65_537, 200_000]

const bytes = (size: number) => Buffer.alloc(size, "0123456789abcdef\u00ff\u0000", "latin1")

const fieldsOf = (random: Random, known: ReadonlyArray<Fields>): Fields =>
  Array.from({ length: Math.floor(random() * 4) }).flatMap(() =>
    random() < 0.5 ? pick(random, known) : [pick(random, names), pick(random, values)]
  )

export const askedBy = (random: Random): Asked => {
  const method = pick(random, ["GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD"])
  const framing = /^P/.test(method) ? pick(random, ["length", "chunked"] as const) : "none"
  const body = bytes(framing === "none" ? 0 : pick(random, sizes))
  const path = Array.from({ length: Math.floor(random() * 3) }, () => `/${pick(random, segments)}`).join("")
  const expects = body.length > 0 && random() < 0.2
  return { method, path: path + pick(random, queries), fields: fieldsOf(random, requestFields), body, framing, expects }
}

export const answeredBy = (random: Random): Answered => {
  const status = pick(random, [200, 200, 200, 201, 204, 206, 302, 304, 400, 402, 404, 429, 500, 503, 599])
  const bodiless = status === 204 || status === 304
  const framing = pick(random, ["length", "chunked", "close"] as const)
  return {
    status,
    fields: fieldsOf(random, answerFields),
    body: bytes(bodiless ? 0 : pick(random, sizes)),
    framing,
    pieces: Math.floor(random() * 4),
    hints: random() < 0.1,
    breaks: !bodiless && random() < 0.15
  }
}

/** What an origin saw of a request. */
export interface Seen {
  readonly line: string
  readonly fields: Fields
  readonly body: Buffer
}

/** What was written by then has been read: between two immediates everybody looks at their sockets. */
const turn = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

const bodyOf = async (message: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of message) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Answers as `current` says, after it read the request and told of it. */
export const origin =
  (current: () => Answered, tell: (seen: Seen) => void): RequestListener =>
  async (request, response) => {
    const { body, breaks, fields, framing, hints, pieces, status } = current()
    const line = `${request.method} ${request.url}`
    tell({ line, fields: request.rawHeaders, body: await bodyOf(request) })
    if (hints) response.writeEarlyHints({ link: "</x>; rel=preload" })
    if (framing === "close") {
      response.useChunkedEncodingByDefault = false
      response.shouldKeepAlive = false
    }
    const hasBody = status !== 204 && status !== 304
    const length = framing === "length" && hasBody ? ["Content-Length", String(body.length + (breaks ? 1 : 0))] : []
    response.writeHead(status, [...fields, ...length])
    // With text Node would write the head in its encoding.
    if (pieces > 0) response.write(Buffer.alloc(0))
    for (let sent = 0; sent < pieces; sent++) {
      await turn()
      response.write(body.subarray((sent * body.length) / pieces, ((sent + 1) * body.length) / pieces))
    }
    if (breaks && framing === "close") response.socket?.resetAndDestroy()
    else if (breaks) response.destroy()
    else response.end(pieces > 0 || !hasBody ? Buffer.alloc(0) : body)
  }

/** What came back; `whole` is false where it broke off, and `status` 0 where nothing came. */
export interface Got extends Seen {
  readonly status: number
  readonly whole: boolean
}

/** Sends a request byte for byte. */
export const exchange = (url: string, { body, expects, fields, framing, method }: Asked, added: Fields = []) =>
  new Promise<Got>((resolve) => {
    const { host, port } = new URL(url)
    const frame =
      framing === "none"
        ? []
        : framing === "length"
          ? ["Content-Length", String(body.length)]
          : ["Transfer-Encoding", "chunked"]
    const headers = ["Host", host, ...fields, ...added, ...frame, ...(expects ? ["Expect", "100-continue"] : [])]
    // Not `URL.pathname`, which is another spelling.
    const path = url.slice(url.indexOf("/", 8))
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const chunks: Array<Buffer> = []
      const status = response.statusCode ?? 0
      response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined)
      response.on("close", () =>
        resolve({
          status,
          line: "",
          fields: response.rawHeaders,
          body: Buffer.concat(chunks),
          whole: response.complete
        })
      )
    })
    request.on("error", () => resolve({ status: 0, line: "", fields: [], body: Buffer.alloc(0), whole: false }))
    if (expects) request.flushHeaders()
    if (expects) request.once("continue", () => request.end(body))
    else request.end(body)
  })
