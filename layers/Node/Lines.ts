import { Duration } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** How many requests may wait behind one another on a connection. */
const pipelined = 100

/**
 * How long an answer may wait for a caller who takes nothing of it. Routes that write to the socket themselves know how patient they
 * are, and are so for two minutes at most: theirs is the time after which they must have forgotten somebody.
 */
export const patience = { answer: Duration.seconds(15), ownRules: Duration.seconds(150) }

/** Who wants to know whether something is asked on a connection. */
interface Onlooker {
  readonly asks: (socket: Socket) => void
  readonly rests: (socket: Socket) => void
}
const nobody: Onlooker = { asks: () => {}, rests: () => {} }

/** A connection and its requests. */
interface Line {
  readonly waiting: Array<() => void>
  /** The answer to the request that is under way, if one is. */
  answer: ServerResponse | undefined
  /** Whether the route has rules of its own for callers who are slow. */
  hasOwnRules: boolean
  /** What the caller had taken when last looked at, and since when it has taken nothing more. */
  taken: number
  queued: number | undefined
  since: number | undefined
}

/**
 * What is still to be written of what the system was given: it takes a large piece bit by bit. Deno does not say: there nothing tells
 * somebody who is slow from somebody who takes nothing, until a piece is taken whole.
 */
const queuedOf = ({ _handle }: Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }) =>
  _handle?.writeQueueSize

/**
 * Node drops what has arrived behind such a request. Whoever sent it is told that nothing more is answered on that connection, but for
 * those who offer HTTP/2 in clear text, or TLS: Java's client and Apache's do so with their requests, and send the next one after the
 * answer only.
 */
const asksForUpgrade = ({ headers: { connection, upgrade } }: IncomingMessage) =>
  upgrade !== undefined && !offered.test(upgrade) && connection?.toLowerCase().includes("upgrade") === true
const offered = /^(?:h2c|tls\/\d\.\d)$/i

/** Calls back before the caller is told to go on with its body. */
const onContinue = (response: ServerResponse, told: () => void) => {
  const { writeContinue } = response
  response.writeContinue = (callback) => {
    told()
    writeContinue.call(response, callback)
  }
}

/**
 * Takes the requests of each connection one after the other: Node hands out all that have arrived. What stands behind a request
 * whose answer ends the connection is not carried out, because nobody would be told what became of it. `dispatch` says whether the
 * route that took the request has rules of its own for callers who are slow.
 */
export const make = (
  dispatch: (event: string, request: IncomingMessage, response: ServerResponse) => boolean,
  { asks, rests } = nobody
) => {
  const lines = new Map<Socket, Line>()
  /** Those whose last answer was given: until they are closed Node goes on handing out what arrives on them. */
  const over = new WeakSet<Socket>()
  let isEnding = false
  /** The line of a connection, for as long as that is open. */
  const lineOf = (socket: Socket): Line => {
    const known = lines.get(socket)
    if (known !== undefined) return known
    const line: Line = { waiting: [], answer: undefined, hasOwnRules: false, taken: 0, queued: 0, since: undefined }
    // Of one that is closed nobody tells any more.
    if (!socket.destroyed) {
      lines.set(socket, line)
      socket.once("close", () => lines.delete(socket))
    }
    return line
  }
  const begin = (event: string, request: IncomingMessage, response: ServerResponse, line: Line) => {
    const { socket } = request
    line.answer = response
    asks(socket)
    const mayFollow = response.shouldKeepAlive && !asksForUpgrade(request)
    // Whoever was never told to go on with its body may send its next request in its place, or the body after all: Node ends the
    // connection with such an answer by itself, Deno would read the one as the other.
    const isAsking = event === "checkContinue"
    if (isAsking) onContinue(response, () => (response.shouldKeepAlive = mayFollow && !isEnding))
    response.shouldKeepAlive = mayFollow && !isEnding && !isAsking
    response.once("close", () => {
      const next = line.waiting.shift()
      const isLast = !response.shouldKeepAlive || socket.writableEnded || socket.destroyed
      if (next !== undefined && !isLast) return next()
      line.answer = undefined
      if (!isLast) return rests(socket)
      over.add(socket)
      // Who took the connection away from us may have taken away as well what would tell us that it closes.
      lines.delete(socket)
    })
    line.hasOwnRules = dispatch(event, request, response)
  }

  const take = (event: string, request: IncomingMessage, response: ServerResponse): true => {
    if (over.has(request.socket)) return true
    const line = lineOf(request.socket)
    if (line.answer === undefined) begin(event, request, response, line)
    else if (line.waiting.length >= pipelined) request.socket.destroy()
    else line.waiting.push(() => begin(event, request, response, line))
    return true
  }

  /** Cuts the connections of callers who take nothing of what waits for them. Where nothing waits, the caller is not slow. */
  const cutStalled = (now: number): void => {
    for (const [socket, line] of lines) {
      const { writableLength } = socket
      if (line.answer === undefined || writableLength === 0) {
        line.since = undefined
        continue
      }
      const taken = socket.bytesWritten - writableLength
      const queued = queuedOf(socket)
      if (line.since === undefined || taken !== line.taken || queued !== line.queued) {
        Object.assign(line, { taken, queued, since: now })
        continue
      }
      const isPatient = line.hasOwnRules || queued === undefined
      if (now - line.since >= Duration.toMillis(isPatient ? patience.ownRules : patience.answer)) {
        // Without a goodbye, which would wait behind all that is not taken.
        socket.resetAndDestroy()
      }
    }
  }

  /**
   * From now on every answer is the last of its connection and says so, also to requests that are under way: callers would send their
   * next one into a connection that is about to close. An answer that has begun cannot say it any more.
   */
  const end = (): void => {
    isEnding = true
    for (const { answer } of lines.values()) if (answer?.headersSent === false) answer.shouldKeepAlive = false
  }
  return { take, cutStalled, end }
}
