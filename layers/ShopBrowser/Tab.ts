import { Clock, Context, Duration, Effect, type Scope } from "effect"
import type { BrowserContext, BrowserContextOptions, Page, Request } from "playwright-core"
import type { RequestMade } from "#domain/Scan.ts"
import * as GuardedProxy from "#services/GuardedProxy.ts"
import type { PageReading } from "#services/PageReading.ts"
import type { ConnectRules } from "#services/PublicHttp/Policy.ts"
import { realTime } from "#services/RealTime.ts"
import { ask, type BrowserFailed, doesNotStart } from "./Chromium.ts"
import { isAside, isOrder, mayHideOrder } from "./OrderLock.ts"
import { sentText } from "./SentText.ts"
import { isBeacon, isTracker } from "./Trackers.ts"

/** What one visit may take, over its whole life. */
const proxyLimits = { connections: 64, requests: 2_400, bytes: 60_000_000 }
/** How much a visit loads. Each page of a WooCommerce shop of blocks is made of a hundred scripts, asked for anew on every one. */
export const MostLoaded = Context.Reference("turnpike/layers/ShopBrowser/MostLoaded", { defaultValue: () => 2_000 })
/** How many of them are kept for the record; what pages and their scripts ask, not what they are made of. */
const mostKept = 120

/** How much of what pages say in boxes is kept. */
const mostAlerts = 20

/** What a page waits for, in milliseconds. */
const pulse = 100
const patience = { action: 4_000, navigation: 12_000, quiet: 3_000 }

/** A change that a page asked for, and how it was answered. */
export interface Write {
  readonly method: string
  readonly url: URL
  readonly status: number
}

/** One context with one page, whose every byte passes a guarded proxy of its own. */
export interface Tab {
  readonly page: Page
  /** What reads its pages. */
  readonly pages: PageReading["Service"]
  /** Loads a page, as by a link of the page `from`, and waits until it is quiet. The status of its answer. */
  readonly goTo: (url: URL, from?: URL) => Effect.Effect<number, BrowserFailed>
  /** Until nothing has been asked for a third of a second, or three seconds have passed. */
  readonly quiet: Effect.Effect<void>
  /** A second, and until the page is quiet: scripts may take that long to show or to take over what is drawn. */
  readonly rest: Effect.Effect<void>
  /** Every change that was asked for so far. */
  readonly writes: () => ReadonlyArray<Write>
  /** What pages said in boxes of the browser's own, each of which was dismissed. */
  readonly alerts: () => ReadonlyArray<string>
  /** How many connections of its own a page wanted to talk over, each of which was closed. */
  readonly socketsClosed: () => number
  readonly requests: () => ReadonlyArray<RequestMade>
  /** How often a request that would have ordered something was stopped. */
  readonly ordersStopped: () => number
  /** The pages asked for more than a visit may, and something of the last ones is missing. */
  readonly isExhausted: () => boolean
  /** The browser itself has ended, whatever the site did. */
  readonly isBroken: () => boolean
}

/** What pages are made of that an agent needs not see, and what outlives them. */
const unwanted = new Set(["image", "media", "font", "texttrack", "manifest", "eventsource", "websocket", "ping"])

const ignore = () => {}

/** No server takes a longer address, and a page may make one of megabytes. */
const longestAddress = 16_384

const noBytes = new Uint8Array()

/** Whether it only may be of use later, on a page that is perhaps never opened. */
const isPrefetched = (headers: Readonly<Record<string, string>>): boolean =>
  /(?:^|[\s;,])prefetch/i.test(headers["sec-purpose"] ?? headers["purpose"] ?? "")

const stopped = (request: Request): "unwanted" | "order" | undefined => {
  const address = request.url()
  const url = address.length > longestAddress ? null : URL.parse(address)
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return "unwanted"
  const headers = request.headers()
  const leaving = {
    method: request.method(),
    url,
    body: sentText(request.postDataBuffer() ?? noBytes, headers),
    from: headers["referer"],
    isDocument: request.isNavigationRequest()
  }
  if (isOrder(leaving)) return "order"
  if (isAside(leaving)) return "unwanted"
  if (unwanted.has(request.resourceType()) || isPrefetched(headers)) return "unwanted"
  if (isTracker(url.hostname) || isBeacon(url)) return "unwanted"
  // Those who watch pack what they send, and are known by then.
  return mayHideOrder(leaving) ? "order" : undefined
}

const kept = new Set(["document", "xhr", "fetch"])
const entry = (request: Request, userAgent: string, outcome: Pick<RequestMade, "status" | "failure" | "bytes">) => ({
  method: request.method(),
  url: request.url().slice(0, 2048),
  user_agent: userAgent,
  accept: request.headers()["accept"] ?? "*/*",
  ms: Math.max(0, Math.round(request.timing().responseStart)),
  ...outcome
})

/** Listens to everything that a context asks. Runs outside Effect: each request of a page waits for it. */
const watch = (context: BrowserContext, userAgent: string, most: number) => {
  const made: Array<RequestMade> = []
  const writes: Array<Write> = []
  const seen = { count: 0, orders: 0, sockets: 0, open: new Set<Request>(), changes: 0 }
  const keep = (request: Request, outcome: Pick<RequestMade, "status" | "failure" | "bytes">) => {
    if (made.length < mostKept && kept.has(request.resourceType())) made.push(entry(request, userAgent, outcome))
  }
  const ended = (request: Request) => {
    seen.changes++
    seen.open.delete(request)
  }
  context.on("request", (request) => {
    seen.changes++
    seen.open.add(request)
  })
  context.on("requestfinished", ended)
  context.on("requestfailed", (request) => {
    ended(request)
    const why = request.failure()?.errorText ?? ""
    if (!why.includes("BLOCKED_BY_CLIENT") && !why.includes("ERR_ABORTED"))
      keep(request, { status: null, failure: "unreachable", bytes: 0 })
  })
  context.on("response", (response) => {
    const request = response.request()
    const url = URL.parse(request.url())
    keep(request, {
      status: response.status(),
      failure: null,
      bytes: Number(response.headers()["content-length"] ?? 0) || 0
    })
    if (request.method() !== "GET" && url !== null && writes.length < mostKept)
      writes.push({ method: request.method(), url, status: response.status() })
  })
  const route = () =>
    context.route(
      () => true,
      (route) => {
        const why = stopped(route.request()) ?? (++seen.count > most ? "too many" : undefined)
        if (why === "order") seen.orders++
        void (why === undefined ? route.continue() : route.abort("blockedbyclient")).then(ignore, ignore)
      }
    )
  return { made, writes, seen, route }
}

/** A page may not talk past the proxy. Chromium's own switches hold this; here its scripts learn of it at once. */
const withoutSockets =
  "delete globalThis.RTCPeerConnection; delete globalThis.webkitRTCPeerConnection; delete globalThis.WebTransport"

/** What stands in a closed shadow is seen and pressed by people, and by agents that go by roles. Here it is found as in an open one. */
const openShadows = `Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {
  apply: (attach, host, [init]) => Reflect.apply(attach, host, [{ ...init, mode: "open" }])
})`

const settings = (userAgent: string, port: number): BrowserContextOptions => ({
  proxy: { server: `http://127.0.0.1:${port}` },
  userAgent,
  locale: "en-US",
  timezoneId: "UTC",
  viewport: { width: 1280, height: 1600 },
  serviceWorkers: "block",
  acceptDownloads: false,
  permissions: [],
  reducedMotion: "reduce"
})

/** A browser's next context, for the length of the scope. */
export type NewContext = (options: BrowserContextOptions) => Effect.Effect<BrowserContext, BrowserFailed, Scope.Scope>

/** Opens a context over `newContext`, for the length of the scope. */
export const open = Effect.fnUntraced(function* (
  newContext: NewContext,
  rules: ConnectRules,
  userAgent: string,
  pages: PageReading["Service"]
) {
  const proxy = yield* Effect.catchTag(GuardedProxy.open(proxyLimits, rules), "ProxyUnopened", doesNotStart)
  const context = yield* newContext(settings(userAgent, proxy.port))
  const most = yield* MostLoaded
  const { made, route, seen, writes } = watch(context, userAgent, most)
  context.setDefaultTimeout(patience.action)
  context.setDefaultNavigationTimeout(patience.navigation)
  yield* ask(route)
  yield* ask(() =>
    context.routeWebSocket(
      () => true,
      (socket) => {
        seen.sockets++
        void socket.close().then(ignore, ignore)
      }
    )
  )
  yield* ask(() => context.addInitScript({ content: `${withoutSockets}; ${openShadows}` }))
  const page = yield* ask(() => context.newPage())
  context.on("page", (other) => void other.close().then(ignore, ignore))
  const alerts: Array<string> = []
  page.on("dialog", (box) => {
    if (box.type() === "alert" && alerts.length < mostAlerts) alerts.push(box.message().slice(0, 300))
    // To leave a page is what was asked for.
    void (box.type() === "beforeunload" ? box.accept() : box.dismiss()).then(ignore, ignore)
  })

  const quiet = Effect.gen(function* () {
    let before = seen.changes
    for (let still = 0, waited = 0; still < 3 && waited < patience.quiet; waited += pulse) {
      yield* Effect.sleep(Duration.millis(pulse))
      still = seen.open.size === 0 && seen.changes === before ? still + 1 : 0
      before = seen.changes
    }
  }).pipe(Effect.provideService(Clock.Clock, realTime))

  const rest = Effect.sleep(Duration.seconds(1)).pipe(
    Effect.provideService(Clock.Clock, realTime),
    Effect.andThen(quiet)
  )

  const goTo = Effect.fnUntraced(function* (url: URL, from?: URL) {
    const referer = from === undefined ? {} : { referer: from.href }
    const answer = yield* ask(() => page.goto(url.href, { waitUntil: "domcontentloaded", ...referer }))
    yield* quiet
    return answer?.status() ?? 0
  })

  const tab: Tab = {
    page,
    pages,
    goTo,
    quiet,
    rest,
    writes: () => writes,
    alerts: () => alerts,
    socketsClosed: () => seen.sockets,
    requests: () => made,
    ordersStopped: () => seen.orders,
    isExhausted: () => seen.count > most,
    isBroken: () => context.browser()?.isConnected() === false
  }
  return tab
})
