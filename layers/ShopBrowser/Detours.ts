import { Effect } from "effect"
import type { BrowserContext, Page } from "playwright-core"
import { ask } from "./Chromium.ts"
import { passOn } from "./OneWindow.ts"

/** A request as the browser is about to send it. */
export interface Leaving {
  readonly method: string
  readonly url: URL
  readonly body: string
  readonly isDocument: boolean
  /** The page that asks for it, where it says so. */
  readonly from?: string | undefined
}

const ignore = () => {}

/** What can change something, or is a page. */
const patterns = (["Document", "XHR", "Fetch", "Ping", "Other"] as const).map(
  (resourceType) => ({ urlPattern: "*", requestStage: "Request", resourceType }) as const
)

/** Where the answer is a page. */
const pages = { urlPattern: "*", requestStage: "Response", resourceType: "Document" } as const

/**
 * Stops what must not leave at each step of a chain of redirects: routes are asked only for its beginning, and a redirect may carry
 * a change elsewhere. Lets pages open no further window.
 */
export const watchDetours = Effect.fnUntraced(function* (
  context: BrowserContext,
  page: Page,
  mustStay: (leaving: Leaving) => boolean
) {
  const session = yield* ask(() => context.newCDPSession(page))
  session.on("Fetch.requestPaused", (paused) => {
    const { request, requestId, resourceType } = paused
    if (paused.responseStatusCode !== undefined || paused.responseErrorReason !== undefined)
      return void passOn(session, paused).then(ignore, ignore)
    const url = URL.parse(request.url)
    const isDocument = resourceType === "Document"
    const { method, postData: body = "" } = request
    const stays = url === null || mustStay({ method, url, body, isDocument, from: request.headers["Referer"] })
    const answer = stays
      ? session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" })
      : session.send("Fetch.continueRequest", { requestId })
    void answer.then(ignore, ignore)
  })
  yield* ask(() => session.send("Fetch.enable", { patterns: [...patterns, pages] }))
})
