import { Effect } from "effect"
import type { Frame, Locator, Page } from "playwright-core"
import { isOrderingId } from "#domain/Deeds.ts"
import { mayOrder } from "#domain/OrderingWords.ts"
import { asksAge } from "#domain/page/Walls.ts"
import { ask, type BrowserFailed, longestName, shownText } from "./Chromium.ts"
import { aboutCookies, allowed, type Purpose } from "./Names.ts"
import { isAside } from "./OptionNames.ts"

/** An option of a product has a short name, and none that a command would have. Coffee comes in a "12 oz bag", and milk in a carton. */
const command =
  /^\s*[+\-−–]\s*$|wish|favou?rit|compare|share|guide|charts?(?!\p{L})|zoom|next|previous|(?<!\p{L})more(?!\p{L})|log ?in|sign ?in|close|menu|search|review|notify|panier|warenkorb|(?:to|in|view|my|your|the|shopping)[\s_-]?(?:cart|bag|basket)(?!\p{L})|^\P{L}*(?:cart|bag|basket)\P{L}*$/iu
/** An answer to a question is none either. */
const answer =
  /^\W*(?:yes|no|like|ja|nein|oui|non|sí|sì|si|sim|não|nee|nej|nei|kyllä|ei|tak|nie|ano|ne|evet|hayır|да|нет|はい|いいえ|是|否|예|아니요)\W*$/iu
const isOption = (name: string) =>
  name.length > 0 && name.length <= 40 && !command.test(name) && !answer.test(name) && !isAside(name)

/** Whether a control of this name may place an order or pay: by the same words as for forms. */
export const isOrder = (name: string): boolean => mayOrder(name)

/** Whether a control that has these names may be pressed for this. One name that orders outweighs all others. */
export const mayPress = (names: ReadonlyArray<string>, purpose: Purpose | "option"): boolean =>
  !names.some(isOrder) && names.some((name) => (purpose === "option" ? isOption(name) : allowed[purpose].test(name)))

/** Everything that a control is called: its text, its label, its title, its value. */
export const namesOf = (control: Locator): Effect.Effect<ReadonlyArray<string>, BrowserFailed> =>
  Effect.map(
    ask(() =>
      Promise.all([
        shownText(control).catch(() => ""),
        control.getAttribute("aria-label"),
        control.getAttribute("title"),
        control.getAttribute("value")
      ])
    ),
    (names) =>
      names
        .map((name) =>
          (name ?? "")
            .slice(0, 10 * longestName)
            .replace(/[\s\p{Co}]+/gu, " ")
            .trim()
            .slice(0, 200)
        )
        .filter((name) => name !== "")
  )

/** Looked at of each kind of control. */
const mostControls = 12

/** Whether a control of these names is one of those that are looked for. */
export type Accepts = (control: Locator, names: ReadonlyArray<string>) => Effect.Effect<boolean, BrowserFailed>
const anyOne: Accepts = () => Effect.succeed(true)

/** Of an element what tells where it stands. */
interface Placed {
  readonly scrollLeft: number
  readonly scrollTop: number
  readonly parentElement: Placed | null
  readonly host?: Placed
  getBoundingClientRect(): { readonly right: number; readonly bottom: number }
  getRootNode(): Placed
  readonly ownerDocument: {
    readonly defaultView: { getComputedStyle(element: unknown): { readonly direction: string } } | null
    readonly documentElement: unknown
    readonly body: unknown
  }
}

/**
 * Runs in the page. Whether a control stands where somebody may scroll to: what is above a page, or before where its lines begin, is drawn
 * and cannot be pressed. Such are closed drawers, and traps for programs. Parts of a page may be scrolled as well as the whole.
 */
const isReachable = (control: Placed): boolean => {
  const { body, defaultView: view, documentElement: root } = control.ownerDocument
  if (view === null) return false
  let { bottom, right } = control.getBoundingClientRect()
  let box: Placed | null | undefined = control.parentElement ?? control.getRootNode().host
  while (box) {
    bottom += box.scrollTop
    right += box.scrollLeft
    box = box.parentElement ?? box.getRootNode().host
  }
  // CSS Writing Modes: a page begins where the lines of its body do, whatever the element around that says.
  const isFromLeft = view.getComputedStyle(body ?? root).direction !== "rtl"
  return bottom > 0 && (!isFromLeft || right > 0)
}

/** The first control that may be pressed for this and can be seen; one that is disabled only when no other is there. */
export const find = Effect.fnUntraced(function* (
  within: Page | Frame | Locator,
  purpose: Purpose,
  roles: ReadonlyArray<"button" | "link"> = ["button", "link"],
  accepts: Accepts = anyOne
) {
  let disabled: Locator | undefined
  for (const role of roles) {
    const found = within.getByRole(role, { name: allowed[purpose] })
    const count = Math.min(yield* ask(() => found.count()), mostControls)
    for (let index = 0; index < count; index++) {
      const control = found.nth(index)
      if (!(yield* ask(() => control.isVisible())) || !(yield* ask(() => control.evaluate(isReachable)))) continue
      const names = yield* namesOf(control)
      if (!mayPress(names, purpose) || !(yield* accepts(control, names))) continue
      if (yield* ask(() => control.isEnabled())) return { control, enabled: true }
      disabled ??= control
    }
  }
  return disabled === undefined ? undefined : { control: disabled, enabled: false }
})

/** Whether a control orders by its id, whatever it is called. */
export const ordersById = (control: Locator): Effect.Effect<boolean, BrowserFailed> =>
  Effect.map(
    ask(() => control.getAttribute("id")),
    (id) => isOrderingId(id ?? "")
  )

/** The only way by which anything is pressed. False when it may not be, and then nothing was. */
export const press = Effect.fnUntraced(function* (control: Locator, purpose: Purpose | "option") {
  if (!mayPress(yield* namesOf(control), purpose) || (yield* ordersById(control))) return false
  yield* ask(() => control.click())
  return true
})

/** As much of an element as is asked here. */
interface Boxed {
  readonly textContent: string | null
  readonly parentElement: Boxed | null
  readonly host?: Boxed
  closest(selector: string): Boxed | null
  matches(selector: string): boolean
  querySelector(selector: string): unknown
  getRootNode(): Boxed
}

/** Runs in the page. What the boxes around a button say, from the innermost, within its part of the page; of one whose form asks for something nothing. */
const readBoxesAround = (button: Boxed) => {
  const written = "input:not([type=hidden], [type=checkbox], [type=radio], [type=submit], [type=button]), textarea"
  if (button.closest("form")?.querySelector(written)) return []
  const texts: Array<string> = []
  let box: Boxed | null | undefined = button
  while (box && texts.length < 12 && !box.matches("body, html") && !box.querySelector("h1, main, nav, footer")) {
    texts.push((box.textContent ?? "").slice(0, 5000))
    box = box.parentElement ?? box.getRootNode().host
  }
  return texts
}

/** Whether a button stands in a box that asks about cookies, and not how old somebody is. */
const isOfCookies: Accepts = (control) =>
  Effect.map(
    ask(() => control.evaluate(readBoxesAround)),
    (texts) => {
      const said = texts.find((text) => aboutCookies.test(text))
      return said !== undefined && !asksAge.test(said)
    }
  )

/** Presses away what lies over a page about cookies. */
export const pressAway = Effect.fnUntraced(function* (page: Page) {
  for (const purpose of ["refuseCookies", "acceptCookies"] as const) {
    const found = yield* find(page, purpose, ["button"], isOfCookies)
    if (found?.enabled === true) return yield* press(found.control, purpose)
  }
  return false
})
