import { Context, Data, type Effect } from "effect"
import type { Document } from "#domain/page/Document.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import type { Platform } from "#domain/page/Platform.ts"
import type { Sitemap } from "#domain/page/Sitemap.ts"

/** A document that was not read, by our own limits: it took too long, too much memory, or too many wait. It says nothing about the site. */
export class PageUnread extends Data.TaggedError("PageUnread")<{ readonly reason: "Slow" | "Ended" | "Busy" }> {
  override get message() {
    return unreadSentences[this.reason]
  }
}
const unreadSentences = {
  Slow: "It takes longer to read than we give one page.",
  Ended: "It takes more memory to read than we give one page.",
  Busy: "Too many pages wait to be read."
} as const

/** What shows the platform of a site, beside the page itself. */
export interface PlatformSigns {
  readonly metas: PageFacts["metas"]
  readonly headers: ReadonlyMap<string, string>
  readonly setCookies: ReadonlyArray<string>
}

/** Reads strangers' documents where they hold up nobody: however bad one is, it costs its reader a bounded time and memory. */
export class PageReading extends Context.Service<
  PageReading,
  {
    page(html: string | Document, url: URL): Effect.Effect<PageFacts, PageUnread>
    platform(html: string | Document, signs: PlatformSigns): Effect.Effect<Platform | null, PageUnread>
    /** Undefined for anything else than a sitemap. */
    sitemap(text: string | Document, platform: string | null): Effect.Effect<Sitemap | undefined, PageUnread>
  }
>()("turnpike/services/PageReading") {}
