import type { PageForm } from "./PageFacts.ts"
import { attributeOf, clipped, folded, textOf, within } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** How much is looked at, and how much is told. */
const most = { inForm: 400, before: 60, around: 8, words: 800 }

const headings = /^(?:h[1-6]|legend)$/
/** Their words are told with the control or the link that they are of. */
const notOwn: ReadonlySet<string> = new Set(["label", "a", "button", "select", "textarea"])
const besideTags: ReadonlySet<string> = new Set(["header", "footer", "nav", "aside", "dialog"])
const besideRoles = /^(?:dialog|alertdialog|contentinfo|navigation|complementary|banner)$/i
/** Of classes and ids only such words as no checkout's form has. */
const telling = /news-?letter|subscri|klaviyo|mailchimp|omnisend|privy|wish-?list|contact-?form|call-?back/i

const around = (tree: PageTree, element: PageElement): ReadonlyArray<PageElement> => {
  const found: Array<PageElement> = []
  for (let at = element.parent; at >= 0 && found.length < most.around; at = tree.elements[at]?.parent ?? -1) {
    const outer = tree.elements[at]
    if (outer === undefined || outer.tag === "body") break
    found.push(outer)
  }
  return found
}

/** The text of a form without what is told elsewhere. */
const ownText = (tree: PageTree, form: PageElement): string => {
  const parts: Array<string> = []
  let at = form.from
  const inside = within(tree, form, most.inForm)
  let skippedTo = -1
  for (const element of inside) {
    if (!notOwn.has(element.tag) || element.index < skippedTo) continue
    parts.push(tree.text.slice(at, Math.max(at, element.from)))
    at = Math.max(at, element.to)
    skippedTo = element.end
  }
  parts.push(tree.text.slice(at, Math.max(at, form.to)).slice(0, most.words))
  return folded(parts.join(" "))
}

/** The heading over a form: the last before it, with no other form between, that stands in something around the form. */
const headingOver = (tree: PageTree, form: PageElement, outer: ReadonlyArray<PageElement>): string => {
  const holders = new Set([...outer.map(({ index }) => index), tree.elements.findIndex(({ tag }) => tag === "body")])
  for (let at = form.index - 1; at >= Math.max(0, form.index - most.before); at--) {
    const element = tree.elements[at]
    if (element === undefined || element.tag === "form") return ""
    if (!headings.test(element.tag) || element.isHidden) continue
    const parent = tree.elements[element.parent]
    return parent === undefined || holders.has(parent.index) || holders.has(parent.parent) ? textOf(tree, element) : ""
  }
  return ""
}

const named = (element: PageElement): string => {
  const names = `${attributeOf(element, "class", 300) ?? ""} ${attributeOf(element, "id", 100) ?? ""}`
  const label = attributeOf(element, "aria-label", 200) ?? ""
  return [label, telling.test(names) ? names : ""].join(" ")
}

const isBeside = (element: PageElement): boolean =>
  besideTags.has(element.tag) ||
  besideRoles.test(attributeOf(element, "role", 30) ?? "") ||
  attributeOf(element, "aria-modal", 10) === "true"

/** What stands in and around a form and says what it is for. */
export const surroundingsOf = (tree: PageTree, form: PageElement): Pick<PageForm, "words" | "isBeside"> => {
  const outer = around(tree, form)
  // A landmark's name is that of all that is in it, so only what is beside the page's matter names its form.
  const names = [named(form), ...outer.filter(isBeside).map(named), ...outer.slice(0, 2).map(named)]
  const words = [headingOver(tree, form, outer), ...names, ownText(tree, form)].join(" ")
  return { words: clipped(folded(words), most.words), isBeside: [form, ...outer].some(isBeside) }
}
