import { readPage } from "#domain/page/Page.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { type Platform, platformOf } from "#domain/page/Platform.ts"
import { readSitemap, type Sitemap } from "#domain/page/Sitemap.ts"

/** A document to be read, as it is sent to a thread. */
export type Task =
  | { readonly _tag: "Page"; readonly html: string; readonly url: string }
  | {
      readonly _tag: "Platform"
      readonly html: string
      readonly metas: PageFacts["metas"]
      readonly headers: ReadonlyMap<string, string>
      readonly setCookies: ReadonlyArray<string>
    }
  | { readonly _tag: "Sitemap"; readonly text: string; readonly platform: string | null }

/** What a thread says: that it listens, or what it has read. */
export type Reply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Page"; readonly facts: PageFacts }
  | { readonly _tag: "Platform"; readonly platform: Platform | null }
  | { readonly _tag: "Sitemap"; readonly sitemap: Sitemap | undefined }

export const perform = (task: Task): Reply => {
  switch (task._tag) {
    case "Page":
      return { _tag: "Page", facts: readPage(task.html, new URL(task.url)) }
    case "Platform":
      return { _tag: "Platform", platform: platformOf(task, task.headers, task.setCookies, task.html) }
    case "Sitemap":
      return { _tag: "Sitemap", sitemap: readSitemap(task.text, task.platform) }
  }
}
