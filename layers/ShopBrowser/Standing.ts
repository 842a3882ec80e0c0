import type { Effect } from "effect"
import type { ElementHandle, Locator } from "playwright-core"
import { ask, type BrowserFailed } from "./Chromium.ts"

/** Where a group of options stands, seen from the control that adds to the cart, and all that the page calls it. */
export interface Standing {
  /** Its label and its legend. */
  readonly said: string
  /** What stands before it, which may be of something else. */
  readonly before: string
  /** Its names, classes and data in the page's source, those of its options and of what is closest around it. */
  readonly source: string
  /** In the form of the control, or in the box around it. */
  readonly isNear: boolean
  /** Before the control on the page, as options are. */
  readonly isBefore: boolean
  /** In another form, or in a menu, a dialog or the foot of the page. */
  readonly isElsewhere: boolean
}

/** As much of an element as is asked here. */
interface Element {
  readonly tagName: string
  readonly textContent: string | null
  readonly parentElement: Element | null
  readonly previousElementSibling: Element | null
  readonly attributes: ArrayLike<{ readonly name: string; readonly value: string }>
  readonly labels?: ArrayLike<Element> | null
  readonly form?: Element | null
  readonly ownerDocument: { getElementById(id: string): Element | null }
  closest(selector: string): Element | null
  contains(other: Element): boolean
  compareDocumentPosition(other: Element): number
  querySelector(selector: string): Element | null
  querySelectorAll(selector: string): ArrayLike<Element>
  getAttribute(name: string): string | null
}

const mostGroups = 60

/** Runs in the page, so it has no name but its own. */
const readStandings = (
  groups: ReadonlyArray<Element>,
  { control, most }: { readonly control: Element; readonly most: number }
): ReadonlyArray<Standing> =>
  groups.slice(0, most).map((group) => {
    const textOf = (element: Element | null | undefined) =>
      /^(?:script|style|template)$/i.test(element?.tagName ?? "")
        ? ""
        : (element?.textContent ?? "").replace(/\s+/g, " ").trim()
    const labelled = (group.getAttribute("aria-labelledby") ?? "")
      .split(/\s+/)
      .map((id) => (id === "" ? "" : textOf(group.ownerDocument.getElementById(id))))
    const fieldset = group.closest("fieldset")
    const isOption = group.tagName === "INPUT"
    const said = [
      group.getAttribute("aria-label") ?? "",
      ...labelled,
      isOption ? "" : textOf(group.labels?.[0]),
      fieldset?.contains(control) === true ? "" : textOf(fieldset?.querySelector("legend")),
      group.closest("[role=radiogroup], [role=group]")?.getAttribute("aria-label") ?? ""
    ]
    let words = ""
    let outer: Element | null = group
    for (let level = 0; words === "" && outer !== null && level < 4 && !outer.contains(control); level++) {
      let before = outer.previousElementSibling
      while (before !== null && textOf(before) === "") before = before.previousElementSibling
      words = textOf(before)
      outer = outer.parentElement
    }
    const sources: Array<string> = []
    const named = /^(?:id|class|name|data-.*)$/
    const add = (element: Element) => {
      for (const { name, value } of Array.from(element.attributes).slice(0, 40))
        if (named.test(name)) sources.push(/[[{]/.test(value) ? name : `${name} ${value.slice(0, 100)}`)
    }
    let around: Element | null = group
    for (let level = 0; around !== null && level < 3 && !around.contains(control); level++) {
      add(around)
      around = around.parentElement
    }
    for (const inner of Array.from(group.querySelectorAll("button, [role=radio], [role=option], label")).slice(0, 3))
      add(inner)
    const form = control.form ?? control.closest("form")
    const own = group.form ?? group.closest("form")
    let box: Element | null = control.parentElement
    for (let level = 0; level < 2; level++) {
      const wider: Element | null | undefined = box?.parentElement
      if (wider === null || wider === undefined || wider.closest("div, section, article, li, form, td") !== wider) break
      box = wider
    }
    const beside = group.closest("nav, footer, dialog, [role=dialog], body > header")
    const isBox = box !== null && box.closest("main, body") !== box
    return {
      said: said
        .filter((words) => words !== "")
        .join("\n")
        .slice(0, 600),
      before: words.slice(-120),
      source: sources.join(" ").slice(0, 3_000),
      isNear: (form !== null && own === form) || (isBox && box?.contains(group) === true),
      // DOCUMENT_POSITION_PRECEDING
      isBefore: (control.compareDocumentPosition(group) & 2) !== 0,
      // A form without a button of its own may hold the choices of a control that stands in none.
      isElsewhere:
        (own !== null &&
          own !== form &&
          (form !== null || own.querySelector("button:not([type=button]), input[type=submit]") !== null)) ||
        (beside !== null && !beside.contains(control))
    }
  })

/** The control that adds to the cart, as a page's script sees it. */
export type Handle = ElementHandle

export const handleOf = (control: Locator): Effect.Effect<Handle, BrowserFailed> => ask(() => control.elementHandle())

/** How groups of options stand to the control that adds to the cart, in their order; of too many the first. */
export const standingsOf = (
  groups: Locator,
  control: Handle,
  most = mostGroups
): Effect.Effect<ReadonlyArray<Standing>, BrowserFailed> =>
  ask(() => groups.evaluateAll(readStandings, { control, most }))
