import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { isInvitation } from "#domain/FormChoice.ts"
import { mayOrder } from "#domain/OrderingWords.ts"
import type { Candidate } from "#services/ShoppingEngine/Rail.ts"
import { ask, longestName } from "./Chromium.ts"
import { callsChoice, isAside, marksChoice } from "./OptionNames.ts"
import { mayPress, namesOf, press } from "./Press.ts"
import { type Handle, handleOf, type Standing, standingsOf } from "./Standing.ts"
import type { Tab } from "./Tab.ts"

/** How many choices a product may ask for, how many options of each are looked at, and how many radio buttons of a page. */
const mostChoices = 12
const mostOptions = 30
const mostRadios = 200

/** Lists that choose no variant of the product. A "Sorte" is one, and so is an operating system. */
const other =
  /qty|quantity|menge|quantité|cantidad|country|currency|language|lang|sort(?!en?(?!\p{L}))|(?<!ope)rating|search|region|store/iu
export const isOtherList = (names: string): boolean => other.test(names)

const fold = (text: string) => text.replace(/\s+/g, " ").trim().toLowerCase()
/** The parts of what is wanted: of `Red / M` both, and the name, which often ends in the colour. */
const wanted = ({ name, variant }: Candidate): ReadonlyArray<string> =>
  [
    ...(variant ?? "").split(/[/,|]/).map(fold),
    fold(variant ?? ""),
    ...name
      .split(/\s[-–—|]\s|[(),/]/)
      .slice(1)
      .map(fold)
  ].filter((part) => part !== "")

/** Where the option is that the candidate names, or -1. */
const named = (options: ReadonlyArray<string>, candidate: Candidate): number => {
  const parts = wanted(candidate)
  return options.findIndex((option) => parts.includes(fold(option)))
}

/** The option to take: what the candidate names, else the first that is nothing besides. Always the same of the same page. */
const bestOf = (options: ReadonlyArray<string>, candidate: Candidate): number => {
  const at = named(options, candidate)
  return at >= 0 ? at : options.findIndex((option) => !isAside(option) && !mayOrder(option))
}

/** A group of options: how it stands to the control that adds, what its options are called, whether the page itself asks for one. */
export interface Group {
  readonly standing: Standing
  readonly options: ReadonlyArray<string>
  readonly isAsked: boolean
  /** Its options are drawn to be chosen: as radio buttons, or as buttons that stay pressed. */
  readonly isChoosing: boolean
}

const isOfProduct = ({ isBefore, isElsewhere, isNear }: Standing): boolean => !isElsewhere && (isNear || isBefore)

/**
 * Whether a group is a choice of the product. `plainly`: the page calls it one, or the candidate names one of its options. `maybe`: only
 * where it stands and how it is drawn speak for it, so it is left alone until the control that adds asks for more.
 */
export const choiceIn = (
  { isAsked, isChoosing, options, standing }: Group,
  candidate: Candidate
): "plainly" | "maybe" | "no" => {
  const { before, said, source } = standing
  if (!isOfProduct(standing) || isAside(said) || isAside(source)) return "no"
  if (callsChoice(said) || marksChoice(source)) return "plainly"
  // The stars of a product's reviews may stand before its choices, so what stands there is no label.
  if (isAside(before)) return "no"
  if (isAsked || callsChoice(before) || named(options, candidate) >= 0) return "plainly"
  return isChoosing ? "maybe" : "no"
}

/** How far a test goes with choices: what is plainly one, or also what may be one. */
export type Eagerness = "plainly" | "maybe"

interface Choosing {
  readonly tab: Tab
  readonly control: Handle
  readonly candidate: Candidate
  readonly eagerness: Eagerness
  readonly chosen: Array<string>
  /** Groups that may be a choice and were left alone. */
  left: number
}

/** Whether to choose in this group now. */
const takes = (choosing: Choosing, group: Group): boolean => {
  const is = choiceIn(group, choosing.candidate)
  if (is === "maybe" && choosing.eagerness === "plainly") choosing.left++
  return choosing.chosen.length < mostChoices && (is === "plainly" || is === choosing.eagerness)
}

const each = Effect.fnUntraced(function* (group: Locator, most: number) {
  const count = Math.min(yield* ask(() => group.count()), most)
  return Array.from({ length: count }, (_, index) => group.nth(index))
})

const chooseInLists = Effect.fnUntraced(function* (choosing: Choosing, page: Page) {
  const { candidate, chosen, control } = choosing
  const lists = page.locator("select:visible")
  for (const [at, standing] of (yield* standingsOf(lists, control)).entries()) {
    if (!isOfProduct(standing)) continue
    const list = lists.nth(at)
    const [name, id, label, required] = yield* ask(() =>
      Promise.all(["name", "id", "aria-label", "required"].map((attribute) => list.getAttribute(attribute)))
    )
    if (isOtherList([name, id, label].map((one) => (one ?? "").slice(0, longestName)).join(" "))) continue
    const options = yield* each(list.locator("option:not([disabled])"), mostOptions)
    const texts = yield* ask(() => Promise.all(options.map((option) => option.textContent())))
    const values = yield* ask(() => Promise.all(options.map((option) => option.getAttribute("value"))))
    const now = yield* ask(() => list.inputValue())
    const all = texts.map((text, index) => ({
      text: (text ?? "").slice(0, 10 * longestName),
      value: values[index] ?? text ?? ""
    }))
    const real = all.filter((option) => !isInvitation(option) && option.value !== "")
    const current = all.find(({ value }) => value === now)?.text ?? ""
    // One that says what it stands for, such as "One-time purchase", has been chosen by the shop.
    const isOpen = isInvitation({ text: current })
    const names = real.map(({ text }) => text)
    const isNamed = named(names, candidate) >= 0
    const best = real[bestOf(names, candidate)]
    if (best === undefined || best.value === now || !(isOpen || isNamed)) continue
    const isAsked = isOpen && ((required ?? null) !== null || /\p{L}/u.test(current))
    if (!takes(choosing, { standing, options: names, isAsked, isChoosing: isOpen })) continue
    yield* ask(() => list.selectOption(best.value))
    chosen.push(fold(best.text))
  }
})

interface Radio {
  readonly labels?: ArrayLike<{ click(): void; readonly textContent: string | null }> | null
  readonly name: string
  readonly value: string
  readonly checked: boolean
  readonly disabled: boolean
  readonly required: boolean
  getAttribute(name: string): string | null
  click(): void
}
/** Radio buttons are often drawn by their labels, so the label is pressed where they cannot be. */
const check = (radio: Locator) =>
  ask(() =>
    radio
      .check({ timeout: 1_000 })
      .catch(() => radio.evaluate((element: Radio) => (element.labels?.[0] ?? element).click()))
  )

const chooseRadios = Effect.fnUntraced(function* (choosing: Choosing, page: Page) {
  const { candidate, chosen, control } = choosing
  const all = page.locator("input[type=radio]")
  const read = yield* ask(() =>
    all.evaluateAll((radios: ReadonlyArray<Radio>) =>
      radios.slice(0, 200).map((radio) => ({
        name: radio.name.slice(0, 300),
        label: (radio.getAttribute("aria-label") ?? radio.labels?.[0]?.textContent ?? radio.value)
          .replace(/\s+/g, " ")
          .slice(0, 300),
        isChecked: radio.checked,
        isDisabled: radio.disabled,
        isRequired: radio.required
      }))
    )
  )
  const groups = new Map<string, Array<(typeof read)[number] & { readonly at: number }>>()
  for (const [at, { label, name, ...state }] of read.entries()) {
    // A page may have changed what was asked there.
    const radio = { ...state, label: label.slice(0, longestName), name: name.slice(0, longestName) }
    if (radio.isDisabled || isOtherList(radio.name)) continue
    groups.set(radio.name, [...(groups.get(radio.name) ?? []), { ...radio, at }])
  }
  const standings = read.length === 0 ? [] : yield* standingsOf(all, control, mostRadios)
  for (const radios of groups.values()) {
    const options = radios.map(({ label }) => label)
    const isChosen = radios.some(({ isChecked }) => isChecked)
    const best = radios[bestOf(options, candidate)]
    if (best === undefined || best.isChecked || (isChosen && named(options, candidate) < 0)) continue
    const standing = standings[best.at]
    const isAsked = radios.some(({ isRequired }) => isRequired)
    if (standing === undefined || options.some(isAside)) continue
    if (!takes(choosing, { standing, options, isAsked, isChoosing: true })) continue
    yield* check(all.nth(best.at))
    chosen.push(fold(best.label))
  }
})

const states = ["aria-pressed", "aria-checked", "aria-selected", "aria-current"]
const stateOf = (option: Locator) => ask(() => Promise.all(states.map((name) => option.getAttribute(name))))

/** Buttons side by side, which many shops do not call a list of anything. */
const sideBySide = "div:has(> button + button)"

/** Lists of short buttons: swatches of colour and size. A list that has anything else in it is none. */
const chooseButtons = Effect.fnUntraced(function* (choosing: Choosing, page: Page) {
  const { candidate, chosen, control, tab } = choosing
  for (const kind of ["list", "radiogroup", "listbox", "group", sideBySide] as const) {
    const role = kind === "radiogroup" ? "radio" : kind === "listbox" ? "option" : "button"
    const lists = kind === sideBySide ? page.locator(sideBySide) : page.getByRole(kind)
    for (const [at, standing] of (yield* standingsOf(lists, control)).entries()) {
      const list = lists.nth(at)
      if (!isOfProduct(standing) || (yield* ask(() => list.locator("input[type=radio]").count())) > 0) continue
      const options: Array<string> = []
      let isChosen = false
      let isChoosing = role !== "button"
      const buttons = yield* each(list.getByRole(role, { disabled: false }), mostOptions)
      for (const button of buttons) {
        const [name = ""] = yield* namesOf(button)
        options.push(name)
        const state = yield* stateOf(button)
        isChosen ||= state.some((one) => one === "true" || one === "page")
        isChoosing ||= state.some((one) => one !== null)
      }
      if (isChosen || options.length === 0 || !options.every((name) => mayPress([name], "option"))) continue
      if (!takes(choosing, { standing, options, isAsked: false, isChoosing })) continue
      const best = bestOf(options, candidate)
      const option = buttons[best]
      const name = fold(options[best] ?? "")
      // A list in a group is met twice; the second press would undo the first.
      if (option === undefined || chosen.includes(name) || !(yield* press(option, "option"))) continue
      chosen.push(name)
      yield* tab.quiet
    }
  }
})

/**
 * Chooses what has to be chosen before `button` adds anything: the candidate's variant, else the first there is. What was chosen, and how
 * many groups were left alone that may be a choice too.
 */
export const choose = Effect.fnUntraced(function* (
  tab: Tab,
  button: Locator,
  candidate: Candidate,
  eagerness: Eagerness
) {
  const control = yield* handleOf(button)
  const choosing: Choosing = { tab, control, candidate, eagerness, chosen: [], left: 0 }
  yield* chooseInLists(choosing, tab.page)
  yield* chooseRadios(choosing, tab.page)
  yield* chooseButtons(choosing, tab.page)
  return { chosen: choosing.chosen, left: choosing.left }
})
