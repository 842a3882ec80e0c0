import type { JsonLdNode } from "./PageFacts.ts"
import { attributeOf, textOf } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** How many things and properties of them are read. */
const microdataLimits = { items: 1_000, properties: 3_000, text: 1_000 }

/** The names of the attributes: microdata's, or those of RDFa lite. */
interface Vocabulary {
  readonly begins: (element: PageElement) => boolean
  readonly type: string
  readonly property: string
  readonly id: string
}

const microdata: Vocabulary = {
  begins: (element) => element.attributes.has("itemscope"),
  type: "itemtype",
  property: "itemprop",
  id: "itemid"
}
const rdfa: Vocabulary = {
  begins: (element) => element.attributes.has("typeof"),
  type: "typeof",
  property: "property",
  id: "resource"
}

type Item = { [key: string]: unknown }

const addressed: Readonly<Record<string, string>> = {
  a: "href",
  link: "href",
  area: "href",
  img: "src",
  iframe: "src",
  source: "src",
  embed: "src",
  object: "data",
  time: "datetime",
  data: "value",
  meter: "value"
}

const valueOf = (tree: PageTree, element: PageElement): string => {
  const content = attributeOf(element, "content", 5_000)
  if (content !== undefined) return content
  const key = addressed[element.tag]
  return (key && attributeOf(element, key)) || textOf(tree, element, microdataLimits.text)
}

const typesIn = (value: string | undefined) =>
  (value ?? "")
    .split(/\s+/)
    .slice(0, 10)
    .filter((type) => type !== "")

const add = (item: Item, name: string, value: unknown) => {
  const list = item[name]
  if (Array.isArray(list)) list.push(value)
  else item[name] = [value]
}

/** A thing on the page and where it stands: `isMain` when it is in no other. */
interface Found {
  readonly items: ReadonlyArray<JsonLdNode>
  readonly mains: ReadonlyArray<JsonLdNode>
}

const names = (element: PageElement, vocabulary: Vocabulary) =>
  typesIn(attributeOf(element, vocabulary.property, 500))
    .map((name) => name.replace(/^.*[/#:]/, ""))
    .filter((name) => name !== "__proto__" && !name.startsWith("@"))

/** Every element knows the nearest thing around it, because what is around comes before it. */
const read = (tree: PageTree, vocabulary: Vocabulary): Found => {
  const around: Array<Item | undefined> = []
  const items: Array<JsonLdNode> = []
  const mains: Array<JsonLdNode> = []
  let properties = 0
  for (const element of tree.elements) {
    const outer = element.parent < 0 ? undefined : around[element.parent]
    const begins = vocabulary.begins(element) && items.length < microdataLimits.items
    const item: Item | undefined = begins ? { "@type": typesIn(attributeOf(element, vocabulary.type, 500)) } : undefined
    around.push(item ?? outer)
    const told = element.attributes.has(vocabulary.property) ? names(element, vocabulary) : []
    if (item !== undefined) {
      const id = attributeOf(element, vocabulary.id)
      if (id !== undefined) item["@id"] = id
      items.push(item)
      if (outer === undefined || told.length === 0) mains.push(item)
    }
    if (outer === undefined || told.length === 0 || properties >= microdataLimits.properties) continue
    properties += told.length
    const value = item ?? valueOf(tree, element)
    for (const name of told) add(outer, name, value)
  }
  return { items, mains }
}

/** Things in microdata, in the shape of JSON-LD. */
export const readMicrodata = (tree: PageTree): Found => read(tree, microdata)

/** Things in RDFa lite, in the shape of JSON-LD. */
export const readRdfa = (tree: PageTree): Found => read(tree, rdfa)
