import { Effect } from "effect"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Where this server listens on loopback, as `host:port`: until the scope ends, and its connections with it. */
export const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(`127.0.0.1:${(server.address() as AddressInfo).port}`)))
    }),
    () => Effect.sync(() => void server.close().closeAllConnections())
  )
