import { Deferred, Effect } from "effect"
import { ScannerUnavailable } from "#domain/ScannerRefusal.ts"
import type { PageReading, PageUnread } from "../PageReading.ts"

/** Seconds in which what waits to be read is read or given up. */
const retryAfter = 8

/**
 * Runs what reads pages. That too many of them wait is our own trouble and says nothing about any site, so it ends the run, whatever that
 * would have made of it.
 */
export const unlessBusy = Effect.fnUntraced(function* <A, E, R>(
  pages: PageReading["Service"],
  run: (pages: PageReading["Service"]) => Effect.Effect<A, E, R>
) {
  const overload = yield* Deferred.make<never, ScannerUnavailable>()
  const unavailable = new ScannerUnavailable({ reason: "Busy", retry_after: retryAfter })
  const heeded = <B>(reading: Effect.Effect<B, PageUnread>) =>
    Effect.catchIf(
      reading,
      ({ reason }) => reason === "Busy",
      () => Effect.andThen(Deferred.fail(overload, unavailable), Effect.never)
    )
  const heeding: PageReading["Service"] = {
    page: (html, url) => heeded(pages.page(html, url)),
    platform: (html, signs) => heeded(pages.platform(html, signs)),
    sitemap: (text, platform) => heeded(pages.sitemap(text, platform))
  }
  return yield* Effect.raceFirst(run(heeding), Deferred.await(overload))
})
