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

/**
 * Marks prices that are struck through: what the product cost before. Places of `visible`, whose spaces are folded, and of the tree's
 * text are the same by how much stands before them that is no space.
 */
export const unlessStruck = (
  prices: ReadonlyArray<VisiblePrice>,
  visible: string,
  tree: Pick<PageTree, "struck" | "visible">
): ReadonlyArray<VisiblePrice> => {
  if (tree.struck.length === 0 || prices.length === 0) return prices
  const inTree = counter(tree.visible)
  const inVisible = counter(visible)
  const ranges = tree.struck.map(([from, to]) => [inTree(from), inTree(to)] as const)
  let next = 0
  return prices.map((price) => {
    const place = inVisible(price.at)
    while ((ranges[next]?.[1] ?? Number.POSITIVE_INFINITY) <= place) next++
    const isStruck = (ranges[next]?.[0] ?? Number.POSITIVE_INFINITY) <= place
    return isStruck ? { ...price, isAside: true } : price
  })
}
