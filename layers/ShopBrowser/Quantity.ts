import { Effect } from "effect"
import type { Locator, Page } from "playwright-core"
import { isQuantity } from "#domain/page/Quantity.ts"
import { ask } from "./Chromium.ts"
import { find, press } from "./Press.ts"
import { handleOf, standingsOf } from "./Standing.ts"

/** As much of a field as is asked here. */
interface Field {
  readonly name: string
  readonly type: string
  readonly value: string
  readonly readOnly: boolean
  readonly disabled: boolean
  readonly labels?: ArrayLike<{ readonly textContent: string | null }> | null
  getAttribute(name: string): string | null
}

const most = 60
/** How many boxes around a field may hold the button that counts it up. */
const mostBoxes = 2

/** Runs in the page. */
const readFields = (fields: ReadonlyArray<Field>) =>
  fields.slice(0, 60).map((field) => ({
    name: field.name,
    type: /^(?:numeric|decimal)$/.test(field.getAttribute("inputmode") ?? "") ? "number" : field.type,
    label: field.getAttribute("aria-label") ?? field.labels?.[0]?.textContent ?? null,
    isNone: /^\s*0+\s*$/.test(field.value),
    isReadOnly: field.readOnly,
    isOff: field.disabled
  }))

const countUp = Effect.fnUntraced(function* (field: Locator) {
  for (let level = 1; level <= mostBoxes; level++) {
    const more = yield* find(field.locator(`xpath=ancestor::*[${level}]`), "more", ["button"])
    if (more?.enabled === true) return yield* press(more.control, "more")
  }
  return false
})

/** Makes it one where a product's page begins with none of it, and adds nothing before somebody says how many. */
export const atLeastOne = Effect.fnUntraced(function* (page: Page, button: Locator) {
  const fields = page.locator("input:visible")
  const read = yield* ask(() => fields.evaluateAll(readFields))
  if (!read.some((field) => field.isNone && isQuantity(field))) return
  const standings = yield* standingsOf(fields, yield* handleOf(button), most)
  const at = read.findIndex((field, index) => {
    const standing = standings[index]
    const isOfProduct = standing !== undefined && !standing.isElsewhere && (standing.isNear || standing.isBefore)
    return isOfProduct && !field.isOff && isQuantity(field)
  })
  const [first, field] = [read[at], fields.nth(at)]
  if (first?.isNone !== true) return
  if (first.isReadOnly) return yield* countUp(field)
  yield* ask(() => field.fill("1"))
  yield* ask(() => field.blur())
})
