import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A shop of ours on loopback. `domain` is what a scan of it is asked for, once that pair is listed. */
export interface Fixture {
  readonly domain: string
  readonly url: string
  /** `METHOD path` of everything that it was asked, in order. */
  readonly asked: ReadonlyArray<string>
}

/** A shop's answers; they may be late. `base` is its own address, for absolute links. */
export type ShopPages = (request: IncomingMessage, response: ServerResponse, base: string) => void | Promise<void>

/** Opens a shop for the length of the scope. */
export const open = (pages: ShopPages) =>
  Effect.acquireRelease(
    Effect.callback<Fixture & { readonly close: () => void }>((resume) => {
      const asked: Array<string> = []
      const server = createServer((request, response) => {
        asked.push(`${request.method} ${request.url}`)
        void pages(request, response, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      })
      server.listen(0, "127.0.0.1", () => {
        const domain = `127.0.0.1:${(server.address() as AddressInfo).port}`
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ domain, url: `http://${domain}`, asked, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )
