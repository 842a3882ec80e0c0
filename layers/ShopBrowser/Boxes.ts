import { Effect } from "effect"
import { isExtra, isNothing } from "#domain/AsideWords.ts"
import { isExtraControl } from "#domain/AsideForm.ts"
import type { Locator } from "playwright-core"
import { ask } from "./Chromium.ts"
import type { Tab } from "./Tab.ts"

/** As much of a box as is asked here. */
interface Box {
  readonly type?: string
  readonly name?: string
  readonly id: string
  readonly value?: string
  readonly checked?: boolean
  readonly disabled?: boolean
  readonly textContent: string | null
  readonly labels?: ArrayLike<{ readonly textContent: string | null; click(): void }> | null
  readonly form?: { readonly id: string } | null
  closest(selector: string): { querySelector(selector: string): { readonly textContent: string | null } | null } | null
  getAttribute(name: string): string | null
  click(): void
}

const most = 200

/** Runs in the page. */
const readBoxes = (boxes: ReadonlyArray<Box>) =>
  boxes.slice(0, 200).map((box) => {
    const label = box.getAttribute("aria-label") ?? box.labels?.[0]?.textContent ?? box.textContent ?? ""
    const legend = box.closest("fieldset, [role=radiogroup]")?.querySelector("legend")?.textContent ?? ""
    return {
      type: box.type === "radio" ? "radio" : "checkbox",
      name: box.name ?? "",
      id: box.id,
      value: box.value ?? "",
      label: label.replace(/\s+/g, " ").trim().slice(0, 300),
      legend: legend.replace(/\s+/g, " ").trim().slice(0, 300),
      isOn: box.checked ?? box.getAttribute("aria-checked") === "true",
      isOff: box.disabled === true
    }
  })
type BoxRead = ReturnType<typeof readBoxes>[number]

/** Whether what is ticked buys, gives or agrees to something beside the purchase. */
const isBeside = ({ id, label, legend, name, type, value }: BoxRead): boolean =>
  type === "radio"
    ? (isExtra(`${name} ${id}`) || isExtra(legend)) && !isNothing({ text: label, value })
    : isExtraControl({
        tag: "input",
        type,
        name,
        id,
        value,
        label,
        autocomplete: null,
        required: false,
        checked: true,
        disabled: false,
        options: []
      })

/** Boxes are often drawn by something else than themselves, so they are pressed as a script would where they cannot be seen. */
const press = (box: Locator) =>
  ask(() => box.click({ timeout: 800 }).catch(() => box.evaluate((element: Box) => element.click())))

/** The choice of the same group that takes nothing. */
const nothingOf = (all: ReadonlyArray<BoxRead>, ticked: BoxRead): number =>
  all.findIndex(
    (box) =>
      box.type === "radio" && box.name === ticked.name && !box.isOff && isNothing({ text: box.label, value: box.value })
  )

/**
 * Takes back what a page has ticked by itself beside the purchase: letters, accounts, gifts, insurance. What stays ticked all the same is
 * told, and nothing may be sent with it.
 */
export const untick = Effect.fnUntraced(function* (tab: Tab) {
  const boxes = tab.page.locator("input[type=checkbox], input[type=radio], [role=checkbox], [role=switch]")
  const read = yield* ask(() => boxes.evaluateAll(readBoxes))
  const ticked = [...read.entries()].filter(([, box]) => box.isOn && !box.isOff && isBeside(box)).slice(0, most)
  if (ticked.length === 0) return undefined
  for (const [at, box] of ticked) {
    const target = box.type === "radio" ? nothingOf(read, box) : at
    if (target >= 0) yield* press(boxes.nth(target))
  }
  yield* tab.quiet
  const after = yield* ask(() => boxes.evaluateAll(readBoxes))
  const left = after.find((box) => box.isOn && !box.isOff && isBeside(box))
  return left === undefined ? undefined : left.label || left.name || "a box without a label"
})
