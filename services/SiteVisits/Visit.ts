import type { Duration, Effect } from "effect"
import type { Challenge } from "#domain/page/Challenge.ts"
import type { Document } from "#domain/page/Document.ts"
import type { RequestMade, Vantage } from "#domain/Scan.ts"

/** A site as it is visited: `domain` is its normalised name; `home` where to begin. */
export interface Site {
  readonly domain: string
  readonly home: URL
}

/** What a visit may cost the site and us. */
export interface VisitLimits {
  readonly requests: number
  readonly duration: Duration.Duration
  readonly perRequest: Duration.Duration
  /** Least time between the beginnings of two requests, and how many may be under way. */
  readonly pace: Duration.Duration
  readonly concurrency: number
  /** How much of what a visit may read is left to requests that put things back; nothing when it is not said. */
  readonly reserveBytes?: number
}

/** A request of ours. Headers beyond `User-Agent`, `Accept`, `Accept-Language` and `Cookie`, which the visit sets, are named here. */
export interface SiteRequest {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE" | "OPTIONS"
  /** Absolute, or relative to the home page as it was reached. */
  readonly url: string | URL
  readonly accept?: string
  readonly headers?: ReadonlyArray<readonly [name: string, value: string]>
  readonly body?: string
  /** `browser` looks like a plain one, for comparison; `agent` is who we are. */
  readonly as?: "agent" | "browser"
  /**
   * Whether robots.txt must be asked first. Crawling asks; a single look at what a buyer needs (cart, checkout) does not. `named` asks,
   * and is bound only by rules that name us. Once they are known, those bind every request.
   */
  readonly obeysRobots?: boolean | "named"
  /** A document that is small by its nature is asked for: a page that comes in its place is cut early. */
  readonly isDocument?: boolean
  /** It puts back what we changed, and may read what `reserveBytes` keeps for that. */
  readonly isTidying?: boolean
  /** Default true. At most 5, each of them guarded. */
  readonly followsRedirects?: boolean
  /** Where redirects may lead; anywhere when it is not said. A redirect elsewhere ends the request as a `bad_request`. */
  readonly mayFollow?: (url: URL) => boolean
}

/**
 * An answer, with what redirects led to it. `document` is the opened body up to the cap; a longer one has `isTruncated`. Whoever has
 * read it may let it go, and with the visit it goes. `text` is all of it, decoded anew each time.
 */
export interface SiteAnswer {
  readonly _tag: "Answered"
  readonly url: URL
  readonly status: number
  /** Names in lower case; of several of one name the values joined by a comma, except `set-cookie`. */
  readonly headers: ReadonlyMap<string, string>
  readonly setCookies: ReadonlyArray<string>
  readonly contentType: string
  readonly document: Document
  readonly text: string
  readonly bytes: number
  readonly isTruncated: boolean
  readonly redirects: ReadonlyArray<{ readonly from: URL; readonly status: number }>
  /** To the first byte of the last answer. */
  readonly ms: number
  readonly httpVersion: string | null
  readonly challenge: Challenge | undefined
}

/** Why there is no answer. What was not asked (`budget`, `deadline`, `challenged`, `rate_limited`, `robots`) says nothing about the site. */
type NoAnswerReason =
  | "budget"
  | "deadline"
  | "challenged"
  | "rate_limited"
  | "robots"
  | "forbidden_address"
  | "name_not_found"
  | "unreachable"
  | "tls"
  | "timeout"
  | "too_many_redirects"
  | "bad_response"
  | "bad_request"

export interface NoAnswer {
  readonly _tag: "NoAnswer"
  readonly reason: NoAnswerReason
  readonly detail: string
  readonly ms: number
}
export type SiteOutcome = SiteAnswer | NoAnswer

/** One visit of one site. Nothing of it fails: what could not be seen is data. Cookies of the site are kept for its length. */
export interface Visit {
  readonly site: Site
  readonly vantage: Vantage
  /** Where shops that speak UCP read who we are: `{profiles}/{release}.json`. */
  readonly profiles: string
  ask(request: SiteRequest): Effect.Effect<SiteOutcome>
  /** The home page as it was reached; until then, where it is looked for. */
  readonly reached: () => URL
  /** Lets a document go that was read, all but its first `kept` bytes, and with it its part of what visits may keep. */
  readonly letGo: (answer: SiteAnswer, kept?: number) => void
  /** Everything that was sent so far, in order. */
  readonly requests: () => ReadonlyArray<RequestMade>
  /** The first challenge that was met. After it nothing more is asked. */
  readonly challenge: () => Challenge | undefined
  /** The site's cookies of this visit as a `Cookie` header would carry them for this address. */
  readonly cookies: (url: URL) => string
  /** What is left of the time. */
  readonly remaining: Effect.Effect<Duration.Duration>
}
