import { attributeOf, folded, textOf } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** How many of its first headings a page is known by. */
const most = 50

/**
 * The heading of what a page is about: its only `<h1>`, or of several the one that its title begins with, else one that the title holds, else
 * the first. Shops have others for their own name, for a menu, or for a small cart.
 */
export const mainHeading = (tree: PageTree, title: string | null): PageElement | undefined => {
  const firsts = tree.elements
    .filter((element) => element.tag === "h1" && isRead(element))
    .slice(0, most)
    .map((element) => ({ element, text: folded(textOf(tree, element)).toLowerCase() }))
    .filter(({ text }) => text !== "")
  const named = (title ?? "").toLowerCase()
  const found =
    firsts.find(({ text }) => named.startsWith(text)) ?? firsts.find(({ text }) => named.includes(text)) ?? firsts[0]
  return found?.element
}

/** Whether a heading is one for people: neither hidden from all nor from those who hear the page. */
export const isRead = (element: PageElement): boolean =>
  !element.isHidden && attributeOf(element, "aria-hidden", 10)?.toLowerCase() !== "true"
