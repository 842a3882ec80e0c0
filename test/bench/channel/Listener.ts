import { connect, type Socket } from "node:net"

/** One connection of an agent: counts its events, and for those that say when they were committed how long they took. */
export class Listener {
  events = 0
  isOpen = false
  private head = ""
  private readonly socket: Socket
  private readonly arrived: (millis: number) => void

  constructor(port: number, agent: string, token: string, place: number, arrived: (millis: number) => void) {
    this.arrived = arrived
    // A server address has some 28,000 ports for one address of clients.
    const localAddress = `127.0.0.${2 + (place % 4)}`
    this.socket = connect({ port, host: "127.0.0.1", localAddress }, () =>
      this.socket.write(
        `GET /v1/agents/${agent}/connect HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`
      )
    )
    this.socket.setNoDelay(true)
    this.socket.on("data", (chunk) => this.read(chunk.toString("latin1")))
    this.socket.on("error", () => {})
  }

  private read(text: string): void {
    if (!this.isOpen) {
      this.head += text
      this.isOpen = this.head.includes("event: connected")
      return
    }
    for (let at = text.indexOf("\nid: evt_"); at !== -1; at = text.indexOf("\nid: evt_", at + 1)) this.events++
    for (const [, at] of text.matchAll(/"committed":(\d+\.?\d*)/g))
      this.arrived(performance.timeOrigin + performance.now() - Number(at))
  }

  close(): void {
    this.socket.destroy()
  }
}
