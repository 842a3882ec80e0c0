import type { PageTree } from "./PageTree.ts"
import type { VisiblePrice } from "./Price.ts"

const solid = (text: string): number => text.replace(/[\s\u00a0\u200b\ufeff]+/g, "").length

/** Counts what is no space before ascending places of a text, reading it once. */
const counter = (text: string) => {
  let [at, count] = [0, 0]
  return (place: number): number => {
    count += solid(text.slice(at, place))
    at = Math.max(at, place)
    return count
  }
}

/** How much that is no space stands between what a product cost before and what it costs now, at most. */
const near = 40

/**
 * Marks prices that are struck through: what the product cost before. Where that is not sure, another price stands beside it that is
 * not. Places of `visible`, whose spaces are folded, and of the tree's text are the same by how much stands before them that is no space.
 */
export const unlessStruck = (
  prices: ReadonlyArray<VisiblePrice>,
  visible: string,
  tree: Pick<PageTree, "struck" | "visible">
): ReadonlyArray<VisiblePrice> => {
  if (tree.struck.length === 0 || prices.length === 0) return prices
  const inTree = counter(tree.visible)
  const inVisible = counter(visible)
  const ranges = tree.struck.map(([from, to, isSure]) => ({ from: inTree(from), to: inTree(to), isSure }))
  let next = 0
  const places = prices.map((price) => {
    const place = inVisible(price.at)
    while ((ranges[next]?.to ?? Number.POSITIVE_INFINITY) <= place) next++
    const range = ranges[next]
    return { price, place, struck: range !== undefined && range.from <= place ? range : undefined }
  })
  const isBeside = (other: (typeof places)[number] | undefined, place: number) =>
    other !== undefined && other.struck === undefined && !other.price.isAside && Math.abs(other.place - place) <= near
  return places.map(({ place, price, struck }, index) => {
    if (struck === undefined) return price
    const isStruck = struck.isSure || [places[index - 1], places[index + 1]].some((other) => isBeside(other, place))
    return isStruck ? { ...price, isAside: true } : price
  })
}
