import { Context, Duration } from "effect"

/** What all visits together may hold, and what one answer may be. */
export interface SiteVisitsPolicy {
  /** Visits under way at once in this process; more wait before their time begins to run. */
  readonly visits: number
  /** Requests under way at once, over all visits. */
  readonly requests: number
  /** Compressed answers opened at once, over all visits. */
  readonly decoders: number
  /** What all bodies under way may hold together, and what each may in any case; what is beyond is cut. */
  readonly bytesUnderWay: number
  readonly smallBody: number
  /** Largest body, as sent and decoded; what is longer is cut there. */
  readonly bodyBytes: number
  /** The same of what comes instead of what was asked for: an error, or a page in place of a document. */
  readonly documentBytes: number
  /** What the decoded bodies of one visit come to; of all visits together; and what each visit has in any case. */
  readonly visitBytes: number
  readonly keptBytes: number
  readonly smallVisit: number
  readonly headerBytes: number
  readonly redirects: number
  readonly cookies: number
  /** Longest address that is asked, in characters. */
  readonly urlLength: number
  /** Sites of which one visit reads a robots.txt: the shop's, and those it sends us to. */
  readonly robots: number
  readonly connectTimeout: Duration.Duration
}

/** A reference, so a deployment or a test changes it without touching the code. */
export const SiteVisitsPolicy = Context.Reference<SiteVisitsPolicy>("turnpike/services/SiteVisits/Policy", {
  defaultValue: () => ({
    visits: 32,
    requests: 128,
    decoders: 4,
    bytesUnderWay: 24_000_000,
    smallBody: 500_000,
    bodyBytes: 3_000_000,
    documentBytes: 256_000,
    visitBytes: 24_000_000,
    keptBytes: 48_000_000,
    smallVisit: 2_000_000,
    headerBytes: 32_768,
    redirects: 5,
    cookies: 100,
    urlLength: 4096,
    robots: 4,
    connectTimeout: Duration.seconds(4)
  })
})
