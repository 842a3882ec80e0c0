import { Buffer } from "node:buffer"
import type { ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Outlet } from "#services/AgentChannel/Line.ts"
import { peerOf } from "#services/AgentChannel/Unanswered.ts"

/** How long a connection that is closed may take to read its last words. */
const farewell = 5_000

/** A socket as the place where a stream goes. `left` is called when its connection is over, once the stream has begun. */
export class SocketOutlet implements Outlet {
  private readonly socket: Socket
  /**
   * Whether the stream says where it ends, as it may to all but clients of HTTP/1.0: a connection that broke would be its end to many
   * consumers, such as those that are made from our description, and they come back after errors only.
   */
  private readonly isFramed: boolean
  private head: (() => void) | undefined
  constructor(response: ServerResponse, socket: Socket, head: ReadonlyArray<string>, left: () => void) {
    this.socket = socket
    this.isFramed = response.useChunkedEncodingByDefault
    this.head = () => {
      response.shouldKeepAlive = false
      response.writeHead(200, [...head])
      response.flushHeaders()
      socket.setNoDelay(true)
      release(response, socket, left)
    }
  }
  begin(): void {
    this.head?.()
    this.head = undefined
  }
  write(bytes: string | Buffer): void {
    const { socket } = this
    if (socket.destroyed || socket.writableEnded || bytes.length === 0) return
    if (!this.isFramed) return void socket.write(bytes)
    // In one piece, and without a copy: other connections are sent the same bytes.
    socket.cork()
    socket.write(`${Buffer.byteLength(bytes).toString(16)}\r\n`)
    socket.write(bytes)
    socket.write("\r\n")
    socket.uncork()
  }
  get pending(): number {
    return this.socket.writableLength
  }
  get taken(): number {
    return this.socket.bytesWritten - this.socket.writableLength
  }
  get peer(): string | undefined {
    const { localPort, remoteAddress, remotePort } = this.socket
    return remoteAddress === undefined ? undefined : peerOf(localPort, remoteAddress, remotePort)
  }
  end(bytes: string): void {
    const { socket } = this
    if (socket.destroyed) return
    this.write(bytes)
    if (this.isFramed && this.head === undefined) socket.write("0\r\n\r\n")
    socket.setTimeout(farewell, () => socket.resetAndDestroy())
    socket.destroySoon()
  }
  /** Reset: what the system has for a peer that does not read would be kept for it, by nobody's account, for minutes. */
  destroy(): void {
    this.socket.resetAndDestroy()
  }
}

const ignore = () => {}
/** We say no more to who says no more. */
function hangUp(this: Socket) {
  this.destroy()
}

/** What Node keeps with a socket that it reads requests from. */
type Parsed = Socket & {
  parser?: { readonly unconsume: () => void; readonly remove: () => void; readonly close: () => void } | null
}

/**
 * Takes a socket whose answer has begun away from what reads requests, as Node does for an upgrade: no request follows, and what is
 * kept for the next one is more than a third of what an open connection costs. The listener goes on counting the connection. Its
 * response is over, as far as others can tell.
 */
const release = (response: ServerResponse, socket: Parsed, left: () => void) => {
  const { parser } = socket
  if (response.socket !== socket || parser?.remove === undefined || parser.close === undefined) return
  for (const event of ["data", "end", "close", "drain", "error", "timeout"]) {
    // One by one: removing all of them at once leaves a table that is larger than the socket.
    for (const listener of socket.listeners(event)) Reflect.apply(socket.off, socket, [event, listener])
  }
  // Whoever listens for bytes takes them away from the parser in Node; Deno's goes on reading requests until it is told.
  parser.unconsume()
  socket.on("data", ignore)
  parser.remove()
  socket.parser = null
  // It may be at work right now.
  setImmediate(() => parser.close())
  socket.on("end", hangUp)
  socket.on("error", ignore)
  socket.on("close", left)
  response.off("close", left)
  response.detachSocket(socket)
  response.emit("close")
}
