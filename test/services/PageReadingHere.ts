import { Effect, Layer } from "effect"
import { type Document, textOf } from "#domain/page/Document.ts"
import { readPage } from "#domain/page/Page.ts"
import { platformOf } from "#domain/page/Platform.ts"
import { readSitemap } from "#domain/page/Sitemap.ts"
import { PageReading } from "#services/PageReading.ts"

const wordsOf = (document: string | Document) => (typeof document === "string" ? document : textOf(document))

/** Reads in the thread of the test, for tests of what is made of the facts. */
export const layer = Layer.succeed(PageReading, {
  page: (html, url) => Effect.sync(() => readPage(wordsOf(html), url)),
  platform: (html, { headers, metas, setCookies }) =>
    Effect.sync(() => platformOf({ metas }, headers, setCookies, wordsOf(html))),
  sitemap: (text, platform) => Effect.sync(() => readSitemap(wordsOf(text), platform))
})
