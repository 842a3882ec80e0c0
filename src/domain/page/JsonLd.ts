import type { JsonLdNode } from "./PageFacts.ts"
import { readJson, withoutEntities } from "./JsonText.ts"
import { attributeOf, clipped, folded, sourceOf } from "./PageText.ts"
import type { PageTree } from "./PageTree.ts"

/** How much of a page's JSON-LD is read. */
const jsonLdLimits = { blocks: 100, nodes: 200, values: 50_000, depth: 32, list: 300 }

/** The JSON-LD of a page. */
export interface JsonLd {
  /** Every object with a type, the outermost first. */
  readonly nodes: ReadonlyArray<JsonLdNode>
  /** Those the page is about: what stands at the top, in a `@graph` or as a `mainEntity`. */
  readonly mains: ReadonlyArray<JsonLdNode>
  readonly byId: ReadonlyMap<string, JsonLdNode>
  readonly broken: ReadonlyArray<string>
}

/** Whether a value is an object of JSON. */
export const isNode = (value: unknown): value is JsonLdNode =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A value as a list: nothing, one or several. */
export const listOf = (value: unknown): ReadonlyArray<unknown> => {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value.slice(0, jsonLdLimits.list) : [value]
}

/** The types of a node without their vocabulary: `Product`. */
export const typesOf = (node: JsonLdNode): ReadonlyArray<string> =>
  listOf(node["@type"]).flatMap((type) =>
    typeof type === "string" && type !== "" ? [clipped(type.trim(), 200).replace(/^.*[/#:]/, "")] : []
  )

/** The first text that a value holds: itself, its `@value` or its `name`. Entities that templates left are decoded. */
export const textIn = (value: unknown, length = 5_000): string | null => {
  const [first] = listOf(value)
  if (typeof first === "string") return clipped(folded(withoutEntities(clipped(first, length))), length) || null
  if (typeof first === "number" && Number.isFinite(first)) return String(first)
  if (!isNode(first)) return null
  const [inner] = listOf(first["@value"] ?? first["name"])
  return typeof inner === "string" || typeof inner === "number" ? textIn(inner, length) : null
}

interface Place {
  readonly value: unknown
  readonly depth: number
  readonly isMain: boolean
}

/** Where the objects of a value are that the page is about. */
const mainKeys: ReadonlySet<string> = new Set(["@graph", "mainEntity", "mainEntityOfPage"])

const childrenOf = ({ value, depth, isMain }: Place): ReadonlyArray<Place> => {
  if (Array.isArray(value)) {
    return value.slice(0, jsonLdLimits.list).map((inner) => ({ value: inner, depth: depth + 1, isMain }))
  }
  if (!isNode(value)) return []
  return Object.keys(value)
    .slice(0, jsonLdLimits.list)
    .map((key) => ({ value: value[key], depth: depth + 1, isMain: isMain && mainKeys.has(key) }))
}

/** Goes through values from the outside in, without recursion. */
const flattened = (roots: ReadonlyArray<unknown>) => {
  const nodes: Array<JsonLdNode> = []
  const mains: Array<JsonLdNode> = []
  const byId = new Map<string, JsonLdNode>()
  const queue: Array<Place> = roots.map((value) => ({ value, depth: 0, isMain: true }))
  for (let at = 0; at < queue.length && at < jsonLdLimits.values; at++) {
    const place = queue[at]
    if (place === undefined || typeof place.value !== "object" || place.value === null) continue
    if (isNode(place.value)) {
      const node = place.value
      const id = node["@id"]
      if (typeof id === "string" && Object.keys(node).length > 1 && !byId.has(id)) byId.set(id, node)
      if (typesOf(node).length > 0) {
        if (nodes.length < jsonLdLimits.nodes) nodes.push(node)
        if (place.isMain && mains.length < jsonLdLimits.nodes) mains.push(node)
      }
    }
    if (place.depth < jsonLdLimits.depth && queue.length < jsonLdLimits.values) queue.push(...childrenOf(place))
  }
  return { nodes, mains, byId }
}

const isJsonLd = (type: string | undefined) => type !== undefined && /^application\/ld\+json\s*(?:;|$)/i.test(type)

/** Reads every block of JSON-LD. A block that cannot be read is told by its beginning. */
export const readJsonLd = (tree: PageTree): JsonLd => {
  const roots: Array<unknown> = []
  const broken: Array<string> = []
  let blocks = 0
  for (const element of tree.elements) {
    if (element.tag !== "script" || !isJsonLd(attributeOf(element, "type", 100))) continue
    if (blocks++ >= jsonLdLimits.blocks) break
    const source = sourceOf(tree, element)
    if (source.trim() === "") continue
    const read = readJson(source)
    if (read === undefined) broken.push(clipped(folded(source.slice(0, 600)), 300))
    else roots.push(read.value)
  }
  return { ...flattened(roots), broken: broken.slice(0, 20) }
}

/**
 * Nodes as far as somebody may want to know them: what is nested deeper, or beyond the limit of values, is null. Nodes in nodes stay the
 * same objects.
 */
export const boundedNodes = (nodes: ReadonlyArray<JsonLdNode>): ReadonlyArray<JsonLdNode> => {
  const copies = new Map<object, unknown>()
  let values = 0
  const copied = (value: unknown, depth: number): unknown => {
    if (typeof value !== "object" || value === null) return value
    const known = copies.get(value)
    if (known !== undefined) return known
    if (depth > 2 * jsonLdLimits.depth || values > jsonLdLimits.values) return null
    const copy = Array.isArray(value)
      ? within(value).map((inner) => copied(inner, depth + 1))
      : Object.fromEntries(within(Object.entries(value)).map(([key, inner]) => [key, copied(inner, depth + 1)]))
    copies.set(value, copy)
    return copy
  }
  const within = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> => {
    const taken = list.slice(0, Math.max(0, jsonLdLimits.values - values))
    values += taken.length + 1
    return taken
  }
  return nodes.map((node) => copied(node, 0)).filter(isNode)
}

/** A node that only names another of the page, as that other. */
export const resolved = (value: unknown, byId: ReadonlyMap<string, JsonLdNode>): unknown => {
  if (!isNode(value)) return value
  const id = value["@id"]
  const isReference = Object.keys(value).every((key) => key === "@id" || key === "@type")
  return typeof id === "string" && isReference ? (byId.get(id) ?? value) : value
}
