import { Effect } from "effect"
import { isExtra } from "#domain/AsideWords.ts"
import { isShipping } from "#domain/ShippingWords.ts"
import { ask } from "./Chromium.ts"
import { textOf } from "./Drawn.ts"
import { isOrder } from "./Press.ts"
import { choose as take, radiosOn } from "./Radios.ts"
import type { Tab } from "./Tab.ts"

/** The ways of shipping that a page offers, or what it says when there is none. */
export interface Shipping {
  readonly options: ReadonlyArray<string>
  readonly none: string | undefined
}

const saysNone =
  /(?:no|there (?:are|is) no) (?:available )?(?:shipping|delivery)(?: \w+)? ?(?:methods?|options?|rates?)?(?: (?:are|is))? ?(?:available|found|for (?:this|your))|no (?:shipping )?quotes? (?:are|is) available|shipping methods? (?:are|is) (?:currently )?(?:not available|unavailable)|(?:do(?:es)? not|don't|doesn't|cannot|can't|unable to) (?:ship|deliver) to|kein(?:e)? versand(?:art|option|methode)\w* (?:dafür )?(?:verfügbar|gefunden)|stehen keine (?:auswahloptionen|versandarten|angebote) zur verfügung|keine angebote für diese bestellung|aucun(?:e)? (?:mode de livraison|option de livraison)|no hay (?:métodos|opciones) de envío/i
/** What a page says when nothing is shipped to where somebody lives. */
export const noneSaid = (text: string): string | undefined => saysNone.exec(text)?.[0]

const waysOn = (tab: Tab) =>
  Effect.map(radiosOn(tab), (radios) =>
    radios.filter(({ attributes, name }) => isShipping(name, attributes) && !isOrder(name) && !isExtra(attributes))
  )

/** Whether a page offers a way of shipping that was not there before. */
export const offersMore = (tab: Tab, before: string) =>
  Effect.map(waysOn(tab), (ways) => ways.some(({ name }) => name !== "" && !before.includes(name)))

/** Reads the ways of shipping and takes the first where none is taken. */
export const choose = Effect.fnUntraced(function* (tab: Tab) {
  const offered = yield* waysOn(tab)
  const taken: Array<boolean> = []
  for (const { radio } of offered) taken.push(yield* ask(() => radio.isChecked()))
  const [first] = offered
  if (first !== undefined && !taken.includes(true)) {
    yield* take(first)
    yield* tab.quiet
  }
  const text = offered.length > 0 ? "" : yield* textOf(tab.page)
  const found: Shipping = { options: offered.map(({ name }) => name), none: noneSaid(text) }
  return found
})
