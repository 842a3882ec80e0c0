import { Effect } from "effect"
import { folded } from "#domain/page/PageText.ts"
import { snippet } from "#services/ShoppingEngine/Outcomes.ts"
import { ask } from "./Chromium.ts"
import type { Tab } from "./Tab.ts"

/** What an alert says that wants something else done on the page before it goes on. */
const wanting =
  /address|postal|zip|post ?code|city|street|invalid|required|adresse|plz|código|cap\b|\b(?:must|has to|have to|needs? to)\b.{0,80}\b(?:select|choose|chosen|enter|provide|agree|accept)|please\s+(?:select|choose|enter|provide|fill)|bitte\s+(?:wähl|geb|füll)/i

/** What many systems call the line under a field that says what is wrong with it, as Magento's and Bootstrap's. */
const besideFields = ["validation-advice", "mage-error", "invalid-feedback", "field-error", "error-message"]
  .map((name) => `[class~="${name}" i]:not(input, select, textarea):visible`)
  .join(", ")

/** How much of it is read, in characters, and of how many fields. */
const mostSaid = 5_000
const mostLines = 50

/** A page's complaints about what was written; lines that it had `before` in its text are none. */
export const complaints = Effect.fnUntraced(function* (tab: Tab, before: string) {
  const invalid = yield* ask(() => tab.page.locator("[aria-invalid=true]:visible").count())
  const alerts = yield* ask(() => tab.page.locator("[role=alert]:visible").allInnerTexts())
  const said = alerts.join(" ").slice(0, mostSaid).trim()
  const beside = (yield* ask(() => tab.page.locator(besideFields).allInnerTexts()))
    .slice(0, mostLines)
    .map((line) => folded(line.slice(0, mostSaid)))
    .filter((line) => line !== "" && !folded(before).includes(line))
  if (beside.length > 0) return snippet([...new Set(beside)].join(" "))
  return wanting.test(said) || invalid > 0 ? snippet(said === "" ? `${invalid} fields are marked invalid` : said) : null
})
