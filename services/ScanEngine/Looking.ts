import { Effect } from "effect"
import { type Document, openingOf } from "#domain/page/Document.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { clip, readOut, type Sight, unread } from "#domain/scan/Sight.ts"
import { PageReading, type PageUnread } from "../PageReading.ts"
import { isReadOut, type SiteAnswer, type SiteOutcome, type SiteRequest, type Visit } from "../SiteVisits.ts"

/** Headers that questions are answered from. */
const kept = ["server", "content-usage", "vary", "x-robots-tag", "retry-after"]

/** One request, reduced to facts: the document itself is let go. `read` is what was made of an answer of the site. */
export interface Looked<A> {
  readonly sight: Sight
  readonly read: A | undefined
}

/** Asks, and keeps of the answer what it shows. */
export const look = Effect.fnUntraced(function* <A = never>(
  visit: Visit,
  request: SiteRequest & { readonly url: URL | string },
  read?: (answer: SiteAnswer) => Effect.Effect<A, PageUnread, PageReading>,
  reading?: Reading
) {
  const outcome = yield* visit.ask(request)
  const reduced = reduce(String(request.url), outcome, read, reading)
  return yield* Effect.ensuring(
    reduced,
    Effect.sync(() => {
      if (outcome._tag === "Answered") visit.letGo(outcome)
    })
  )
})

const reduce = Effect.fnUntraced(function* <A>(
  asked: string,
  outcome: SiteOutcome,
  read: ((answer: SiteAnswer) => Effect.Effect<A, PageUnread, PageReading>) | undefined,
  reading: Reading | undefined
) {
  const sight = yield* sightOf(asked, outcome, reading)
  const isGood = outcome._tag === "Answered" && outcome.challenge === undefined && isSuccess(outcome.status)
  const looked: Looked<A> = { sight, read: undefined }
  if (!isGood || read === undefined || sight.failure !== null) return looked
  return yield* Effect.matchEffect(read(outcome), {
    onSuccess: (read): Effect.Effect<Looked<A>> => Effect.succeed({ sight, read }),
    onFailure: () => Effect.succeed({ sight: tooMuch(asked, outcome), read: undefined })
  })
})

/** Enough bytes for a thousand characters of any charset. */
export const openingLength = 4096

const isSuccess = (status: number) => status >= 200 && status < 300

/** Whether an answer says that it is HTML, or looks like it when it says nothing. */
const isHtml = ({ contentType, document }: SiteAnswer): boolean =>
  /\bx?html\b/i.test(contentType) ||
  (contentType === "" && /^\s*<(?:!doctype|html)/i.test(openingOf(document, openingLength)))

type Reading = (html: Document, url: URL) => Effect.Effect<PageFacts | undefined, PageUnread, PageReading>

/** What a page says. */
export const facts: Reading = (html, url) => Effect.flatMap(PageReading, (pages) => pages.page(html, url))

/** For what is asked for its words alone. */
export const noReading: Reading = () => Effect.succeed(undefined)

/** Our own limits say nothing about the site: it is as if it had not been seen. */
const tooMuch = (asked: string, { ms, url }: SiteAnswer): Sight => ({
  ...unanswered(asked, unread, Math.round(ms)),
  url: url.href
})

export const sightOf = (
  asked: string,
  outcome: SiteOutcome,
  reading: Reading = facts
): Effect.Effect<Sight, never, PageReading> => {
  if (outcome._tag === "NoAnswer") {
    const failure = isReadOut(outcome) ? readOut : outcome.reason
    return Effect.succeed(unanswered(asked, failure, Math.round(outcome.ms)))
  }
  const { challenge, contentType, document, headers, isTruncated, ms, redirects, status, url } = outcome
  const isPage = isSuccess(status) && challenge === undefined && isHtml(outcome)
  return Effect.match(isPage ? reading(document, url) : Effect.succeed(undefined), {
    onFailure: () => tooMuch(asked, outcome),
    onSuccess: (page): Sight => ({
      asked,
      url: url.href,
      status,
      failure: null,
      ms: Math.round(ms),
      contentType,
      headers: new Map(kept.flatMap((name) => (headers.has(name) ? [[name, headers.get(name) ?? ""] as const] : []))),
      redirects: redirects.length,
      challenge: challenge ?? null,
      // Of what is no success only the status counts.
      isTruncated: isSuccess(status) && (isTruncated || page?.isCut === true),
      page,
      opening: clip(openingOf(document, openingLength).slice(0, 1000).replace(/\s+/g, " ").trim()) ?? ""
    })
  })
}

/** A sight of something that was not answered, or not even asked for. */
export const unanswered = (asked: string, failure: string, ms: number | null = null): Sight => ({
  asked,
  url: asked,
  status: null,
  failure,
  ms,
  contentType: "",
  headers: new Map(),
  redirects: 0,
  challenge: null,
  isTruncated: false,
  page: undefined,
  opening: ""
})
