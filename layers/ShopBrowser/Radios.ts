import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { ask } from "./Chromium.ts"
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
  readonly labels: Iterable<{
    readonly textContent: string | null
    checkVisibility(): boolean
    click(): void
  }> | null
}

const most = 20

const nameIn = Effect.fnUntraced(function* (radio: Locator) {
  return (yield* roleName(radio)) ?? (yield* namesOf(radio))[0] ?? ""
})

/** Runs in the page. */
const readLabels = ({ labels }: Radio): string =>
  [...(labels ?? [])]
    .filter((label) => label.checkVisibility())
    .map(({ textContent }) => (textContent ?? "").replace(/\s+/g, " ").trim())
    .join(" ")
    .trim()
    .slice(0, 300)

/** Runs in the page. */
const pressLabel = ({ labels }: Radio): void =>
  [...(labels ?? [])].find((label) => label.checkVisibility() && (label.textContent ?? "").trim() !== "")?.click()

const attributesOf = (radio: Locator) =>
  Effect.map(
    ask(() => Promise.all([radio.getAttribute("name"), radio.getAttribute("id")])),
    ([name, id]) => `${name ?? ""} ${id ?? ""}`
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
  const hidden = tab.page.locator("input[type=radio]:not(:visible)")
  const others = Math.min(yield* ask(() => hidden.count()), most)
  for (let index = 0; index < others; index++) {
    const radio = hidden.nth(index)
    const name = yield* ask(() => radio.evaluate(readLabels))
    const isKnown = name === "" || choices.some((one) => one.name === name)
    if (!isKnown) choices.push({ radio, name, attributes: yield* attributesOf(radio), isBehindLabel: true })
  }
  return choices
})

/** Chooses it. One that cannot be is left, and no more. */
export const choose = ({ isBehindLabel, radio }: Choice) =>
  Effect.ignore(
    ask(() =>
      isBehindLabel
        ? radio.evaluate(pressLabel)
        : radio.check({ timeout: 1_500 }).catch(() => radio.click({ timeout: 1_500 }))
    )
  )
