import { Effect } from "effect"
import { isExtra, isNothing } from "#domain/AsideWords.ts"
import { isExtraControl } from "#domain/AsideForm.ts"
import type { PageControl } from "#domain/page/PageFacts.ts"
import { mustAgree } from "#domain/ShopperForm.ts"
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
  readonly required?: boolean
  readonly textContent: string | null
  readonly labels?: ArrayLike<{ readonly textContent: string | null; click(): void }> | null
  readonly form?: unknown
  readonly parentElement: unknown
  closest(selector: string): { querySelector(selector: string): { readonly textContent: string | null } | null } | null
  getAttribute(name: string): string | null
  click(): void
}

const most = 200

/** Runs in the page. `pressed` is the control that is to be pressed, if any is. */
const readBoxes = (boxes: ReadonlyArray<Box>, pressed: Pick<Box, "form"> | null) => {
  const groups: Array<{ readonly around: unknown; readonly name: string }> = []
  // Radio buttons of HTML are of a group by their form and name. Others, and those without a name, by what is around them.
  const groupOf = (box: Box) => {
    const name = box.type === "radio" ? (box.name ?? "") : ""
    const around = name === "" ? (box.closest("[role=radiogroup], fieldset") ?? box.parentElement) : (box.form ?? null)
    const at = groups.findIndex((group) => group.around === around && group.name === name)
    return at >= 0 ? at : groups.push({ around, name }) - 1
  }
  return boxes.slice(0, 200).map((box) => {
    const label = box.getAttribute("aria-label") ?? box.labels?.[0]?.textContent ?? box.textContent ?? ""
    const legend = box.closest("fieldset, [role=radiogroup]")?.querySelector("legend")?.textContent ?? ""
    return {
      type: box.type === "radio" || box.getAttribute("role") === "radio" ? "radio" : "checkbox",
      group: groupOf(box),
      name: box.name ?? "",
      id: box.id,
      value: box.value ?? label.trim(),
      label: label.replace(/\s+/g, " ").trim().slice(0, 300),
      legend: legend.replace(/\s+/g, " ").trim().slice(0, 300),
      isOn: box.checked ?? box.getAttribute("aria-checked") === "true",
      isOff: box.disabled === true || box.getAttribute("aria-disabled") === "true",
      isRequired: box.required === true || box.getAttribute("aria-required") === "true" || /\*\s*$/.test(label),
      isSent: pressed !== null && (box.form ?? null) === (pressed.form ?? null)
    }
  })
}
type BoxRead = ReturnType<typeof readBoxes>[number]

const takesNothing = ({ label, value }: BoxRead): boolean => isNothing({ text: label, value })

/** The choice of the same group that takes nothing, or else the first that takes nothing beside the purchase. */
const otherOf = (all: ReadonlyArray<BoxRead>, ticked: BoxRead): number => {
  const isOther = (box: BoxRead) => box.type === "radio" && box.group === ticked.group && box !== ticked && !box.isOff
  const nothing = all.findIndex((box) => isOther(box) && takesNothing(box))
  return nothing >= 0 || !isExtra(ticked.label) ? nothing : all.findIndex((box) => isOther(box) && !isExtra(box.label))
}

/** Whether what is chosen of several takes something beside the purchase. Where each of them says so, it is what is sold. */
const isChosenBeside = (all: ReadonlyArray<BoxRead>, box: BoxRead): boolean =>
  !takesNothing(box) &&
  (isExtra(`${box.name} ${box.id}`) || isExtra(box.legend) || (isExtra(box.label) && otherOf(all, box) >= 0))

const asControl = (box: BoxRead): PageControl => ({
  tag: "input",
  type: box.type,
  name: box.name,
  id: box.id,
  value: box.value,
  label: box.label,
  autocomplete: null,
  required: box.isRequired,
  checked: box.isOn,
  disabled: box.isOff,
  options: []
})

/** Whether what is ticked buys, gives or agrees to something beside the purchase. What a shop wants agreed to is no extra. */
const isBeside = (all: ReadonlyArray<BoxRead>, box: BoxRead): boolean =>
  box.type === "radio" ? isChosenBeside(all, box) : isExtraControl(asControl(box)) && !mustAgree(asControl(box))

const kinds = "input[type=checkbox], input[type=radio], [role=checkbox], [role=switch], [role=radio]"

/** Boxes are often drawn by something else than themselves, so they are pressed as a script would where they cannot be seen. */
const press = (box: Locator) =>
  ask(() => box.click({ timeout: 800 }).catch(() => box.evaluate((element: Box) => element.click())))

/**
 * Takes back what a page has ticked by itself beside the purchase: letters, accounts, gifts, insurance. What stays ticked all the same is
 * told, and nothing may be sent with it.
 */
export const untick = Effect.fnUntraced(function* (tab: Tab) {
  const boxes = tab.page.locator(kinds)
  const read = yield* ask(() => boxes.evaluateAll(readBoxes, null))
  const ticked = [...read.entries()].filter(([, box]) => box.isOn && !box.isOff && isBeside(read, box)).slice(0, most)
  if (ticked.length === 0) return undefined
  for (const [at, box] of ticked) {
    const target = box.type === "radio" ? otherOf(read, box) : at
    if (target >= 0) yield* press(boxes.nth(target))
  }
  yield* tab.quiet
  const after = yield* ask(() => boxes.evaluateAll(readBoxes, null))
  const left = after.find((box) => box.isOn && !box.isOff && isBeside(after, box))
  return left === undefined ? undefined : left.label || left.name || "a box without a label"
})

/**
 * Ticks what has to be agreed to before this control is pressed: the terms of the sale and how data are kept, of the same form. Whether
 * there was any.
 */
export const agree = Effect.fnUntraced(function* (tab: Tab, control: Locator) {
  const boxes = tab.page.locator(kinds)
  const pressed = yield* ask(() => control.elementHandle())
  const read = yield* ask(() => boxes.evaluateAll(readBoxes, pressed))
  const wanted = [...read.entries()].filter(
    ([, box]) => box.isSent && !box.isOn && !box.isOff && mustAgree(asControl(box))
  )
  for (const [at] of wanted) yield* press(boxes.nth(at))
  if (wanted.length > 0) yield* tab.quiet
  return wanted.length > 0
})
