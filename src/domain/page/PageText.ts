import type { PageElement, PageTree } from "./PageTree.ts"

/** Spaces folded to one, ends trimmed. */
export const folded = (text: string) => text.replace(/[\s\u00a0\u200b\ufeff]+/g, " ").trim()

/** At most `length` characters, never half of a pair. */
export const clipped = (text: string, length: number) =>
  text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "")

/** The text in an element, folded; of a long one the beginning. */
export const textOf = (tree: PageTree, element: PageElement, length = 300) =>
  clipped(folded(tree.text.slice(element.from, Math.min(element.to, element.from + length * 4))), length)

/** What an attribute says, trimmed and bounded; undefined when it says nothing. */
export const attributeOf = (element: PageElement, name: string, length = 2_000) => {
  const value = element.attributes.get(name)?.trim()
  return value === undefined || value === "" ? undefined : clipped(value, length)
}

/** Whether one of the blank-separated words of an attribute is this one, in any case. */
export const hasWord = (value: string | undefined, word: string) =>
  value !== undefined && ` ${value.slice(0, 2_000).toLowerCase().replace(/\s+/g, " ")} `.includes(` ${word} `)

/** An address made absolute; undefined when it is none of http or https. */
export const absolute = (href: string | undefined, base: URL): string | undefined => {
  if (href === undefined || href.length > 2_000) return undefined
  const url = URL.parse(href.trim(), base.href)
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") ? url.href : undefined
}

/** The source of an inline script. */
export const sourceOf = (tree: PageTree, element: PageElement, length = 1_000_000) =>
  tree.html.slice(element.sourceFrom, Math.min(element.sourceTo, element.sourceFrom + length))

/** What lies in an element, without itself; of much the beginning. */
export const within = (
  tree: PageTree,
  element: PageElement,
  most = Number.POSITIVE_INFINITY
): ReadonlyArray<PageElement> => tree.elements.slice(element.index + 1, Math.min(element.end, element.index + 1 + most))
