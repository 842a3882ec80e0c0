import type { PageFacts } from "./PageFacts.ts"
import { attributeOf, textOf, within } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

interface Step {
  readonly text: string
  readonly isCurrent: boolean
  readonly isOpen: boolean
}

const stepNames = /(?:^|[^a-z])(?:steps?|stepper|progress|wizard|breadcrumbs?|stages?)(?:[^a-z]|$)/i
/** Of these names those that nothing else has: breadcrumbs also say where in the shop a page is, and stages show pictures. */
const ownNames = /(?:^|[^a-z])(?:steps?|stepper|progress|wizard)(?:[^a-z]|$)/i
/** Headings of steps that no name in the page's source tells, as OpenCart's. */
const numbered =
  /^(?:step|schritt|étape|etape|paso|passo|passaggio|stap|steg|trinn?|vaihe|krok|шаг|крок|adım)\s*\d{1,2}\s*[:.)–-]?\s*\p{L}/iu
const lists: ReadonlySet<string> = new Set(["ol", "ul", "nav"])
const currentWord = /^(?:.*[-_])?(?:active|current|selected)$/i
const notCurrent = /(?:^|[-_])(?:in|non?|not)[-_]?(?:active|current|selected)$/i
const groups: ReadonlySet<string> = new Set(["ol", "ul", "nav", "div", "section", "main", "tr"])
const fields: ReadonlySet<string> = new Set(["input", "select", "textarea"])
const headings = /^h[1-6]$/
const most = { groups: 3_000, named: 50, steps: 10, inStep: 2_000, text: 60 }

const classesOf = (element: PageElement) => (attributeOf(element, "class", 500) ?? "").split(/\s+/)
const namesSteps = (element: PageElement, names = stepNames) =>
  names.test(
    ["class", "id", "aria-label"]
      .map((name) => attributeOf(element, name, 300) ?? "")
      .join(" ")
      .replace(/([a-z])([A-Z])/g, "$1 $2")
  )

const marksCurrent = (element: PageElement): boolean =>
  /^(?:step|true|page|location)$/i.test(attributeOf(element, "aria-current", 20) ?? "") ||
  classesOf(element).some((word) => currentWord.test(word) && !notCurrent.test(word))

/** A step is its own short text; one that is open on the page is what its heading says. */
const stepIn = (tree: PageTree, element: PageElement): Step => {
  const inside = within(tree, element, most.inStep)
  const isOpen = inside.some(({ tag }) => fields.has(tag))
  const heading = inside.find(({ tag }) => headings.test(tag))
  const text = textOf(tree, isOpen && heading !== undefined ? heading : element, 200)
  const isCurrent = [element, ...inside.filter(({ parent }) => parent === element.index)].some(marksCurrent)
  // Where more stands below a heading than its words, the step is open. Before it stands its number, and behind it often a link to change it.
  const words = heading === undefined ? text : textOf(tree, heading, 200)
  const behind = text.slice(text.indexOf(words) + words.length).trim()
  const saysMore = behind !== "" && !inside.some((one) => one.tag === "a" && textOf(tree, one, 200) === behind)
  return { text, isCurrent: isCurrent || (isOpen && heading !== undefined), isOpen: isOpen || saysMore }
}

const childrenOf = (tree: PageTree, element: PageElement): ReadonlyArray<PageElement> => {
  const children: Array<PageElement> = []
  for (let at = element.index + 1; at < element.end && children.length <= most.steps; ) {
    const child = tree.elements[at]
    if (child === undefined) break
    if (!child.isHidden && child.tag !== "script" && child.tag !== "style") children.push(child)
    at = Math.max(at + 1, child.end)
  }
  return children
}

/** By its own name or, where it is a link around the step, as Odoo has them, by that of what it holds. */
const isStep = (tree: PageTree, element: PageElement): boolean => {
  const first = tree.elements[element.index + 1]
  return namesSteps(element) || (first?.parent === element.index && namesSteps(first, ownNames))
}

/** What a box has beside words that may be more than a heading. */
const more: ReadonlySet<string> = new Set([...fields, "button", "form", "iframe", "img", "a"])

/**
 * Steps in boxes one below the other that each begin with a heading, where those that are still to come have nothing else yet, as in
 * Medusa's checkout: the last that has more is the current one.
 */
const unfolding = (tree: PageTree, children: ReadonlyArray<PageElement>): PageFacts["steps"] => {
  const steps: Array<{ text: string; isOpen: boolean; asks: boolean }> = []
  for (const child of children) {
    const inside = within(tree, child, most.inStep).filter(({ isHidden, tag }) => !isHidden || tag === "iframe")
    const heading = inside.find(({ tag }) => headings.test(tag))
    if (heading === undefined) return []
    const [text, whole] = [textOf(tree, heading, 200), textOf(tree, child, 200)]
    if (text === "" || text.length > most.text || !whole.startsWith(text)) return []
    // What has a name of its own may be filled by a script.
    const isOpen =
      whole !== text || inside.some((one) => more.has(one.tag) || (one !== heading && one.attributes.has("id")))
    steps.push({ text, isOpen, asks: inside.some(({ tag }) => fields.has(tag) || tag === "button") })
  }
  const current = steps.findLastIndex(({ isOpen }) => isOpen)
  if (steps.length < 3 || current === steps.length - 1 || steps[current]?.asks !== true) return []
  return steps.map(({ text }, at) => ({ text, isCurrent: at === current }))
}

/**
 * The steps that a page names in a row and says where in it we are: a list that is called steps or progress, or has a current step. Of
 * several the first, but a list by its own name before what only looks like one; empty when there is none. The last that is marked is the
 * current one, as what lies behind is often marked as well.
 */
export const readSteps = (tree: PageTree): PageFacts["steps"] => {
  let looked = 0
  let named = 0
  let likely: PageFacts["steps"] = []
  for (const element of tree.elements) {
    if (element.isHidden || !groups.has(element.tag)) continue
    if (++looked > most.groups) break
    const children = childrenOf(tree, element)
    if (children.length < 2 || children.length > most.steps) continue
    const isNamed = namesSteps(element) || children.filter((child) => isStep(tree, child)).length >= 2
    const isMarked = children.some(
      (child) =>
        attributeOf(child, "aria-current", 20) === "step" ||
        within(tree, child, 20).some((inner) => attributeOf(inner, "aria-current", 20) === "step")
    )
    if (!isNamed && !isMarked && !children.every((child) => numbered.test(textOf(tree, child, 100)))) {
      if (likely.length === 0) likely = unfolding(tree, children)
      continue
    }
    if (++named > most.named) break
    const steps = children.map((child) => stepIn(tree, child)).filter(({ text }) => text !== "")
    const current = steps.findLastIndex(({ isCurrent }) => isCurrent)
    if (current < 0 || steps.length < 2) continue
    if (steps.some(({ isOpen, text }, at) => at > current && (isOpen || text.length > most.text))) continue
    const found = steps.map(({ text }, at) => ({ text, isCurrent: at === current }))
    if (lists.has(element.tag) && (isMarked || namesSteps(element, ownNames))) return found
    if (likely.length === 0) likely = found
  }
  return likely
}
