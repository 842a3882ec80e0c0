import { type Document, letGo, textOf } from "#domain/page/Document.ts"
import { readPage } from "#domain/page/Page.ts"
import type { PageFacts } from "#domain/page/PageFacts.ts"
import { type Platform, platformOf } from "#domain/page/Platform.ts"
import { readSitemap, type Sitemap } from "#domain/page/Sitemap.ts"

/** A document to be read, as it is sent to a thread. */
export type Task =
  | { readonly _tag: "Page"; readonly html: string | Document; readonly url: string }
  | {
      readonly _tag: "Platform"
      readonly html: string | Document
      readonly metas: PageFacts["metas"]
      readonly headers: ReadonlyMap<string, string>
      readonly setCookies: ReadonlyArray<string>
    }
  | { readonly _tag: "Sitemap"; readonly text: string | Document; readonly platform: string | null }

/** What a thread says: that it listens, or what it has read. */
export type Reply =
  | { readonly _tag: "Ready" }
  | { readonly _tag: "Page"; readonly facts: PageFacts }
  | { readonly _tag: "Platform"; readonly platform: Platform | null }
  | { readonly _tag: "Sitemap"; readonly sitemap: Sitemap | undefined }

/** The bytes are this thread's own copy. */
const wordsOf = (document: string | Document): string => {
  if (typeof document === "string") return document
  const text = textOf(document)
  letGo(document)
  return text
}

export const perform = (task: Task): Reply => {
  switch (task._tag) {
    case "Page":
      return { _tag: "Page", facts: readPage(wordsOf(task.html), new URL(task.url)) }
    case "Platform":
      return { _tag: "Platform", platform: platformOf(task, task.headers, task.setCookies, wordsOf(task.html)) }
    case "Sitemap":
      return { _tag: "Sitemap", sitemap: readSitemap(wordsOf(task.text), task.platform) }
  }
}
