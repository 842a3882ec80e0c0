import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { ask, longestName } from "./Chromium.ts"
import { namesOf } from "./Press.ts"
import { roleName } from "./RoleName.ts"
import type { Tab } from "./Tab.ts"

/** One of several that can be chosen. */
export interface Choice {
  readonly radio: Locator
  /** What a person reads. */
  readonly name: string
  /** What its field is called in the page's source: name and id. */
  readonly attributes: string
  /** It is not shown itself: only its label is. */
  readonly isBehindLabel: boolean
}

/** As much of a radio button as is asked here. */
interface Radio {
  readonly name: string
  readonly id: string
  readonly labels: Iterable<{
    readonly textContent: string | null
    checkVisibility(how: typeof visibly): boolean
    click(): void
  }> | null
  checkVisibility(how: typeof visibly): boolean
}

interface Neighboured {
  readonly nextElementSibling: {
    readonly tagName: string
    readonly control?: object | null
    readonly textContent: string | null
  } | null
}

/** As a tree of roles has it. */
const visibly = { visibilityProperty: true } as const

const most = 20

/** Runs in the page. The label right behind a radio button that is bound to nothing, as Odoo's: a person reads it as its name. */
const readBehind = ({ nextElementSibling: next }: Neighboured): string =>
  next?.tagName === "LABEL" && next.control === null ? (next.textContent ?? "").replace(/\s+/g, " ").trim() : ""

const nameIn = Effect.fnUntraced(function* (radio: Locator) {
  const own = yield* roleName(radio)
  const name = own ?? ((yield* ask(() => radio.evaluate(readBehind))) || (yield* namesOf(radio))[0]) ?? ""
  return name.slice(0, longestName)
})

/** Runs in the page. Of radio buttons that are not shown what their shown labels say; nothing of others. */
const readHidden = (radios: ReadonlyArray<Radio>, how: typeof visibly) =>
  radios.slice(0, 200).map((radio) => {
    const labels = radio.checkVisibility(how) ? [] : [...(radio.labels ?? [])]
    const texts = labels.filter((label) => label.checkVisibility(how)).map(({ textContent }) => textContent ?? "")
    return { name: texts.join(" ").replace(/\s+/g, " ").trim().slice(0, 300), attributes: `${radio.name} ${radio.id}` }
  })

/** Runs in the page. */
const pressLabel = ({ labels }: Radio, how: typeof visibly): void =>
  [...(labels ?? [])].find((label) => label.checkVisibility(how) && (label.textContent ?? "").trim() !== "")?.click()

const attributesOf = (radio: Locator) =>
  Effect.map(
    ask(() => Promise.all([radio.getAttribute("name"), radio.getAttribute("id")])),
    ([name, id]) => `${name ?? ""} ${id ?? ""}`.slice(0, longestName)
  )

/** The radio buttons of a page: those that are shown, and those that are not while their labels are, as drawn ones are made. */
export const radiosOn = Effect.fnUntraced(function* (tab: Tab) {
  const choices: Array<Choice> = []
  const shown = tab.page.getByRole("radio")
  const count = Math.min(yield* ask(() => shown.count()), most)
  for (let index = 0; index < count; index++) {
    const radio = shown.nth(index)
    const attributes = yield* attributesOf(radio)
    choices.push({ radio, name: yield* nameIn(radio), attributes, isBehindLabel: false })
  }
  const all = tab.page.locator("input[type=radio]")
  const hidden = yield* ask(() => all.evaluateAll(readHidden, visibly))
  const drawn = hidden.map((one, at): Choice => ({ ...one, radio: all.nth(at), isBehindLabel: true }))
  return [...choices, ...drawn.filter(({ name }) => name !== "").slice(0, most)]
})

/** Chooses it. One that cannot be is left, and no more. */
export const choose = ({ isBehindLabel, radio }: Choice) =>
  Effect.ignore(
    ask(() =>
      isBehindLabel
        ? radio.evaluate(pressLabel, visibly)
        : radio.check({ timeout: 1_500 }).catch(() => radio.click({ timeout: 1_500 }))
    )
  )
