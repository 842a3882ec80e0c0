import { attributeOf, folded, textOf } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** A page with more text than this has been rendered, whatever it is made with. */
const renderedLength = 200

const roots: ReadonlySet<string> = new Set([
  "root",
  "app",
  "__next",
  "__nuxt",
  "___gatsby",
  "svelte",
  "main-app",
  "react-root"
])
const asksForScripts =
  /(?:enable|activate|turn on|requires?|need|without) (?:\w+ ){0,4}java\s?script|java\s?script (?:is |must be |needs? to be )?(?:required|enabled|disabled|aktivieren)|java\s?script (?:aktivieren|einschalten)|activer (?:le )?java\s?script|(?:habilit|activ)\w* (?:el |o )?java\s?script/i

const isRoot = (element: PageElement) =>
  roots.has(element.attributes.get("id") ?? "") ||
  /^(?:app-root|ng-app)$/.test(element.tag) ||
  element.attributes.has("ng-app")

/**
 * What shows that a page is empty before its scripts have run. One that is rendered on the server is not, whatever it is made
 * with: anything to read, a product or a form says that it is there.
 */
export const readClientOnly = (
  tree: PageTree,
  visible: string,
  hasContent: boolean
): { readonly marker: string } | null => {
  if (hasContent || visible.length > renderedLength) return null
  const runs = tree.elements.some(
    (element) => element.tag === "script" && attributeOf(element, "type", 100) !== "application/ld+json"
  )
  if (!runs) return null
  const root = tree.elements.find(
    (element) => isRoot(element) && folded(tree.text.slice(element.from, element.to)).length < 100
  )
  if (root !== undefined)
    return { marker: `empty <${root.tag}${root.attributes.has("id") ? ` id="${root.attributes.get("id")}"` : ""}>` }
  const apology = tree.elements.find(
    (element) => element.tag === "noscript" && asksForScripts.test(textOf(tree, element, 500))
  )
  if (apology !== undefined) return { marker: `noscript: ${textOf(tree, apology, 150)}` }
  // Whatever its root is called: a page of which nothing is to be read is filled by its scripts.
  return visible === "" ? { marker: "a page without a word" } : null
}
