import type { CDPSession } from "playwright-core"

/** Longest page that is shown; a longer one is none. */
const mostBytes = 16_000_000
const chunk = 1_000_000

/** No socket, which only a page's own are kept from by its route: what a worker says over one is past every lock. */
const withoutSockets = "connect-src http: https: data: blob:"

/** What a page or a worker may do is said by a header of its own beside those that the site sends. */
const policy = (value: string) => ({ name: "Content-Security-Policy", value })
type Policy = ReturnType<typeof policy>

/**
 * All that a page has but further windows, for itself and its frames. What a window asks for on its way up or down is past every route, as
 * closing it lets go what was held there; so none is opened.
 */
export const ofPages = policy(
  `${withoutSockets}; sandbox allow-same-origin allow-scripts allow-forms allow-modals allow-top-navigation allow-pointer-lock allow-orientation-lock allow-presentation allow-storage-access-by-user-activation`
)
export const ofWorkers = policy(withoutSockets)

/** Fields of a body that is passed on as it was read. */
const ofTransfer = /^(?:content-encoding|content-length|transfer-encoding)$/i

/** An answer as the browser tells of it before a page sees it. */
export interface Answered {
  readonly requestId: string
  readonly responseStatusCode?: number
  readonly responseErrorReason?: string
  readonly responseHeaders?: ReadonlyArray<{ readonly name: string; readonly value: string }>
}

/** The rest of a body after what was read of it; undefined when the whole is too long. */
const restOf = (session: CDPSession, handle: string, before: ReadonlyArray<Buffer>): Promise<string | undefined> =>
  session.send("IO.read", { handle, size: chunk }).then(({ base64Encoded, data, eof }) => {
    const read = [...before, Buffer.from(data, base64Encoded === true ? "base64" : "utf8")]
    const isTooLong = read.reduce((sum, { length }) => sum + length, 0) > mostBytes
    if (!isTooLong && !eof) return restOf(session, handle, read)
    const body = isTooLong ? undefined : Buffer.concat(read).toString("base64")
    return session.send("IO.close", { handle }).then(() => body)
  })

const bodyOf = (session: CDPSession, requestId: string): Promise<string | undefined> =>
  session.send("Fetch.takeResponseBodyAsStream", { requestId }).then(({ stream }) => restOf(session, stream, []))

/** Passes an answer on. A header that is only added to it would not be heeded, so a page is given anew. */
export const passOn = (
  session: CDPSession,
  { requestId, responseHeaders = [], ...answered }: Answered,
  added: Policy
) => {
  const responseCode = answered.responseStatusCode
  const isPage = responseCode !== undefined && (responseCode < 300 || responseCode > 399)
  if (!isPage) return session.send("Fetch.continueResponse", { requestId })
  const headers = [...responseHeaders.filter(({ name }) => !ofTransfer.test(name)), added]
  const failed = () => session.send("Fetch.failRequest", { requestId, errorReason: "Failed" })
  return bodyOf(session, requestId).then(
    (body) =>
      body === undefined
        ? failed()
        : session.send("Fetch.fulfillRequest", { requestId, responseCode, responseHeaders: headers, body }),
    failed
  )
}
