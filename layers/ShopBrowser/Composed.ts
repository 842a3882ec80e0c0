/** As much of an element as is asked here. */
export interface Element {
  readonly nodeType: number
  readonly tagName: string
  readonly outerHTML: string
  readonly innerText?: string
  readonly textContent: string | null
  readonly clientHeight: number
  readonly childNodes: Iterable<Element>
  readonly parentElement: Element | null
  readonly assignedSlot?: Element | null
  readonly shadowRoot?: Element | null
  readonly host?: Element
  readonly form?: Element | null
  readonly labels?: Iterable<Element> | null
  readonly ownerDocument: {
    readonly defaultView: {
      getComputedStyle(of: Element): {
        readonly display: string
        readonly overflowY: string
        readonly visibility: string
      }
    }
    readonly implementation: { createHTMLDocument(title: string): Still }
  }
  append(...nodes: ReadonlyArray<Element>): void
  assignedNodes?(): Iterable<Element>
  checkVisibility(options?: { readonly visibilityProperty: boolean }): boolean
  closest(selector: string): Element | null
  getRootNode(): Element
  matches(selector: string): boolean
  querySelectorAll(selector: string): Iterable<Element>
}
interface Still {
  createElement(name: string): Element
  importNode(node: Element, deep: boolean): Element
}

/**
 * What is read of an element: its HTML, that of what can be seen of it, its words line by line; or the HTML of what is closest around it,
 * `inForm` with all that this holds in a form.
 */
export interface Reading {
  readonly what: "html" | "shown" | "text"
  readonly around?: string
  readonly inForm?: boolean
}

/**
 * Runs in the page, so it has no name but its own. Reads an element as it is drawn: an open shadow root stands in place of what its element
 * holds, and what is put into a slot stands there. A closed one is seen by nobody.
 */
export const readComposed = (control: Element, { around, inForm, what }: Reading): string => {
  const styleOf = (one: Element) => one.ownerDocument.defaultView.getComputedStyle(one)
  const outerOf = (one: Element): Element | null =>
    one.assignedSlot ?? one.parentElement ?? one.getRootNode().host ?? null
  const innerOf = (one: Element): ReadonlyArray<Element> => {
    const given = one.tagName === "SLOT" ? [...(one.assignedNodes?.() ?? [])] : []
    const nodes = given.length > 0 ? given : [...(one.shadowRoot ?? one).childNodes]
    return nodes.flatMap((node) => (node.tagName === "SLOT" && node.getRootNode().host ? innerOf(node) : [node]))
  }
  let root = control
  for (
    let box: Element | null = (around === "form" && control.form) || control;
    around !== undefined && box !== null;
    box = outerOf(box)
  ) {
    root = box
    if (box.matches(around)) break
  }

  // What is around a shadow root, or around a slot of one. Anything else says itself what is drawn of it.
  const composed = new Set<Element>()
  const mark = (tree: Element) => {
    for (const one of [tree, ...tree.querySelectorAll("*")]) {
      if (!one.shadowRoot && !(one.tagName === "SLOT" && one.getRootNode().host)) continue
      for (let box = outerOf(one); box !== null && !composed.has(box); box = outerOf(box)) composed.add(box)
      composed.add(one)
      if (one.shadowRoot) mark(one.shadowRoot)
    }
  }
  mark(root)

  const seen = (one: Element): boolean => {
    const { display, overflowY } = styleOf(one)
    const isFlat =
      one.clientHeight === 0 &&
      innerOf(one).some(({ nodeType }) => nodeType === 1) &&
      overflowY !== "visible" &&
      display === "block"
    // What has no box of its own is seen by what it holds.
    const hasBox = display === "contents" || one.checkVisibility({ visibilityProperty: true })
    return hasBox && one.closest("[inert]") === null && !isFlat
  }
  const kept = /^(?:HTML|HEAD|BODY|OPTION|OPTGROUP|SOURCE|TRACK|BR|WBR)$/
  const isLeft = (one: Element): boolean => {
    if (one.nodeType !== 1 || kept.test(one.tagName) || one.closest("head, svg") !== null || seen(one)) return false
    return !one.matches("input") || ![...(one.labels ?? []), outerOf(one)].some((near) => near !== null && seen(near))
  }
  // A copy in a document without scripts: nothing in it runs, or is loaded.
  const still = root.ownerDocument.implementation.createHTMLDocument("")
  const copyOf = (one: Element): Element => {
    const isWhole = one.nodeType !== 1 || /^(?:TEMPLATE|NOSCRIPT)$/.test(one.tagName)
    const copy = still.importNode(one, isWhole)
    if (!isWhole) for (const node of innerOf(one)) if (what !== "shown" || !isLeft(node)) copy.append(copyOf(node))
    return copy
  }

  // biome-ignore lint/performance/useDomNodeTextContent: what is not drawn is not said to anybody
  const wordsOf = ({ innerText }: Element) => innerText ?? ""
  const say = (one: Element): string => {
    if (one.nodeType === 3) {
      const box = outerOf(one)
      const isSeen = box === null || styleOf(box).visibility === "visible"
      return isSeen ? (one.textContent ?? "").replace(/\s+/g, " ") : ""
    }
    if (one.nodeType !== 1) return ""
    const { display } = styleOf(one)
    if (display !== "contents" && !one.checkVisibility()) return ""
    if (one.tagName === "BR") return "\n"
    const isParted = composed.has(one) || display === "inline"
    const said = isParted ? innerOf(one).map(say).join("") : wordsOf(one)
    if (display === "table-cell") return `${said}\t`
    return /^(?:inline|contents|ruby)/.test(display) ? said : `\n${said}\n`
  }

  if (what === "text" && !composed.has(root)) return wordsOf(root)
  if (what === "text")
    return say(root)
      .replace(/\s*\n\s*/g, "\n")
      .trim()
  if (what === "html" && inForm !== true && !composed.has(root)) return root.outerHTML
  const copy = copyOf(root)
  if (inForm === true) {
    const form = still.createElement("form")
    form.append(...copy.childNodes)
    copy.append(form)
  }
  return copy.outerHTML
}
