import type { PageFacts } from "../page/PageFacts.ts"
import type { Answer } from "../Rubric.ts"

/** What one request of a scan showed: the facts of the answer, without the document. */
export interface Sight {
  /** As it was asked, and where its redirects ended. */
  readonly asked: string
  readonly url: string
  /** Null when there was no answer; `failure` then says why. */
  readonly status: number | null
  readonly failure: string | null
  readonly ms: number | null
  readonly contentType: string
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly redirects: number
  readonly challenge: { readonly vendor: string; readonly marker: string } | null
  /** There is more of it than we read. */
  readonly isTruncated: boolean
  /** Undefined when the answer is no page of HTML. */
  readonly page: PageFacts | undefined
  /** The first 300 characters of what was answered. */
  readonly opening: string
}

/** A sight of a page. */
export interface Page extends Sight {
  readonly status: number
  readonly page: PageFacts
}

/** It was answered, by the site itself and not by a wall before it. */
export const isAnswered = (sight: Sight | undefined): sight is Sight & { readonly status: number } =>
  sight !== undefined && sight.status !== null && sight.challenge === null

export const isFine = (sight: Sight | undefined): sight is Sight & { readonly status: number } =>
  isAnswered(sight) && sight.status >= 200 && sight.status < 300

export const isPage = (sight: Sight | undefined): sight is Page => isFine(sight) && sight.page !== undefined

/** It is certain that it is not there: neither a wall, a limit nor a fault of the moment answered. */
export const isMissing = (sight: Sight | undefined): boolean =>
  isAnswered(sight) && (sight.status === 404 || sight.status === 410)

/** An answer that says how it is, and neither that we came too soon nor that something is broken just now. */
export const isSettled = (sight: Sight | undefined): boolean =>
  isAnswered(sight) && sight.status < 500 && sight.status !== 408 && sight.status !== 425 && sight.status !== 429

export const evidence = (sight: Sight | undefined, snippet?: string | null): Answer["evidence"] =>
  sight === undefined
    ? null
    : { url: sight.url, status: sight.status, snippet: clip(snippet ?? sight.failure), ms: sight.ms }

export const clip = (text: string | null | undefined): string | null => {
  if (text === null || text === undefined || text === "") return null
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`
}

/** Why a thing was not seen, as the end of a sentence. */
export const whyUnseen = (sight: Sight | undefined): string => {
  if (sight === undefined) return "it was not asked for"
  if (sight.challenge !== null) return `a wall answered (${sight.challenge.vendor})`
  if (isPage(sight)) {
    return sight.page.clientOnly === null
      ? "what was followed is no page of one product"
      : "the page is empty before its scripts run"
  }
  if (sight.status !== null) return `the answer was ${sight.status}`
  return reasons[sight.failure ?? ""] ?? `there was no answer (${sight.failure})`
}
/** It was answered, but what came was too much for us to read. */
export const unread = "unread"

/** It was not asked for: a scan reads so much and no more. */
export const readOut = "read_out"

/** An interface answered with an error of its own. */
export const apiFault = "api_fault"

const reasons: Readonly<Record<string, string>> = {
  [apiFault]: "it answers with an error of its own",
  budget: "the scan's requests were used up",
  [readOut]: "the scan had read as much as it may",
  deadline: "the scan's time was over",
  challenged: "the site had put up a wall before",
  robots: "robots.txt keeps us out of it",
  rate_limited: "the site had asked for fewer requests",
  soft_not_found: "the site answers every path with the same page",
  timeout: "no answer came in time",
  [unread]: "it takes more to read than we give one page"
}
