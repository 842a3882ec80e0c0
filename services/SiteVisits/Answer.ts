import type { RawHeaders } from "#domain/HttpHeaders.ts"
import { challengeLength, challengeOf } from "#domain/page/Challenge.ts"
import { openingOf, textOf } from "#domain/page/Document.ts"
import type { Opened } from "./Body.ts"
import type { WireAnswer } from "./Exchange.ts"
import type { SiteAnswer } from "./Visit.ts"

/** What is read of a redirect. */
export const nothingRead: Opened = { document: { bytes: new Uint8Array(), charset: "utf-8" }, isTruncated: false }

/** Names in lower case. */
export const headersRead = (raw: RawHeaders): Pick<SiteAnswer, "headers" | "setCookies"> => {
  const headers = new Map<string, string>()
  const setCookies: Array<string> = []
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = (raw[i] ?? "").toLowerCase()
    const value = raw[i + 1] ?? ""
    if (name === "set-cookie") setCookies.push(value)
    const before = name === "set-cookie" ? undefined : headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return { headers, setCookies }
}

export const answerOf = (
  url: URL,
  { ms, status }: WireAnswer,
  { headers, setCookies }: Pick<SiteAnswer, "headers" | "setCookies">,
  { document, isTruncated }: Opened,
  redirects: SiteAnswer["redirects"]
): SiteAnswer => ({
  _tag: "Answered",
  url,
  status,
  headers,
  setCookies,
  contentType: (headers.get("content-type") ?? "").toLowerCase(),
  document,
  get text() {
    return textOf(document)
  },
  bytes: document.bytes.length,
  isTruncated,
  redirects,
  ms,
  // The only version that is spoken.
  httpVersion: "HTTP/1.1",
  challenge: challengeOf(status, headers, openingOf(document, challengeLength), document.bytes.length)
})
