import { Effect } from "effect"
import { ask } from "./Chromium.ts"
import { soldOut } from "./Names.ts"
import { type Accepts, find } from "./Press.ts"
import type { Tab } from "./Tab.ts"

/** As much of an element as is asked here. */
interface Placed {
  readonly ownerDocument: {
    querySelectorAll(selector: string): Iterable<Placed & { readonly textContent: string | null }>
  }
  readonly host?: Placed
  compareDocumentPosition(other: Placed): number
  getRootNode(): Placed
}
/** Runs in the page. Whether a control comes after the page's main heading, or there is none. */
const isBelowHeading = (control: Placed): boolean => {
  let placed = control
  // Between a shadow root and the page around it there is no order: what draws it has its place there.
  for (let { host } = placed.getRootNode(); host !== undefined; { host } = placed.getRootNode()) placed = host
  const heading = [...control.ownerDocument.querySelectorAll("h1")].find(
    ({ textContent }) => (textContent ?? "").trim() !== ""
  )
  return heading === undefined || (placed.compareDocumentPosition(heading) & 4) === 0
}
const ofProduct: Accepts = (control) => ask(() => control.evaluate(isBelowHeading))

/** The control that adds the page's product. What is recommended above its heading adds something else. */
export const findAdding = Effect.fnUntraced(function* (tab: Tab) {
  return (yield* find(tab.page, "addToCart", undefined, ofProduct)) ?? (yield* find(tab.page, "addToCart"))
})

/** Looked at of the controls that say that none is left. */
const mostGone = 12

/**
 * The control that stands in the place of the one that adds until a choice is made: it asks for the choice, or says that there is none
 * left of what was not chosen.
 */
export const findWaiting = Effect.fnUntraced(function* (tab: Tab) {
  const asking = yield* find(tab.page, "choiceFirst", ["button"])
  if (asking !== undefined) return asking
  const gone = tab.page.getByRole("button", { name: soldOut, disabled: true })
  const count = Math.min(yield* ask(() => gone.count()), mostGone)
  for (let index = 0; index < count; index++) {
    const control = gone.nth(index)
    if ((yield* ask(() => control.isVisible())) && (yield* ask(() => control.evaluate(isBelowHeading))))
      return { control, enabled: false }
  }
  return undefined
})
