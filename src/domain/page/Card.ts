import { attributeOf, absolute, textOf, within } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"
import { readPrices } from "./Price.ts"

const most = { up: 8, text: 1_500, inside: 400, beyond: 2 }
const heading = /^h[1-6]$/

/** Whether a box shows a thing of another page: it links one by its heading, or both by a picture and by words. */
const showsOther = (tree: PageTree, box: PageElement, base: URL): boolean => {
  const pictured = new Set<string>()
  const named = new Set<string>()
  for (const element of within(tree, box, most.inside)) {
    const href = element.tag === "a" ? absolute(attributeOf(element, "href"), base) : undefined
    const url = href === undefined ? null : URL.parse(href)
    if (url === null || url.host !== base.host || url.pathname === base.pathname) continue
    const inHeading = heading.test(tree.elements[element.parent]?.tag ?? "")
    const hasWords = textOf(tree, element) !== ""
    if (inHeading && hasWords) return true
    if (within(tree, element, 20).some(({ tag }) => tag === "img")) pictured.add(url.pathname)
    if (hasWords) named.add(url.pathname)
  }
  return [...named].some((path) => pictured.has(path))
}

/**
 * Whether a button stands in a box of its own, as lists have one for each product: the least box around it that says a price, or one a
 * little larger, shows a thing of another page and not what this page is about.
 */
export const isInCard = (tree: PageTree, button: PageElement, main: PageElement | undefined, base: URL): boolean => {
  let beyond = 0
  let box = tree.elements[button.parent]
  for (let up = 0; box !== undefined && up < most.up && beyond <= most.beyond; up++, box = tree.elements[box.parent]) {
    if (main !== undefined && box.index < main.index && main.index < box.end) return false
    if (box.tag === "body") return false
    if (beyond === 0 && readPrices(textOf(tree, box, most.text)).length === 0) continue
    beyond++
    if (showsOther(tree, box, base)) return true
  }
  return false
}
