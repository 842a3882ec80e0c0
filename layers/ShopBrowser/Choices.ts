import { Effect } from "effect"
import type { Locator } from "playwright-core"
import type { Candidate } from "#services/ShoppingEngine/Rail.ts"
import { ask } from "./Chromium.ts"
import { mayPress, namesOf, press } from "./Press.ts"
import type { Tab } from "./Tab.ts"

/** How many choices a product may ask for, and how many options of each are looked at. */
const mostChoices = 6
const mostOptions = 30

/** Lists that choose no variant of the product. */
const other = /qty|quantity|menge|quantité|cantidad|country|currency|language|lang|sort|rating|search|region|store/i
const placeholder =
  /^\s*$|^[-–—.\s]*$|choose|select|pick|wähl|auswahl|choisi|sélection|elige|seleccion|scegli|kies|välj|vælg|velg|wybierz/i

const fold = (text: string) => text.replace(/\s+/g, " ").trim().toLowerCase()
/** The parts of what is wanted: of `Red / M` both, and the name, which often ends in the colour. */
const wanted = ({ name, variant }: Candidate): ReadonlyArray<string> => [
  ...(variant ?? "").split(/[/,|]/).map(fold),
  fold(variant ?? ""),
  ...name
    .split(/\s[-–—|]\s|[(),/]/)
    .slice(1)
    .map(fold)
]

/** The option to take: what the candidate names, else the first. Always the same of the same page. */
const bestOf = (options: ReadonlyArray<string>, candidate: Candidate): number => {
  const parts = wanted(candidate).filter((part) => part !== "")
  const named = options.findIndex((option) => parts.includes(fold(option)))
  return Math.max(0, named)
}

const each = Effect.fnUntraced(function* (group: Locator, most: number) {
  const count = Math.min(yield* ask(() => group.count()), most)
  return Array.from({ length: count }, (_, index) => group.nth(index))
})

const chooseInLists = Effect.fnUntraced(function* (scope: Locator, candidate: Candidate) {
  const chosen: Array<string> = []
  for (const list of yield* each(scope.locator("select:visible"), mostChoices)) {
    const [name, id, label] = yield* ask(() =>
      Promise.all([list.getAttribute("name"), list.getAttribute("id"), list.getAttribute("aria-label")])
    )
    if (other.test(`${name ?? ""} ${id ?? ""} ${label ?? ""}`)) continue
    const options = yield* each(list.locator("option:not([disabled])"), mostOptions)
    const texts = yield* ask(() => Promise.all(options.map((option) => option.textContent())))
    const values = yield* ask(() => Promise.all(options.map((option) => option.getAttribute("value"))))
    const real = texts.flatMap((text, index) => {
      const value = values[index] ?? text ?? ""
      return placeholder.test(text ?? "") || value === "" ? [] : [{ text: text ?? "", value }]
    })
    const now = yield* ask(() => list.inputValue())
    const parts = wanted(candidate)
    const isChosen = real.some(({ value }) => value === now) && !real.some(({ text }) => parts.includes(fold(text)))
    const best =
      real[
        bestOf(
          real.map(({ text }) => text),
          candidate
        )
      ]
    if (isChosen || best === undefined || best.value === now) continue
    yield* ask(() => list.selectOption(best.value))
    chosen.push(fold(best.text))
  }
  return chosen
})

interface Drawn {
  readonly labels?: ArrayLike<{ click(): void }>
  click(): void
}
/** Radio buttons are often drawn by their labels, so the label is pressed where they cannot be. */
const check = (radio: Locator) =>
  ask(() =>
    radio
      .check({ timeout: 1_000 })
      .catch(() => radio.evaluate((element: Drawn) => (element.labels?.[0] ?? element).click()))
  )

const chooseRadios = Effect.fnUntraced(function* (scope: Locator, candidate: Candidate) {
  const chosen: Array<string> = []
  const groups = new Map<string, Array<Locator>>()
  for (const radio of yield* each(scope.locator("input[type=radio]:not([disabled])"), mostOptions * 2)) {
    const name = (yield* ask(() => radio.getAttribute("name"))) ?? ""
    if (!other.test(name)) groups.set(name, [...(groups.get(name) ?? []), radio])
  }
  for (const radios of [...groups.values()].slice(0, mostChoices)) {
    const labels: Array<string> = []
    let isChosen = false
    for (const radio of radios) {
      const value = (yield* ask(() => radio.getAttribute("value"))) ?? ""
      labels.push((yield* namesOf(radio))[0] ?? value)
      isChosen ||= yield* ask(() => radio.isChecked())
    }
    const best = bestOf(labels, candidate)
    const radio = radios[best]
    if (radio === undefined || (isChosen && best === 0)) continue
    yield* check(radio)
    chosen.push(fold(labels[best] ?? ""))
  }
  return chosen
})

const pressedState = (option: Locator) =>
  ask(() =>
    Promise.all(
      ["aria-pressed", "aria-checked", "aria-selected", "aria-current"].map((name) => option.getAttribute(name))
    )
  )

/** Lists of short buttons: swatches of colour and size. A list that has anything else in it is none. */
const chooseButtons = Effect.fnUntraced(function* (tab: Tab, scope: Locator, candidate: Candidate) {
  const chosen: Array<string> = []
  for (const kind of ["list", "radiogroup", "listbox", "group"] as const) {
    for (const list of yield* each(scope.getByRole(kind), mostChoices)) {
      const role = kind === "radiogroup" ? "radio" : kind === "listbox" ? "option" : "button"
      if (kind === "radiogroup" && (yield* ask(() => list.locator("input[type=radio]").count())) > 0) continue
      const options = yield* each(list.getByRole(role, { disabled: false }), mostOptions)
      const names: Array<string> = []
      let isChosen = false
      for (const option of options) {
        const [name = ""] = yield* namesOf(option)
        names.push(name)
        isChosen ||= (yield* pressedState(option)).some((state) => state === "true" || state === "page")
      }
      if (isChosen || names.length === 0 || !names.every((name) => mayPress([name], "option"))) continue
      const best = bestOf(names, candidate)
      const option = options[best]
      const name = fold(names[best] ?? "")
      // A list in a group is met twice; the second press would undo the first.
      if (option === undefined || chosen.includes(name) || !(yield* press(option, "option"))) continue
      chosen.push(name)
      yield* tab.quiet
    }
  }
  return chosen
})

/** Chooses what has to be chosen before `button` adds anything: the candidate's variant, else the first there is. What was chosen. */
export const choose = Effect.fnUntraced(function* (tab: Tab, button: Locator, candidate: Candidate) {
  const form = button.locator("xpath=ancestor::form[1]")
  const main = button.locator("xpath=ancestor::*[self::main or @role='main'][1]")
  const around = button.locator("xpath=ancestor::*[self::section or self::article or self::div][3]")
  let scope = tab.page.locator("body")
  for (const candidateScope of [form, main, around]) {
    if ((yield* ask(() => candidateScope.count())) === 0) continue
    scope = candidateScope.first()
    break
  }
  const lists = yield* chooseInLists(scope, candidate)
  const radios = yield* chooseRadios(scope, candidate)
  const buttons = yield* chooseButtons(tab, scope, candidate)
  return [...lists, ...radios, ...buttons]
})
