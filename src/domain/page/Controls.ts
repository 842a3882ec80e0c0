import { addsByWords } from "./AddToCart.ts"
import type { PageControl, PageForm } from "./PageFacts.ts"
import { isInCard } from "./Card.ts"
import { surroundingsOf } from "./FormWords.ts"
import { absolute, attributeOf, clipped, folded, hasWord, textOf } from "./PageText.ts"
import type { PageElement, PageTree } from "./PageTree.ts"

/** How many are listed. */
const controlLimits = { forms: 200, controls: 2_000, options: 300 }

const tags: ReadonlySet<string> = new Set(["input", "select", "textarea", "button"])
const isControl = (element: PageElement) => tags.has(element.tag)

/** A link without an address in a form is a button of it that a script presses: told where its words say that it adds to a cart. */
const isPressedLink = (tree: PageTree, element: PageElement) =>
  element.tag === "a" &&
  element.form >= 0 &&
  /^(?:#|\s*javascript:.*)?$/is.test(element.attributes.get("href") ?? "") &&
  addsByWords(textOf(tree, element))
const tagOf = (element: PageElement): PageControl["tag"] => {
  if (element.tag === "select" || element.tag === "textarea" || element.tag === "button") return element.tag
  if (element.tag === "a") return "button"
  return "input"
}

const typeOf = (element: PageElement) => {
  const said = attributeOf(element, "type", 50)?.toLowerCase()
  if (element.tag === "a") return "button"
  if (element.tag === "button") return said === "button" || said === "reset" ? said : "submit"
  return element.tag === "input" ? (said ?? "text") : element.tag
}

/** Labels by what they label: by the id they name, or by the control they are around. */
interface Labels {
  readonly byId: ReadonlyMap<string, string>
  readonly around: ReadonlyMap<number, string>
  readonly elements: ReadonlyMap<string, PageElement>
}

const labelsOf = (tree: PageTree): Labels => {
  const byId = new Map<string, string>()
  const around = new Map<number, string>()
  const elements = new Map<string, PageElement>()
  for (const element of tree.elements) {
    const id = element.attributes.get("id")
    if (id !== undefined && !elements.has(id)) elements.set(id, element)
    if (element.tag !== "label") continue
    const text = textOf(tree, element)
    const target = element.attributes.get("for")
    if (text === "") continue
    if (target !== undefined) byId.set(target, byId.get(target) ?? text)
    else labelFirst(tree, element, text, around)
  }
  return { byId, around, elements }
}

/** A label without `for` names the first control in it. */
const labelFirst = (tree: PageTree, label: PageElement, text: string, around: Map<number, string>) => {
  for (let index = label.index + 1; index < Math.min(label.end, label.index + 50); index++) {
    const element = tree.elements[index]
    if (element !== undefined && isControl(element) && typeOf(element) !== "hidden") {
      around.set(index, text)
      return
    }
  }
}

/** The alternative text of the first picture in a button. */
const pictured = (tree: PageTree, element: PageElement) => {
  for (let index = element.index + 1; index < Math.min(element.end, element.index + 10); index++) {
    const child = tree.elements[index]
    const text = child && (attributeOf(child, "alt", 300) ?? attributeOf(child, "aria-label", 300))
    if (text !== undefined) return text
  }
  return undefined
}

const labelled = (tree: PageTree, element: PageElement, labels: Labels) => {
  const ids = attributeOf(element, "aria-labelledby")?.split(/\s+/).slice(0, 10) ?? []
  const text = ids.flatMap((id) => {
    const label = labels.elements.get(id)
    return label === undefined ? [] : [textOf(tree, label)]
  })
  return folded(text.join(" "))
}

/** The types of what is pressed, and not filled in. */
export const buttonTypes: ReadonlySet<string> = new Set(["submit", "button", "reset", "image"])
const ownText = (tree: PageTree, element: PageElement, type: string) => {
  if (element.tag === "button" || element.tag === "a") return textOf(tree, element) || pictured(tree, element)
  if (type === "image") return attributeOf(element, "alt", 300)
  return buttonTypes.has(type) ? attributeOf(element, "value", 300) : undefined
}

const labelOf = (tree: PageTree, element: PageElement, type: string, labels: Labels): string | null => {
  const id = element.attributes.get("id")
  return (
    labelled(tree, element, labels) ||
    attributeOf(element, "aria-label", 300) ||
    ownText(tree, element, type) ||
    (id !== undefined && labels.byId.get(id)) ||
    labels.around.get(element.index) ||
    attributeOf(element, "title", 300) ||
    attributeOf(element, "placeholder", 300) ||
    null
  )
}

const optionsOf = (tree: PageTree, element: PageElement): PageControl["options"] => {
  if (element.tag !== "select") return []
  const options: Array<PageControl["options"][number]> = []
  for (let index = element.index + 1; index < element.end && options.length < controlLimits.options; index++) {
    const option = tree.elements[index]
    if (option?.tag !== "option") continue
    const text = textOf(tree, option)
    options.push({
      value: clipped(option.attributes.get("value") ?? text, 2_000),
      text,
      selected: option.attributes.has("selected"),
      disabled: option.attributes.has("disabled")
    })
  }
  return options
}

/** What is sent by being chosen: an empty value is one, as that of "One-time purchase" often is. */
const chosenTypes: ReadonlySet<string> = new Set(["radio", "checkbox"])

const valueOf = (tree: PageTree, element: PageElement, options: PageControl["options"]) => {
  if (element.tag === "textarea") return textOf(tree, element, 2_000)
  if (chosenTypes.has(typeOf(element)) && element.attributes.get("value") === "") return ""
  if (element.tag !== "select") return clipped(element.attributes.get("value") ?? "", 10_000) || null
  const choosable = options.filter((option) => !option.disabled)
  return (choosable.find((option) => option.selected) ?? choosable[0])?.value ?? null
}

const saidOf = (element: PageElement, name: "min" | "step") => {
  const said = attributeOf(element, name, 50)
  return said === undefined ? {} : { [name]: said }
}

const controlOf = (
  tree: PageTree,
  element: PageElement,
  labels: Labels,
  base: URL,
  heading: PageElement | undefined
): PageControl => {
  const type = typeOf(element)
  const formAction = absolute(attributeOf(element, "formaction"), base)
  const options = optionsOf(tree, element)
  const label = labelOf(tree, element, type, labels)
  const isOfOther = buttonTypes.has(type) && addsByWords(label ?? "") && isInCard(tree, element, heading, base)
  return {
    tag: tagOf(element),
    type,
    name: attributeOf(element, "name", 500) ?? null,
    id: attributeOf(element, "id", 500) ?? null,
    value: valueOf(tree, element, options),
    label,
    autocomplete: attributeOf(element, "autocomplete", 200)?.toLowerCase() ?? null,
    required: element.attributes.has("required") || element.attributes.get("aria-required") === "true",
    ...(hasWord(element.attributes.get("class"), "required-entry") ||
    hasWord(element.attributes.get("class"), "required")
      ? { isRequiredByScript: true }
      : {}),
    checked: element.attributes.has("checked"),
    disabled: element.attributes.has("disabled"),
    ...(element.isHidden ? { isHidden: true } : {}),
    ...(isOfOther ? { isOfOther: true } : {}),
    ...saidOf(element, "min"),
    ...saidOf(element, "step"),
    ...(formAction === undefined ? {} : { formAction }),
    options
  }
}

const formOf = (
  tree: PageTree,
  element: PageElement,
  base: URL,
  url: URL,
  controls: ReadonlyArray<PageControl>
): PageForm => ({
  action: absolute(attributeOf(element, "action"), base) ?? url.href,
  hasAction: (attributeOf(element, "action") ?? "") !== "",
  method: attributeOf(element, "method", 10)?.toUpperCase() === "POST" ? "POST" : "GET",
  enctype: attributeOf(element, "enctype", 100)?.toLowerCase() ?? "application/x-www-form-urlencoded",
  id: attributeOf(element, "id", 500) ?? null,
  role: attributeOf(element, "role", 50)?.toLowerCase() ?? null,
  ...surroundingsOf(tree, element),
  controls
})

/** Forms with what they would send, and what stands outside of any; `form="id"` counts as being in it. */
export const readControls = (
  tree: PageTree,
  base: URL,
  url: URL,
  heading: PageElement | undefined
): { readonly forms: ReadonlyArray<PageForm>; readonly controls: ReadonlyArray<PageControl> } => {
  const labels = labelsOf(tree)
  const forms = tree.elements.filter((element) => element.tag === "form").slice(0, controlLimits.forms)
  const of = new Map<number, Array<PageControl>>(forms.map((form) => [form.index, []]))
  const outside: Array<PageControl> = []
  let count = 0
  for (const element of tree.elements) {
    if ((!isControl(element) && !isPressedLink(tree, element)) || count++ >= controlLimits.controls) continue
    const named = element.attributes.get("form")
    const owner = named === undefined ? element.form : (labels.elements.get(named)?.index ?? -1)
    const list = of.get(owner) ?? outside
    list.push(controlOf(tree, element, labels, base, heading))
  }
  return {
    forms: forms.map((form) => ({
      ...formOf(tree, form, base, url, of.get(form.index) ?? []),
      ...(form.index < (heading?.index ?? 0) ? { isAboveHeading: true } : {})
    })),
    controls: outside
  }
}
