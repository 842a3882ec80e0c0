import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect } from "effect"
import { listening } from "../layers/Listening.ts"

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
export const open = Effect.fnUntraced(function* (pages: ShopPages) {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    void pages(request, response, url)
  })
  const domain = yield* listening(server)
  const url = `http://${domain}`
  return { domain, url, asked } satisfies Fixture
})
