import { Effect } from "effect"
import { asksWhereTo } from "#domain/FormConduct.ts"
import { fixedCountry } from "#domain/ShopperForm.ts"
import { shopperAmong } from "#domain/TestShopper.ts"
import { type Field, fill, inDigits, type Meaning, offeredIn, wantsDigits } from "./Fields.ts"
import type { Look } from "./Look.ts"
import { ownFields } from "./Places.ts"
import type { Progress } from "./Progress.ts"
import type { Tab } from "./Tab.ts"

/** Writes what is known of the shopper into the checkout's own fields on a page. Whether anything was written where nothing stood. */
export const fillAll = Effect.fnUntraced(function* (tab: Tab, seen: Look, progress: Progress) {
  let hasWritten = false
  const write = Effect.fnUntraced(function* (field: Field) {
    if (field.meaning === "other" || (field.meaning === "nationalId" && progress.shopper.nationalId === undefined)) {
      if (field.isRequired && field.isEmpty) progress.unrecognised.add(field.label || "a field without a label")
      return
    }
    const isRefused = field.meaning === "phone" && wantsDigits.test(seen.text)
    if (!field.isEmpty && field.kind === "text" && !isRefused) return void progress.filled.add(field.meaning)
    const isDone = yield* fill(tab, field, isRefused ? inDigits(progress.shopper) : progress.shopper)
    hasWritten ||= isDone && field.isEmpty && field.kind !== "menu"
    const list = isDone ? progress.filled : progress.impossible
    list.add(field.meaning)
  })
  /** The first field of each meaning: a second address on the page is the one for the bill. */
  const writeAll = Effect.fnUntraced(function* (fields: ReadonlyArray<Field>, isAgain = false) {
    const firstOf = new Set<Meaning>(["country"])
    for (const field of fields) {
      // A second email that is required is the first one once more.
      const isRepeated = field.meaning === "email" && field.isRequired && field.isEmpty
      if (field.meaning !== "other" && firstOf.has(field.meaning) && !isRepeated) continue
      firstOf.add(field.meaning)
      if (isAgain && !(field.isEmpty && field.kind === "list")) continue
      if (!isAgain && field.label === "") progress.unlabelled++
      yield* write(field)
    }
  })
  const fixed = seen.facts.forms.filter(asksWhereTo).flatMap(fixedCountry)
  if (fixed.length > 0) progress.shopper = shopperAmong(progress.shopper, fixed)
  // What depends on the country is drawn anew when that is chosen, so it comes first.
  let fields = yield* ownFields(tab, seen)
  for (const field of fields.filter(({ meaning }) => meaning === "country").slice(0, 1)) {
    progress.shopper = shopperAmong(progress.shopper, yield* offeredIn(field))
    if (field.label === "") progress.unlabelled++
    yield* write(field)
    yield* tab.quiet
    fields = yield* ownFields(tab, seen)
  }
  yield* writeAll(fields)
  yield* tab.quiet
  // What the country decides may come long after it was chosen: a list that is shown only then, or empty again.
  if (fields.some(({ kind }) => kind === "list")) yield* writeAll(yield* ownFields(tab, seen), true)
  return hasWritten
})
