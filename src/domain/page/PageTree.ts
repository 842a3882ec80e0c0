import { Tokenizer, type TokenizerCallbacks } from "htmlparser2"
import { impliedClose, isBlock, isHeadTag, isSpaced, isVoid, neverShown } from "./HtmlTags.ts"

/** How much of a page is read. What lies beyond is left out, and `isCut` says so. */
export const treeLimits = { characters: 3_145_728, elements: 60_000, depth: 512, attributes: 64, value: 100_000 }

/** An element of a page, in the order of the page. */
export interface PageElement {
  /** In lower case. */
  readonly tag: string
  readonly attributes: ReadonlyMap<string, string>
  readonly index: number
  /** Index of what it is in, or -1. */
  readonly parent: number
  /** The first index after everything in it. */
  readonly end: number
  /** Where its text begins and ends in the tree's `text`. */
  readonly from: number
  readonly to: number
  /** Not to be seen without scripts: it or something around it is hidden. */
  readonly isHidden: boolean
  readonly isInNoscript: boolean
  /** Index of the form it belongs to, or -1. */
  readonly form: number
  /** Where the source of a script lies in the page; both 0 for other elements. */
  readonly sourceFrom: number
  readonly sourceTo: number
}

/** A page, read once into lists: no step of reading it again needs recursion. */
export interface PageTree {
  readonly html: string
  readonly elements: ReadonlyArray<PageElement>
  /** All text, hidden or not, with a line break where a block begins or ends. */
  readonly text: string
  /** What is to be seen without scripts, in the same form. */
  readonly visible: string
  /** Where in `visible` text is struck through, in its order, and whether it surely is. */
  readonly struck: ReadonlyArray<readonly [from: number, to: number, isSure: boolean]>
  readonly isCut: boolean
}

type Growing = { -readonly [Key in keyof PageElement]: PageElement[Key] }

const none: ReadonlyMap<string, string> = new Map()
/** The last is out of the window, from where nobody can scroll it into sight: forms stand there as traps for programs. */
const hiddenStyle =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:left|top)\s*:\s*-\d{4,6}(?:\.\d{0,9})?(?:px|em|rem)\b)/i
const strikes: ReadonlySet<string> = new Set(["s", "del", "strike"])
/** What many shops call the price of before, which their style sheets strike through. */
const struckClass =
  /(?:^|\s)(?:(?:old|was)[-_]?price|price[-_]{1,2}(?:old|was)|(?:text-decoration-)?line-through)(?:\s|$)/i
/** What it is called as well, by shops that strike it through where there is another, and by shops of which it is the price. */
const normalClass = /(?:^|\s)normalprice(?:\s|$)/i
const classOf = ({ attributes }: PageElement): string => attributes.get("class")?.slice(0, 500) ?? ""
const isSurelyStruck = (element: PageElement): boolean => strikes.has(element.tag) || struckClass.test(classOf(element))
const isStruck = (element: PageElement): boolean => isSurelyStruck(element) || normalClass.test(classOf(element))
const apology = /java\s?-?script/i

const hides = (tag: string, attributes: ReadonlyMap<string, string>) => {
  if (neverShown.has(tag)) return true
  if (tag === "html" || tag === "body" || attributes.size === 0) return tag === "dialog"
  if (attributes.has("hidden") || (tag === "dialog" && !attributes.has("open"))) return true
  const style = attributes.get("style")
  return style !== undefined && hiddenStyle.test(style.slice(0, 2_000))
}

/** Builds the lists while the tokenizer goes through the page. A stack, counted by name, keeps every step short. */
class TreeBuilder implements TokenizerCallbacks {
  readonly elements: Array<Growing> = []
  readonly text: Array<string> = []
  readonly visible: Array<string> = []
  readonly struck: Array<readonly [from: number, to: number, isSure: boolean]> = []
  isCut = false
  readonly #html: string
  readonly #open: Array<Growing> = []
  readonly #openByName = new Map<string, number>()
  /** What was opened deeper than the limit: it is listed, but holds nothing. */
  readonly #flattened = new Map<string, number>()
  #length = 0
  #shown = 0
  /** Where the outermost text that is struck through begins. */
  #struckFrom = 0
  #strikes = 0
  #isSurelyStruck = false
  #form = -1
  #foreign = 0
  #tag = ""
  #attributes: Map<string, string> | undefined
  #name = ""
  #value = ""
  /** Text of a `noscript`, kept until it is known not to be an apology for the lack of scripts. */
  #noscript: Array<string> | undefined
  #stop: () => void

  constructor(html: string, stop: () => void) {
    this.#html = html
    this.#stop = stop
  }

  isInForeignContext() {
    return this.#foreign > 0
  }

  onopentagname(start: number, end: number) {
    this.#tag = this.#html.slice(start, Math.min(end, start + 64)).toLowerCase()
    this.#attributes = undefined
  }

  onattribname(start: number, end: number) {
    this.#name = this.#html.slice(start, Math.min(end, start + 64)).toLowerCase()
    this.#value = ""
  }

  onattribdata(start: number, end: number) {
    this.#addValue(this.#html.slice(start, Math.min(end, start + treeLimits.value)))
  }

  onattribentity(codepoint: number) {
    this.#addValue(String.fromCodePoint(codepoint))
  }

  #addValue(piece: string) {
    if (this.#value.length < treeLimits.value) this.#value += piece
  }

  onattribend() {
    this.#attributes ??= new Map()
    if (this.#attributes.size < treeLimits.attributes && !this.#attributes.has(this.#name)) {
      this.#attributes.set(this.#name, this.#value)
    }
  }

  onopentagend() {
    this.#opened()
  }

  onselfclosingtag() {
    const tag = this.#tag
    this.#opened()
    if (this.#foreign > 0) this.#close(tag)
  }

  #opened() {
    const tag = this.#tag
    if (tag === "form" && this.#form >= 0) return
    if (this.elements.length >= treeLimits.elements) {
      this.isCut = true
      this.#stop()
      return
    }
    this.#closeImplied(tag)
    const attributes = this.#attributes ?? none
    const around = this.#open.at(-1)
    if (isBlock(tag)) this.#write("\n")
    else if (isSpaced(tag)) this.#write(" ")
    const element: Growing = {
      tag,
      attributes,
      index: this.elements.length,
      parent: around?.index ?? -1,
      end: this.elements.length + 1,
      from: this.#length,
      to: this.#length,
      isHidden: around?.isHidden === true || hides(tag, attributes),
      isInNoscript: around?.isInNoscript === true || tag === "noscript",
      form: this.#form,
      sourceFrom: 0,
      sourceTo: 0
    }
    this.elements.push(element)
    if (tag === "br" || tag === "hr") this.#write("\n")
    if (isVoid(tag)) return
    // A script holds nothing but its source, however deep it is.
    if (this.#open.length >= treeLimits.depth && tag !== "script" && tag !== "style") {
      this.#flattened.set(tag, (this.#flattened.get(tag) ?? 0) + 1)
      return
    }
    this.#open.push(element)
    if (isStruck(element)) this.#strike(element)
    this.#openByName.set(tag, (this.#openByName.get(tag) ?? 0) + 1)
    if (tag === "form") this.#form = element.index
    if (tag === "svg" || tag === "math") this.#foreign++
    if (tag === "noscript" && !element.isHidden && this.#noscript === undefined) this.#noscript = []
  }

  #strike(element: PageElement) {
    if (this.#strikes++ === 0) {
      this.#struckFrom = this.#shown
      this.#isSurelyStruck = false
    }
    this.#isSurelyStruck ||= isSurelyStruck(element)
  }

  #closeImplied(tag: string) {
    const closes = impliedClose.get(tag)
    for (let top = this.#open.at(-1); top !== undefined && closes?.has(top.tag); top = this.#open.at(-1)) this.#pop()
    if (!isHeadTag(tag) && this.#open.at(-1)?.tag === "head") this.#pop()
  }

  onclosetag(start: number, end: number) {
    this.#close(this.#html.slice(start, Math.min(end, start + 64)).toLowerCase())
  }

  #close(tag: string) {
    if (tag === "form") this.#form = -1
    const flat = this.#flattened.get(tag) ?? 0
    if (flat > 0) {
      this.#flattened.set(tag, flat - 1)
      return
    }
    if (tag === "br") this.#write("\n")
    if ((this.#openByName.get(tag) ?? 0) === 0) return
    for (let top = this.#pop(); top !== undefined && top.tag !== tag; top = this.#pop());
  }

  #pop() {
    const element = this.#open.pop()
    if (element === undefined) return undefined
    const { tag } = element
    this.#openByName.set(tag, (this.#openByName.get(tag) ?? 1) - 1)
    if (tag === "svg" || tag === "math") this.#foreign--
    if (tag === "noscript" && this.#openByName.get(tag) === 0) this.#releaseNoscript()
    element.end = this.elements.length
    element.to = this.#length
    if (isStruck(element) && --this.#strikes === 0) {
      this.struck.push([this.#struckFrom, this.#shown, this.#isSurelyStruck])
    }
    if (isBlock(tag)) this.#write("\n")
    else if (isSpaced(tag)) this.#write(" ")
    return element
  }

  #releaseNoscript() {
    const kept = this.#noscript?.join("")
    this.#noscript = undefined
    if (kept === undefined || apology.test(kept)) return
    this.visible.push(kept)
    this.#shown += kept.length
  }

  ontext(start: number, end: number) {
    const top = this.#open.at(-1)
    if (top?.tag === "script" || top?.tag === "style") {
      if (top.sourceTo === 0) top.sourceFrom = start
      top.sourceTo = end
      return
    }
    this.#write(this.#html.slice(start, end))
  }

  ontextentity(codepoint: number) {
    const top = this.#open.at(-1)
    if (top?.tag !== "script" && top?.tag !== "style") this.#write(String.fromCodePoint(codepoint))
  }

  #write(piece: string) {
    const top = this.#open.at(-1)
    this.text.push(piece)
    this.#length += piece.length
    if (top?.isHidden === true) return
    if (this.#noscript === undefined) this.#shown += piece.length
    ;(this.#noscript ?? this.visible).push(piece)
  }

  oncdata(start: number, end: number, offset: number) {
    if (this.#foreign > 0) this.#write(this.#html.slice(start, end - offset))
  }

  onend() {
    while (this.#pop() !== undefined);
  }

  oncomment() {}
  ondeclaration() {}
  onprocessinginstruction() {}
}

/** Reads any text as a page. Never throws; takes time in proportion to the length. */
export const readTree = (source: string): PageTree => {
  const html = source.length > treeLimits.characters ? source.slice(0, treeLimits.characters) : source
  const builder: TreeBuilder = new TreeBuilder(html, () => tokenizer.pause())
  const tokenizer = new Tokenizer({}, builder)
  tokenizer.write(html)
  if (tokenizer.running) tokenizer.end()
  else builder.onend()
  return {
    html,
    elements: builder.elements,
    text: builder.text.join(""),
    visible: builder.visible.join(""),
    struck: builder.struck,
    isCut: builder.isCut || html.length < source.length
  }
}
