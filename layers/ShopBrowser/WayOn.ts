import { Effect } from "effect"
import { isForGuests } from "#domain/FormConduct.ts"
import { agree } from "./Boxes.ts"
import type { Look } from "./Look.ts"
import { makesAccount, placeOf, whyAside } from "./Places.ts"
import { find } from "./Press.ts"
import type { Tab } from "./Tab.ts"

/** The way on from a page: the first control of such a name whose form is one of the checkout. */
export const wayOn = Effect.fnUntraced(function* (tab: Tab, seen: Look) {
  let aside: string | undefined
  let account: string | undefined
  const search = find(tab.page, "goOn", undefined, (control, names) =>
    Effect.map(placeOf(tab, seen, control), (place) => {
      const why = whyAside(place, names, seen)
      aside ??= why
      if (makesAccount(place)) account ??= names[0]
      return why === undefined
    })
  )
  const first = yield* search
  // Some cannot be pressed before the terms are agreed to.
  const found = first?.enabled === false && (yield* agree(tab, first.control)) ? yield* search : first
  const isAccount = found === undefined && !seen.facts.forms.some(isForGuests)
  return {
    control: found?.enabled === true ? found.control : undefined,
    isWaiting: found?.enabled === false,
    aside: found === undefined ? aside : undefined,
    account: isAccount ? account : undefined
  }
})
