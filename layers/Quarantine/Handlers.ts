import { Effect, Scope } from "effect"
import type { Document } from "#domain/page/Document.ts"
import * as FairTurns from "#services/FairTurns.ts"
import { PageReading } from "#services/PageReading.ts"
import type { Reply, Task } from "../PageReading/Task.ts"
import type { Handlers } from "./Calls.ts"

/** What came shares its memory with the message that brought it. */
const ofItsOwn = (document: string | Document): string | Document =>
  typeof document === "string" ? document : { ...document, bytes: document.bytes.slice() }

const readIn = (pages: PageReading["Service"]) => (task: Task) => {
  switch (task._tag) {
    case "Page":
      return Effect.map(pages.page(ofItsOwn(task.html), new URL(task.url)), (facts): Reply => ({ _tag: "Page", facts }))
    case "Platform":
      return Effect.map(
        pages.platform(ofItsOwn(task.html), task),
        (platform): Reply => ({ _tag: "Platform", platform })
      )
    case "Sitemap":
      return Effect.map(
        pages.sitemap(ofItsOwn(task.text), task.platform),
        (sitemap): Reply => ({ _tag: "Sitemap", sitemap })
      )
  }
}

/** Everything that is asked, done here; `chromium` is the program of the browser; empty where there is none. */
export const make = Effect.fnUntraced(function* (chromium: string) {
  const pages = yield* PageReading
  // Two fifths of this process and of the time to start it, which most scans need not have. Whoever wants the first visit may go away.
  const visits = yield* Effect.promise(() => import("./Visits.ts")).pipe(
    Effect.flatMap(({ make }) => make(chromium, pages)),
    Scope.provide(yield* Effect.scope),
    Effect.uninterruptible,
    Effect.cached
  )
  const made: Handlers = {
    read: (task, owner) =>
      readIn(pages)(task).pipe(
        Effect.provideService(FairTurns.Owner, owner),
        Effect.catch(({ reason }) => Effect.succeed({ _tag: "Unread" as const, reason }))
      ),
    open: (...args) => Effect.flatMap(visits, ({ open }) => open(...args)),
    close: (...args) => Effect.flatMap(visits, ({ close }) => close(...args)),
    show: (...args) => Effect.flatMap(visits, ({ show }) => show(...args)),
    later: (...args) => Effect.flatMap(visits, ({ later }) => later(...args)),
    cart: (...args) => Effect.flatMap(visits, ({ cart }) => cart(...args)),
    checkout: (...args) => Effect.flatMap(visits, ({ checkout }) => checkout(...args)),
    payment: (...args) => Effect.flatMap(visits, ({ payment }) => payment(...args)),
    cleanUp: (...args) => Effect.flatMap(visits, ({ cleanUp }) => cleanUp(...args))
  }
  return made
})
