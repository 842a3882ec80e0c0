import { once } from "node:events"
import type { Server } from "node:http"

/** Serves what `make` builds from the parent's first message on a free port, tells the parent the port, and ends with it. */
export const serve = <Setup>(make: (setup: Setup) => Server): void => {
  process.once("disconnect", () => process.exit())
  process.once("message", async (setup: Setup) => {
    const server = make(setup).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    process.send?.(typeof address === "object" ? address?.port : address)
  })
}
