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

/**
 * A page's HTML without what is not to be seen: a checkout often holds all its steps, and shows one. A box or a button that is drawn by
 * its label is seen where that is.
 */
const shown = `(() => {
  const copy = document.documentElement.cloneNode(true)
  const kept = new Set(["HTML", "HEAD", "BODY", "OPTION", "OPTGROUP", "SOURCE", "TRACK", "BR", "WBR"])
  const flat = (one) => one.clientHeight === 0 && one.childElementCount > 0 && getComputedStyle(one).overflowY !== "visible" && getComputedStyle(one).display === "block"
  // What has no box of its own is seen by what it holds.
  const boxless = (one) => getComputedStyle(one).display === "contents"
  const isSeen = (one) => (boxless(one) || one.checkVisibility({ visibilityProperty: true })) && !one.closest("[inert]") && !flat(one)
  const isDrawn = (one) => isSeen(one) || (one.matches("input") && [...(one.labels ?? []), one.parentElement].some((near) => near && isSeen(near)))
  const copies = copy.querySelectorAll("*")
  const gone = []
  document.documentElement.querySelectorAll("*").forEach((one, at) => {
    if (!kept.has(one.tagName) && !one.closest("head, svg") && !isDrawn(one)) gone.push(copies[at])
  })
  for (const one of gone) one?.remove()
  return copy.outerHTML
})()`

export const shownHtmlOf = (page: Page) => taken(page, shown, most.html)
