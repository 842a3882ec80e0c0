import type { Socket } from "node:net"

type Written = (error?: Error | null) => void

const isReset = (error: Error | null | undefined): error is Error =>
  error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE")

/** What may have been cut is told from what is whole: its end is the error that it came with. */
const endWith = (socket: Socket, reset: Error) => {
  const { emit } = socket
  socket.emit = (event: string | symbol, ...values: Array<unknown>): boolean => {
    if (event !== "end") return Reflect.apply(emit, socket, [event, ...values])
    socket.destroy(reset)
    return true
  }
}

/**
 * Hears a peer out that answers and goes before it has read everything, as origins do that refuse a body: what can no longer be written
 * is dropped, where Node would end the connection and lose the answer that waits to be read.
 */
export const hearOut = (socket: Socket): void => {
  const { _write: write, _writev: writeAll } = socket
  let isCut = false
  const unlessReset =
    (written: Written): Written =>
    (error) => {
      if (!isReset(error)) return written(error)
      if (!isCut) endWith(socket, error)
      isCut = true
      written()
    }
  socket._write = (chunk, encoding, written) => write.call(socket, chunk, encoding, unlessReset(written))
  if (writeAll !== undefined) socket._writev = (chunks, written) => writeAll.call(socket, chunks, unlessReset(written))
}
