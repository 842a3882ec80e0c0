import { Clock, Duration, Effect, Semaphore } from "effect"
import type { Dispatcher } from "undici"
import { headerValue, type RawHeaders } from "#domain/HttpHeaders.ts"
import { type Document, letGo } from "#domain/page/Document.ts"
import type { RequestMade, Vantage } from "#domain/Scan.ts"
import { answerOf, headersRead, nothingRead } from "./Answer.ts"
import { readBody } from "./Body.ts"
import { Budget, outOfTime, type Turn } from "./Budget.ts"
import { Cookies } from "./Cookies.ts"
import { exchange, NoExchange, type WireAnswer } from "./Exchange.ts"
import type { Held, Memory } from "./Memory.ts"
import type { SiteVisitsPolicy } from "./Policy.ts"
import { type Hop, isRedirect, redirected } from "./Redirect.ts"
import { robotsFiles } from "./RobotsFiles.ts"
import { browserAccept, browserLine, misnamedHeader, usualAccept } from "./Vantages.ts"
import type { NoAnswer, Site, SiteAnswer, SiteOutcome, SiteRequest, Visit, VisitLimits } from "./Visit.ts"

/** What all visits share. */
export interface Shared {
  readonly policy: SiteVisitsPolicy
  readonly vantage: Vantage
  readonly profiles: string
  /** One permit for each request under way, and for each body being opened. */
  readonly requests: Semaphore.Semaphore
  readonly decoders: Semaphore.Semaphore
  /** Of bodies being received, and of texts until their visit ends. */
  readonly underWay: Memory
  readonly kept: Memory
}

type Head = Pick<WireAnswer, "status" | "headers">

/** Of a redirect nothing is read but where it leads. */
const redirectBytes = 16_384

const fail = (reason: NoAnswer["reason"], detail: string) => Effect.fail(new NoExchange({ reason, detail }))

/** A visit that sends over `agent` and ends with the scope. */
export const visit = Effect.fnUntraced(function* (
  site: Site,
  limits: VisitLimits,
  agent: Dispatcher,
  { decoders, kept, policy, profiles, requests, underWay, vantage }: Shared
) {
  const clock = yield* Clock.Clock
  const scope = yield* Effect.scope
  const now = () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const wallNow = () => clock.currentTimeMillisUnsafe()
  const share = yield* Effect.acquireRelease(
    Effect.sync(() => kept.hold()),
    (held) => Effect.sync(() => held.release())
  )
  const budget = new Budget(limits, policy.visitBytes, share, now)
  /** A browser that comes to compare is another visitor: it sees none of our cookies, and keeps its own. */
  const cookies = { agent: new Cookies(policy.cookies), browser: new Cookies(policy.cookies) }
  const places = yield* Semaphore.make(limits.concurrency)
  const starting = yield* Semaphore.make(1)
  const documents = yield* Effect.acquireRelease(
    Effect.sync(() => new Set<Document>()),
    (all) =>
      Effect.sync(() => {
        for (const document of all) letGo(document)
      })
  )
  let base: URL | undefined

  const reached = () => base ?? site.home

  const allowed = (turn: Turn) => {
    const refusal = budget.refusal(turn)
    return refusal === undefined ? Effect.void : Effect.fail(new NoExchange(refusal))
  }

  /** How much of an answer is read. What answers a form with an error may be the form again, so that is read like any page. */
  const room = ({ method }: Hop, { isDocument }: SiteRequest, turn: Turn, { headers, status }: Head) => {
    const isPage = isDocument === true && !/\bjson\b/i.test(headerValue(headers, "content-type") ?? "")
    const isLittle = isPage || (status >= 400 && method === "GET")
    return Math.max(0, Math.min(isLittle ? policy.documentBytes : policy.bodyBytes, budget.bytes(turn)))
  }

  const headersOf = (hop: Hop, { accept }: SiteRequest, { as }: Turn): RawHeaders => {
    const cookie = cookies[as].header(hop.url, wallNow())
    return [
      ["User-Agent", as === "agent" ? vantage.user_agent : browserLine],
      ["Accept", acceptOf(accept, as)],
      ["Accept-Language", "en-US,en;q=0.9"],
      ["Accept-Encoding", "gzip, deflate, br, zstd"],
      ...(cookie === "" ? [] : [["Cookie", cookie]]),
      ...hop.headers
    ].flat()
  }

  /** One request without redirects, when its turn has come. Written down whatever becomes of it. */
  const send = Effect.fnUntraced(function* (hop: Hop, request: SiteRequest, turn: Turn, held: Held) {
    const { method, url } = hop
    yield* starting.withPermit(
      Effect.gen(function* () {
        yield* allowed(turn)
        const wait = budget.wait()
        if (wait >= budget.remaining()) return yield* Effect.fail(new NoExchange(outOfTime))
        if (wait > 0) yield* Effect.sleep(wait)
        yield* Semaphore.takeScoped(requests, 1)
        // What was met meanwhile counts.
        yield* allowed(turn)
      })
    )
    const headers = headersOf(hop, request, turn)
    const made: RequestMade = {
      method,
      url: url.href,
      user_agent: headerValue(headers, "user-agent") ?? "",
      accept: headerValue(headers, "accept") ?? "",
      status: null,
      failure: "deadline",
      ms: 0,
      bytes: 0
    }
    const note = budget.begin(made)
    const began = now()
    const most = (status: number, answer: RawHeaders) =>
      request.followsRedirects !== false && isRedirect(status, headerValue(answer, "location"))
        ? redirectBytes
        : room(hop, request, turn, { status, headers: answer })
    return yield* exchange(agent, { method, url, headers, body: hop.body, most, held }, now).pipe(
      Effect.timeoutOrElse({ duration: limits.perRequest, orElse: () => fail("timeout", "no whole answer in time") }),
      Effect.tap(({ body, ms, status }) =>
        Effect.sync(() => note({ ...made, status, failure: null, ms, bytes: body.length }))
      ),
      Effect.tapError(({ reason }) => Effect.sync(() => note({ ...made, failure: reason, ms: now() - began }))),
      Effect.onInterrupt(() => Effect.sync(() => note({ ...made, ms: now() - began })))
    )
  }, Effect.scoped)

  /** What an answer changes for the rest of the visit. */
  const learn = (answer: SiteAnswer, turn: Turn) => {
    const { challenge, headers, setCookies, status, url } = answer
    cookies[turn.as].store(url, setCookies, wallNow())
    if (challenge !== undefined) budget.challenged(turn.as, challenge)
    const retryAfter = headers.get("retry-after")
    if (status === 429 || (status === 503 && retryAfter !== undefined)) budget.mustWait(turn.as, status, retryAfter)
  }

  const read = (wire: WireAnswer, headers: ReadonlyMap<string, string>, most: number) => {
    const contentEncoding = headers.get("content-encoding") ?? ""
    const contentType = headers.get("content-type") ?? ""
    const reading = readBody(wire.body, wire.isCut, most, { contentEncoding, contentType })
    return decoders.withPermit(reading).pipe(
      Effect.tap(({ document }) =>
        Effect.sync(() => {
          budget.read(document.bytes.length)
          documents.add(document)
        })
      )
    )
  }

  /** One request, read and learnt from, and what it leads to. */
  const step = (hop: Hop, request: SiteRequest, turn: Turn, redirects: SiteAnswer["redirects"]) =>
    Effect.suspend(() => {
      const held = underWay.hold()
      return Effect.gen(function* () {
        yield* robots.permitted(hop.url, request, turn)
        const wire = yield* places.withPermit(send(hop, request, turn, held))
        const head = headersRead(wire.headers)
        const location = headerValue(wire.headers, "location")
        const next =
          request.followsRedirects !== false && isRedirect(wire.status, location)
            ? redirected(hop, wire.status, location, policy.urlLength)
            : undefined
        const most = room(hop, request, turn, wire)
        const content = next === undefined ? yield* read(wire, head.headers, most) : nothingRead
        const answer = answerOf(hop.url, wire, head, content, redirects)
        learn(answer, turn)
        return { answer, next }
      }).pipe(Effect.ensuring(Effect.sync(() => held.release())))
    })

  /** Follows redirects until something stands for itself. */
  const follow = Effect.fnUntraced(function* (first: Hop, request: SiteRequest, turn: Turn) {
    const redirects: Array<SiteAnswer["redirects"][number]> = []
    let hop = first
    while (true) {
      const { answer, next } = yield* step(hop, request, turn, [...redirects])
      if (next === undefined) return answer
      const to = next.url.pathname.slice(0, 200)
      if (request.mayFollow?.(next.url) === false) return yield* fail("bad_request", `${to} is not asked for`)
      if (redirects.length >= policy.redirects) {
        return yield* fail("too_many_redirects", `more than ${policy.redirects}, the last to ${to}`)
      }
      redirects.push({ from: hop.url, status: answer.status })
      hop = next
    }
  })

  const outcome = (began: number, asking: Effect.Effect<SiteOutcome, NoExchange>): Effect.Effect<SiteOutcome> =>
    asking.pipe(
      Effect.timeoutOrElse({ duration: budget.remaining(), orElse: () => Effect.fail(new NoExchange(outOfTime)) }),
      Effect.catchTag("NoExchange", ({ detail, reason }) =>
        Effect.succeed<NoAnswer>({ _tag: "NoAnswer", reason, detail, ms: now() - began })
      )
    )

  const robots = robotsFiles(policy.robots, scope, (url, turn) => {
    const request = { url, accept: "text/plain,*/*;q=0.5" }
    return outcome(now(), follow({ method: "GET", url, headers: [], body: null }, request, turn))
  })

  const ask = (request: SiteRequest): Effect.Effect<SiteOutcome> =>
    Effect.suspend(() => {
      const began = now()
      const hop = firstHop(request, reached(), policy.urlLength)
      if (typeof hop === "string") return outcome(began, fail("bad_request", hop))
      const turn = budget.turn(request)
      if (isRobotsFile(hop, request)) return outcome(began, robots.fileOf(hop.url.origin, turn))
      const isHome = turn.as === "agent" && isDoor(hop.url, site.home)
      return outcome(began, follow(hop, request, turn)).pipe(
        Effect.tap((found) =>
          Effect.sync(() => {
            if (isHome && base === undefined && found._tag === "Answered") base = found.url
          })
        )
      )
    })

  return {
    site,
    vantage,
    profiles,
    ask,
    reached,
    letGo: ({ document }, kept = 0) => {
      // What is asked for once for all, such as robots.txt, may be let go by several.
      const held = document.bytes.length
      letGo(document, kept)
      budget.release(held - document.bytes.length)
    },
    requests: () => [...budget.made],
    challenge: () => budget.challenge,
    cookies: (url) => cookies.agent.header(url, wallNow()),
    remaining: Effect.sync(() => Duration.millis(budget.remaining()))
  } satisfies Visit
})

const acceptOf = (accept: string | undefined, as: Turn["as"]): string =>
  accept ?? (as === "agent" ? usualAccept : browserAccept)

const firstHop = (request: SiteRequest, base: URL, longest: number): Hop | string => {
  const url = URL.parse(String(request.url), base.href)
  if (url === null || !/^https?:$/.test(url.protocol)) return "this is not an address of the web"
  if (url.href.length > longest) return "this address is too long"
  const headers = request.headers ?? []
  const misnamed = misnamedHeader(headers)
  if (misnamed !== undefined) return `the visit sets ${misnamed} itself`
  url.username = ""
  url.password = ""
  url.hash = ""
  return { method: request.method ?? "GET", url, headers, body: request.body ?? null }
}

/** Also over http, where https does not answer. */
const isDoor = (url: URL, home: URL): boolean =>
  url.host === home.host && url.pathname === home.pathname && url.search === home.search

const isRobotsFile = ({ headers, method, url }: Hop, { as, followsRedirects }: SiteRequest): boolean =>
  url.pathname === "/robots.txt" &&
  url.search === "" &&
  method === "GET" &&
  as !== "browser" &&
  followsRedirects !== false &&
  headers.length === 0
