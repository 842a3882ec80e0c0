import type { Browser } from "playwright-core"
import { mustStay } from "./OrderLock.ts"
import { ofPages, ofWorkers, passOn } from "./OneWindow.ts"
import { sentText } from "./SentText.ts"

const ignore = () => {}

/** Whatever is asked for: not every kind of request has a name here. */
const asking = { urlPattern: "*", requestStage: "Request" } as const

/** Where the answer is a page, or the script of a worker, which is among the others. */
const answering = (["Document", "Other"] as const).map(
  (resourceType) => ({ urlPattern: "*", requestStage: "Response", resourceType }) as const
)

/** Pages, and what is fetched ahead as one that somebody may open. */
const shown: ReadonlySet<string> = new Set(["Document", "Prefetch", "Other"])
const isAhead = (headers: Readonly<Record<string, string>>): boolean => /prefetch/.test(headers["Sec-Purpose"] ?? "")

/** What the browser tells of a body: a stream, or a file that it has not read, is an entry without bytes. */
interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly hasPostData?: boolean
  readonly postDataEntries?: ReadonlyArray<{ readonly bytes?: string }>
}

/** The body as text; undefined where it cannot be read. */
const bodyOf = ({ hasPostData = false, headers, postDataEntries }: Sent): string | undefined => {
  const entries = postDataEntries ?? (hasPostData ? [{}] : [])
  const bytes = entries.flatMap((entry) => (entry.bytes === undefined ? [] : [Buffer.from(entry.bytes, "base64")]))
  return bytes.length < entries.length ? undefined : sentText(Buffer.concat(bytes), headers)
}

/**
 * Stops what must not leave, whoever asks for it and at each step of a chain of redirects. Routes are asked only for its beginning, not for
 * what a frame of another site or a sandbox asks while it ends, and not for all that its workers ask; the browser itself is asked for
 * everything. Lets pages open no further window.
 */
export const watchDetours = (browser: Browser): Promise<unknown> =>
  browser.newBrowserCDPSession().then((session) => {
    session.on("Fetch.requestPaused", (paused) => {
      const { request, requestId, resourceType } = paused
      if (paused.responseStatusCode !== undefined || paused.responseErrorReason !== undefined)
        return void passOn(session, paused, resourceType === "Document" ? ofPages : ofWorkers).then(ignore, ignore)
      const url = URL.parse(request.url)
      const isDocument = shown.has(resourceType) || isAhead(request.headers)
      const { headers, method } = request
      const leaving = { method, body: bodyOf(request), isDocument, from: headers["Referer"] }
      const stays = url === null || mustStay({ ...leaving, url })
      const answer = stays
        ? session.send("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" })
        : session.send("Fetch.continueRequest", { requestId })
      void answer.then(ignore, ignore)
    })
    return session.send("Fetch.enable", { patterns: [asking, ...answering] })
  })
