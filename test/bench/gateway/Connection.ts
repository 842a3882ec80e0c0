import { connect, type Socket } from "node:net"

/** An answer with its body as latin-1 text. */
export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: string
}

/**
 * A keep-alive HTTP/1.1 connection with one request in flight. The load generator shares the machine with what it measures, so
 * it parses no more than the status and `Content-Length`, which every answer it meets must have.
 */
export class Connection {
  readonly #socket: Socket
  #rest: Buffer | undefined
  #resolve: ((answer: Answer) => void) | undefined
  #reject: ((error: Error) => void) | undefined
  #failure: Error | undefined

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(port, () => resolve(connection), reject)
    })
  }

  private constructor(port: number, ready: () => void, failed: (error: Error) => void) {
    this.#reject = failed
    this.#socket = connect({
      port,
      host: "127.0.0.1",
      noDelay: true,
      onread: {
        buffer: Buffer.allocUnsafeSlow(32 * 1024),
        callback: (length, buffer) => {
          this.#receive(Buffer.from(buffer.buffer, buffer.byteOffset, length))
          return true
        }
      }
    })
    this.#socket.once("connect", ready)
    this.#socket.once("error", (error) => this.#fail(error))
    this.#socket.once("close", () => this.#fail(new Error("The connection was closed")))
  }

  /** Sends a whole request, as text, and completes when the last byte of the answer is here. */
  exchange(request: string): Promise<Answer> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
      this.#socket.write(request, "latin1")
    })
  }

  close(): void {
    this.#reject = undefined
    this.#socket.destroy()
  }

  #receive(chunk: Buffer) {
    const all = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk])
    const headEnd = all.indexOf("\r\n\r\n")
    if (headEnd < 0) return this.#keep(all)
    const head = all.toString("latin1", 0, headEnd)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) return this.#fail(new Error(`An answer without Content-Length:\n${head}`))
    const end = headEnd + 4 + Number(length)
    if (all.length < end) return this.#keep(all)
    this.#rest = undefined
    this.#resolve?.({ status: Number(head.slice(9, 12)), head, body: all.toString("latin1", headEnd + 4, end) })
  }

  /** The socket reads into the same buffer again, so what is not whole yet is copied. */
  #keep(part: Buffer) {
    this.#rest = Buffer.from(part)
  }

  #fail(error: Error) {
    this.#failure ??= error
    this.#socket.destroy()
    this.#reject?.(error)
  }
}

/** The text of a request without a body. */
export const get = (path: string, headers = ""): string => `GET ${path} HTTP/1.1\r\nHost: bench\r\n${headers}\r\n`

/** The text of a request with a JSON body. */
export const post = (path: string, body: string, headers = ""): string =>
  `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`
