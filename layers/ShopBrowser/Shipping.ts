import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { isExtra } from "#domain/AsideWords.ts"
import { isShipping } from "#domain/ShippingWords.ts"
import { ask } from "./Chromium.ts"
import { textOf } from "./Drawn.ts"
import { isOrder, namesOf } from "./Press.ts"
import { roleName } from "./RoleName.ts"
import type { Tab } from "./Tab.ts"

/** The ways of shipping that a page offers, or what it says when there is none. */
export interface Shipping {
  readonly options: ReadonlyArray<string>
  readonly none: string | undefined
}

const saysNone =
  /(?:no|there (?:are|is) no) (?:available )?(?:shipping|delivery)(?: \w+)? ?(?:methods?|options?|rates?)?(?: (?:are|is))? ?(?:available|found|for (?:this|your))|(?:do(?:es)? not|don't|doesn't|cannot|can't|unable to) (?:ship|deliver) to|kein(?:e)? versand(?:art|option|methode)\w* (?:verfügbar|gefunden)|aucun(?:e)? (?:mode de livraison|option de livraison)|no hay (?:métodos|opciones) de envío/i
const most = 20

/** What a page says when nothing is shipped to where somebody lives. */
export const noneSaid = (text: string): string | undefined => saysNone.exec(text)?.[0]

/** What a choice is called, as the tree of roles has it. */
export const nameIn = Effect.fnUntraced(function* (radio: Locator) {
  return (yield* roleName(radio)) ?? (yield* namesOf(radio))[0] ?? ""
})

/** Reads the ways of shipping and takes the first where none is taken. */
export const choose = Effect.fnUntraced(function* (tab: Tab) {
  const radios = tab.page.getByRole("radio")
  const count = Math.min(yield* ask(() => radios.count()), most)
  const offered: Array<{ readonly radio: Locator; readonly name: string; readonly checked: boolean }> = []
  for (let index = 0; index < count; index++) {
    const radio = radios.nth(index)
    const [inputName, value] = yield* ask(() => Promise.all([radio.getAttribute("name"), radio.getAttribute("id")]))
    const name = yield* nameIn(radio)
    const attributes = `${inputName ?? ""} ${value ?? ""}`
    if (!isShipping(name, attributes) || isOrder(name) || isExtra(attributes)) continue
    offered.push({ radio, name, checked: yield* ask(() => radio.isChecked()) })
  }
  const [first] = offered
  if (first !== undefined && !offered.some(({ checked }) => checked)) {
    yield* Effect.ignore(
      ask(() => first.radio.check({ timeout: 1_500 }).catch(() => first.radio.click({ timeout: 1_500 })))
    )
    yield* tab.quiet
  }
  const text = offered.length > 0 ? "" : yield* textOf(tab.page)
  const found: Shipping = { options: offered.map(({ name }) => name), none: noneSaid(text) }
  return found
})
