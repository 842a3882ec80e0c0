import { Duration, Effect, Option, Schema } from "effect"
import { isReviewPage } from "#domain/Deeds.ts"
import { readBoundedJson } from "#domain/protocol/BoundedJson.ts"
import { mayAsk } from "#domain/ShoppingConduct.ts"
import type { PageReading } from "../PageReading.ts"
import type { NoAnswer, SiteAnswer, SiteOutcome, SiteRequest, Visit } from "../SiteVisits.ts"

/** What a test may cost a shop, its clean-up aside. */
export interface ErrandLimits {
  readonly requests: number
  readonly duration: Duration.Duration
  /** What the visit lasts longer than that, to put things back. */
  readonly reserve: Duration.Duration
}

/** Failures of the network that one more try may mend. */
const passing: ReadonlySet<NoAnswer["reason"]> = new Set(["unreachable", "timeout", "bad_response"])

/** Whether one more try may mend it: the network failed, or a server in trouble did not say when to come back. */
const maySucceed = (outcome: SiteOutcome): boolean =>
  outcome._tag === "NoAnswer"
    ? passing.has(outcome.reason)
    : [500, 502, 503, 504].includes(outcome.status) &&
      outcome.challenge === undefined &&
      !outcome.headers.has("retry-after")

const noAnswer = (reason: NoAnswer["reason"], detail: string): NoAnswer => ({ _tag: "NoAnswer", reason, detail, ms: 0 })

/** `from` is the shop's page that led to an address: some review pages are looked at only from there. */
export interface LookOptions extends Omit<SiteRequest, "url" | "method" | "body"> {
  readonly from?: URL
}

/** An answer of JSON: `value` is undefined when it is no JSON of the expected shape. */
export interface JsonAnswer<A> {
  readonly answer: SiteAnswer
  readonly value: A | undefined
}

/**
 * One test's way to the shop. It is itself a visit, so whatever speaks over a visit (rails, the UCP client) speaks over the same list of
 * what a test may send: everything that is not on it is answered here and reaches nobody, redirects of a look included. Of a call with
 * effects no redirect is followed, as it could lead to a call that is not on the list.
 */
export interface Errand extends Visit {
  /** What reads the documents that it gets. */
  readonly pages: PageReading["Service"]
  /** GET, with one more try after a failure of the network or of the server. */
  look(url: string | URL, options?: LookOptions): Effect.Effect<SiteOutcome>
  /** GET or a call with effects, answered by JSON. */
  json<A>(schema: Schema.Decoder<A>, request: SiteRequest): Effect.Effect<JsonAnswer<A> | NoAnswer>
  /**
   * A form that was judged by `maySubmit`: the one way around the list, for addresses that only the form knows. After it, where the shop
   * sends us is looked at.
   */
  submitJudged(request: SiteRequest): Effect.Effect<SiteOutcome>
  /** The same errand without its limits, to put things back. The visit's own limits stay. */
  readonly tidying: Errand
}

/** What a browser sends after a form was taken. A redirect that would send the form once more is not followed. */
const landing = (outcome: SiteOutcome): URL | undefined => {
  if (outcome._tag === "NoAnswer" || ![301, 302, 303].includes(outcome.status)) return undefined
  return URL.parse(outcome.headers.get("location") ?? "", outcome.url.href) ?? undefined
}

export const make = (visit: Visit, limits: ErrandLimits, pages: PageReading["Service"]): Errand => {
  const isLook = (method: SiteRequest["method"]) => method === undefined || method === "GET" || method === "OPTIONS"
  const mayLook = (url: URL, from: URL | undefined) =>
    mayAsk({ method: "GET", url, body: undefined }) || (from !== undefined && isReviewPage(from, url))

  const build = (isTidying: boolean): Omit<Errand, "tidying"> => {
    /** Our own limits, which leave room in the visit for putting things back. */
    const spent = Effect.map(visit.remaining, (remaining): NoAnswer | undefined => {
      if (isTidying) return undefined
      if (visit.requests().length >= limits.requests) {
        return noAnswer("budget", `the ${limits.requests} requests of a test of this type are used up`)
      }
      return Duration.isLessThanOrEqualTo(remaining, limits.reserve)
        ? noAnswer("deadline", `the ${Duration.toSeconds(limits.duration)} seconds of a test of this type are over`)
        : undefined
    })

    const sendOnce = (request: SiteRequest): Effect.Effect<SiteOutcome> =>
      Effect.flatMap(spent, (over) =>
        over === undefined ? visit.ask(isTidying ? { ...request, isTidying } : request) : Effect.succeed(over)
      )

    const ask = (request: SiteRequest, from?: URL): Effect.Effect<SiteOutcome> => {
      const method = request.method ?? "GET"
      const url = URL.parse(String(request.url), visit.site.home.href)
      if (url === null) return Effect.succeed(noAnswer("bad_request", "this is no address"))
      if (!mayAsk({ method, url, body: request.body }) && !(method === "GET" && mayLook(url, from))) {
        return Effect.succeed(noAnswer("bad_request", `a test does not send ${method} ${url.pathname}`))
      }
      const mayFollow = (next: URL) => mayLook(next, url)
      return sendOnce(isLook(method) ? { ...request, mayFollow } : { ...request, followsRedirects: false })
    }

    const look: Errand["look"] = (url, { from, ...options } = {}) => {
      const request = { ...options, url }
      return Effect.flatMap(ask(request, from), (outcome) =>
        maySucceed(outcome) ? ask(request, from) : Effect.succeed(outcome)
      )
    }

    const json = <A>(schema: Schema.Decoder<A>, request: SiteRequest): Effect.Effect<JsonAnswer<A> | NoAnswer> => {
      const wanted = { accept: "application/json", ...request }
      const { method, url, ...options } = wanted
      const asked = isLook(method) && request.body === undefined ? look(url, options) : ask(wanted)
      return Effect.map(asked, (outcome) => {
        if (outcome._tag === "NoAnswer") return outcome
        const read = readBoundedJson(outcome.text)
        const value =
          read._tag === "Json" ? Option.getOrUndefined(Schema.decodeUnknownOption(schema)(read.value)) : undefined
        return { answer: outcome, value }
      })
    }

    const submitJudged = (request: SiteRequest): Effect.Effect<SiteOutcome> => {
      const to = URL.parse(String(request.url), visit.site.home.href) ?? undefined
      const sent = { ...request, followsRedirects: isLook(request.method), mayFollow: (next: URL) => mayLook(next, to) }
      return Effect.flatMap(sendOnce(sent), (outcome) => {
        const next = landing(outcome)
        if (next === undefined) return Effect.succeed(outcome)
        return look(next, to === undefined ? {} : { from: to })
      })
    }

    return {
      ...visit,
      pages,
      ask: (request) => ask(request),
      look,
      json,
      submitJudged
    }
  }

  const tidying: Errand = {
    ...build(true),
    get tidying() {
      return tidying
    }
  }
  return { ...build(false), tidying }
}
