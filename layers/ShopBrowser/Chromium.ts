import { Clock, Effect, RcRef, Schema, Semaphore } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, BrowserContext, BrowserContextOptions, Locator } from "playwright-core"
import { realTime } from "#services/RealTime.ts"
import { commandLine, parentOf, processes, signal } from "../EmbeddedPostgres/Processes.ts"
import { watchDetours } from "./Detours.ts"
import { readComposed } from "./Composed.ts"
import * as Memory from "./Memory.ts"

/** The browser cannot be asked, or did not answer. It says nothing about the site. `message` is a sentence that anybody may read. */
export class BrowserFailed extends Schema.TaggedError<BrowserFailed>()("BrowserFailed", {
  reason: Schema.Literals(["NotStarted", "Ended", "Slow", "Unreachable", "Busy"]),
  message: Schema.String
}) {}

/** How many contexts are open at once, how many one process serves, and how long it waits for another. */
const contextsAtOnce = 2
const contextsPerProcess = 50
const idleTime = "60 seconds"
/** How often the pages of one context may ask, what they are made of included. Well before that nothing more of it leaves. */
const mostAsked = 6_000
/** Longest wait for a turn, for a start, and for an end. */
const patience = { turn: "60 seconds", start: 15_000, end: "5 seconds" } as const

/**
 * Nothing of the browser's own goes out: what it asks for itself meets a proxy that is not there, and every context has its own.
 * Names are never resolved here but by that proxy, and nothing leaves by UDP.
 */
const nowhere = "http://127.0.0.1:9"
const switches = (marker: string) => [
  marker,
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--no-pings",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-domain-reliability",
  "--disable-sync",
  "--disable-breakpad",
  // What such a worker asks for is past every route, as it is of no page; so is what a way to log in asks for.
  "--disable-blink-features=SharedWorker,FedCm",
  "--dns-prefetch-disable",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--renderer-process-limit=4",
  "--js-flags=--max-old-space-size=256"
]

const marked = (marker: string) => () =>
  processes().filter((pid) => parentOf(pid) === process.pid && commandLine(pid).includes(marker))

/** Ends a process that does not end when it is asked to, with all that it started: it leads a group. */
const kill = (marker: string) =>
  Effect.sync(() => {
    for (const pid of marked(marker)()) signal(-pid, "SIGKILL")
  })

/** What keeps the browser from starting is for the log, not for everybody. */
export const doesNotStart = ({ cause }: { readonly cause?: unknown }) =>
  Effect.andThen(
    Effect.logWarning("The browser does not start", cause),
    new BrowserFailed({ reason: "NotStarted", message: "The browser of this server does not start." })
  )

const sentence = (cause: unknown): BrowserFailed => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const net = /net::(ERR_[A-Z_]+)/.exec(text)?.[1]
  if (net !== undefined) return new BrowserFailed({ reason: "Unreachable", message: `The page did not load (${net}).` })
  if (cause instanceof Error && cause.name === "TimeoutError")
    return new BrowserFailed({ reason: "Slow", message: "The page did not answer in time." })
  if (/crashed/i.test(text))
    return new BrowserFailed({ reason: "Ended", message: "The page took more than a browser gives it, and ended." })
  return new BrowserFailed({ reason: "Ended", message: "The page or the browser ended." })
}

/** Asks the browser something. */
export const ask = <A>(question: () => Promise<A>): Effect.Effect<A, BrowserFailed> =>
  Effect.tryPromise({ try: question, catch: sentence })

/** How much is read of what something is called: a page may call it by megabytes, and everybody of this process waits for who reads those. */
export const longestName = 300

/** The words of an element as they are drawn, line by line. */
export const shownText = (element: Locator): Promise<string> =>
  element.evaluate(readComposed, { what: "text" } as const)

/** One process, with how many contexts it has served. */
interface Running {
  readonly browser: Browser
  served: number
  /** How often the pages of each context have asked, and how often they may. */
  readonly asked: Map<BrowserContext, { now: number; most: number }>
}

const close = (browser: Browser, marker: string, home: string) =>
  Effect.ignore(ask(() => browser.close())).pipe(
    Effect.timeoutOption(patience.end),
    Effect.andThen(kill(marker)),
    Effect.andThen(Effect.sync(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))),
    Effect.provideService(Clock.Clock, realTime)
  )

const start = Effect.fnUntraced(function* (path: string) {
  const home = yield* Effect.acquireRelease(
    Effect.catchTag(
      Effect.try(() => mkdtempSync(join(tmpdir(), "turnpike-browser-"))),
      "UnknownError",
      doesNotStart
    ),
    (home) => Effect.sync(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }))
  )
  const marker = `--turnpike-home=${home}`
  // The library takes tens of megabytes, which a server that tests nothing need not have.
  const launch = Effect.gen(function* () {
    const { chromium } = yield* Effect.tryPromise(() => import("playwright-core"))
    const options = {
      executablePath: path,
      headless: true,
      args: switches(marker),
      proxy: { server: nowhere },
      // Root may not have the sandbox; everybody else keeps it.
      chromiumSandbox: process.getuid?.() !== 0,
      // What we know is not for a browser that runs strangers' scripts.
      env: { PATH: "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8" },
      timeout: patience.start,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false
    }
    return yield* Effect.tryPromise((waiting) =>
      // One that stands when nobody waits for it any more is closed.
      chromium.launch(options).then((browser) => (waiting.aborted ? browser.close().then(() => browser) : browser))
    )
  }).pipe(
    Effect.catchTag("UnknownError", doesNotStart),
    // A program that does not come up would hold a server that stops for as long as it may take.
    Effect.onInterrupt(() => kill(marker))
  )
  const browser = yield* Effect.acquireRelease(launch, (browser) => close(browser, marker, home), {
    interruptible: true
  })
  yield* ask(() => watchDetours(browser))
  const running: Running = { browser, served: 0, asked: new Map() }
  const isFlooded = () => {
    const flooding = [...running.asked.values()].filter(({ most, now }) => now > most)
    // What was asked before the page ended goes on to arrive for a while.
    for (const count of flooding) count.most = count.now * 8
    return flooding.length > 0
  }
  for (const root of marked(marker)()) yield* Memory.bound({ root, isFlooded, endAll: kill(marker) })
  return running
})

/** One process for everybody, started when it is needed and closed when it is not; contexts of their own for each. */
export const make = Effect.fnUntraced(function* (path: string) {
  const process = yield* RcRef.make({ acquire: start(path), idleTimeToLive: idleTime })
  const turns = yield* Semaphore.make(contextsAtOnce)
  const turn = turns.takeScoped(1).pipe(
    Effect.timeoutOrElse({
      duration: patience.turn,
      orElse: () => new BrowserFailed({ reason: "Busy", message: "The browser of this server is busy." })
    }),
    Effect.provideService(Clock.Clock, realTime)
  )

  /** A process that lives. The next one starts beside one that has served its time while that finishes what it has. */
  const current = Effect.fnUntraced(function* () {
    for (const _ of ["as it is", "started again"]) {
      const running = yield* RcRef.get(process)
      if (running.browser.isConnected()) return running
      yield* RcRef.invalidate(process)
    }
    return yield* new BrowserFailed({ reason: "Ended", message: "The browser of this server ended." })
  })

  const contextOf = (running: Running, options: BrowserContextOptions) =>
    ask(() => running.browser.newContext(options)).pipe(
      Effect.timeoutOrElse({
        duration: patience.start,
        orElse: () => new BrowserFailed({ reason: "Slow", message: "The browser of this server does not answer." })
      }),
      Effect.provideService(Clock.Clock, realTime),
      // Whatever ails it, the next visit gets another.
      Effect.tapError(() => RcRef.invalidate(process))
    )
  const counted = (running: Running, context: BrowserContext) => {
    const count = { now: 0, most: mostAsked }
    running.asked.set(context, count)
    context.on("request", () => {
      count.now++
    })
    return context
  }
  const closed = (running: Running) => (context: BrowserContext) =>
    Effect.ignore(ask(() => context.close())).pipe(
      Effect.timeoutOption(patience.end),
      Effect.andThen(Effect.sync(() => running.asked.delete(context))),
      Effect.provideService(Clock.Clock, realTime)
    )

  /** A context for the length of the scope. */
  const open = Effect.fnUntraced(function* (options: BrowserContextOptions) {
    yield* turn
    const running = yield* current()
    if (++running.served >= contextsPerProcess) yield* RcRef.invalidate(process)
    const context = Effect.map(contextOf(running, options), (context) => counted(running, context))
    return yield* Effect.acquireRelease(context, closed(running), { interruptible: true })
  })
  return { open }
})
