import { attributeOf, clipped, sourceOf } from "./PageText.ts"
import type { PageTree } from "./PageTree.ts"

const attributes = ["toolname", "tool-name", "tooldescription", "tool-description"]
const calls =
  /(?:navigator|document|window\.agent|agent)\.(?:modelContext|provideContext)\b(?:\.(?:registerTool|provideContext))?/g

/** Forms that are tools of WebMCP, by their name, and calls of its interface in inline scripts. At most 50. */
export const readWebMcp = (tree: PageTree): ReadonlyArray<string> => {
  const found = new Set<string>()
  for (const element of tree.elements) {
    if (found.size >= 50) break
    for (const name of attributes) {
      if (element.attributes.has(name)) found.add(clipped(`${name}=${attributeOf(element, name, 200) ?? ""}`, 200))
    }
    if (element.tag !== "script" || element.sourceTo === 0) continue
    for (const match of sourceOf(tree, element, 300_000).matchAll(calls)) found.add(match[0])
  }
  return [...found].slice(0, 50)
}
