import { Effect } from "effect"
import type { Page } from "playwright-core"
import { ask } from "./Chromium.ts"
import { type Reading, readComposed } from "./Composed.ts"

/** How much of a page is taken from the browser, in characters. */
const most = { html: 3_000_000, text: 200_000 } as const

/** Cut in the browser: what a page has become may be larger than this server. A page may also have changed what is asked here. */
const taken = (page: Page, of: string, { what }: Reading, length: number) =>
  Effect.map(
    ask(() =>
      page.evaluate<unknown>(
        `String(${of} ? (${String(readComposed)})(${of}, { what: "${what}" }) : "").slice(0, ${length})`
      )
    ),
    (said) => (typeof said === "string" ? said.slice(0, length) : "")
  )

/** A page's HTML as it stands now. */
export const htmlOf = (page: Page) => taken(page, "document.documentElement", { what: "html" }, most.html)

/** What a person sees of a page, line by line. */
export const textOf = (page: Page) => taken(page, "document.body", { what: "text" }, most.text)

/**
 * A page's HTML without what is not to be seen: a checkout often holds all its steps, and shows one. A box or a button that is drawn by
 * its label is seen where that is.
 */
export const shownHtmlOf = (page: Page) => taken(page, "document.documentElement", { what: "shown" }, most.html)
