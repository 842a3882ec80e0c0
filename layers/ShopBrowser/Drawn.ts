import { Effect } from "effect"
import type { Page } from "playwright-core"
import { ask } from "./Chromium.ts"

/** How much of a page is taken from the browser, in characters. */
const most = { html: 3_000_000, text: 200_000 } as const

/** Cut in the browser: what a page has become may be larger than this server. A page may also have changed what is asked here. */
const taken = (page: Page, of: string, length: number) =>
  Effect.map(
    ask(() => page.evaluate<unknown>(`String(${of} ?? "").slice(0, ${length})`)),
    (said) => (typeof said === "string" ? said.slice(0, length) : "")
  )

/** A page's HTML as it stands now. */
export const htmlOf = (page: Page) => taken(page, "document.documentElement?.outerHTML", most.html)

/** What a person sees of a page, line by line. */
export const textOf = (page: Page) => taken(page, "document.body?.innerText", most.text)
