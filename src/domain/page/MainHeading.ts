import { attributeOf, folded, textOf } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** How many of its first headings a page is known by. */
const most = 50
const sign = /[\p{L}\p{N}]/u

/** Where a text stands in another in whole words; less than 0 where it does not. */
const placeOf = (text: string, within: string): number => {
  const at = within.indexOf(text)
  const isPart = sign.test(within.slice(0, Math.max(0, at)).at(-1) ?? "") || sign.test(within[at + text.length] ?? "")
  return isPart ? -1 : at
}

/**
 * The heading of what a page is about: its only `<h1>`, or of several the one that its title begins with, else one that the title
 * holds, else the first. Shops have others for their own name, for a menu, or for a small cart.
 */
export const mainHeading = (tree: PageTree, title: string | null): PageElement | undefined => {
  const named = (title ?? "").toLowerCase()
  const firsts = tree.elements
    .filter(
      (element) => element.tag === "h1" && !element.isHidden && attributeOf(element, "aria-hidden", 10) !== "true"
    )
    .slice(0, most)
    .map((element) => ({ element, text: folded(textOf(tree, element)).toLowerCase() }))
    .filter(({ text }) => text !== "")
    .map(({ element, text }) => ({ element, at: placeOf(text, named) }))
  return (firsts.find(({ at }) => at === 0) ?? firsts.find(({ at }) => at > 0) ?? firsts[0])?.element
}
