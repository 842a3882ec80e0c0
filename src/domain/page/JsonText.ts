import { Tokenizer } from "htmlparser2"

/** How deep and how long a text of JSON may be to be read with tolerance. */
const jsonLimits = { depth: 64, characters: 1_000_000 }

/** A text that is no JSON even with tolerance. */
const broken = Symbol("broken")

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }
const entities: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", apos: "'", nbsp: " " }

/** What HTML calls by a name, such as `&eacute;`; itself when it calls nothing so. */
const named = (entity: string): string => {
  const parts: Array<string> = []
  const ignore = () => {}
  const reader = new Tokenizer(
    {},
    {
      onattribdata: ignore,
      onattribentity: ignore,
      onattribend: ignore,
      onattribname: ignore,
      oncdata: ignore,
      onclosetag: ignore,
      oncomment: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onopentagend: ignore,
      onopentagname: ignore,
      onprocessinginstruction: ignore,
      onselfclosingtag: ignore,
      ontext: (from, to) => void parts.push(entity.slice(from, to)),
      ontextentity: (codepoint) => void parts.push(String.fromCodePoint(codepoint))
    }
  )
  reader.write(entity)
  reader.end()
  return parts.join("")
}

/** Decodes the entities that templates leave in scripts, where a browser does not decode any. */
export const withoutEntities = (text: string) =>
  text.includes("&")
    ? text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,30}));/gi, (whole, decimal, hex, name) => {
        if (name !== undefined) return entities[String(name).toLowerCase()] ?? named(whole)
        const code = decimal === undefined ? Number.parseInt(hex, 16) : Number.parseInt(decimal, 10)
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
      })
    : text

/** Reads what people write for JSON: comments, commas at ends, line breaks and single quotes in strings. Bounded in depth. */
class TolerantReader {
  #at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** All values that stand one after the other. */
  all(): ReadonlyArray<unknown> | typeof broken {
    const values: Array<unknown> = []
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === ";" || this.#text[this.#at] === ",") {
        this.#at++
        continue
      }
      const value = this.#value(0)
      if (value === broken || values.length >= 100) return broken
      values.push(value)
    }
    return values.length === 0 ? broken : values
  }

  #value(depth: number): unknown {
    if (depth > jsonLimits.depth) return broken
    const first = this.#text[this.#at]
    if (first === "{") return this.#object(depth)
    if (first === "[") return this.#array(depth)
    if (first === '"' || first === "'") return this.#string(first)
    return this.#word()
  }

  #object(depth: number): unknown {
    const entries: Array<readonly [string, unknown]> = []
    this.#at++
    for (this.#skipCommas(); this.#text[this.#at] !== "}"; this.#skipCommas()) {
      const quote = this.#text[this.#at]
      const key = quote === '"' || quote === "'" ? this.#string(quote) : broken
      this.#skip()
      if (typeof key !== "string" || this.#text[this.#at] !== ":") return broken
      this.#at++
      this.#skip()
      const value = this.#value(depth + 1)
      if (value === broken || !this.#isFollowed("}")) return broken
      entries.push([key, value])
    }
    this.#at++
    return Object.fromEntries(entries)
  }

  #array(depth: number): unknown {
    const values: Array<unknown> = []
    this.#at++
    for (this.#skipCommas(); this.#text[this.#at] !== "]"; this.#skipCommas()) {
      const value = this.#value(depth + 1)
      if (value === broken || !this.#isFollowed("]")) return broken
      values.push(value)
    }
    this.#at++
    return values
  }

  #string(quote: string): string | typeof broken {
    const parts: Array<string> = []
    let from = ++this.#at
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text[this.#at]
      if (character === quote) {
        parts.push(this.#text.slice(from, this.#at++))
        return parts.join("")
      }
      if (character !== "\\") continue
      parts.push(this.#text.slice(from, this.#at), this.#escaped())
      from = this.#at + 1
    }
    return broken
  }

  /** Leaves the place on the last character of the escape. */
  #escaped(): string {
    const character = this.#text[++this.#at] ?? ""
    if (character !== "u") return escapes[character] ?? character
    const code = /^[0-9a-fA-F]{4}$/.exec(this.#text.slice(this.#at + 1, this.#at + 5))?.[0]
    if (code === undefined) return character
    this.#at += 4
    return String.fromCharCode(Number.parseInt(code, 16))
  }

  #word(): unknown {
    const word = /^[-+.\w]{1,40}/.exec(this.#text.slice(this.#at, this.#at + 41))?.[0]
    if (word === undefined) return broken
    this.#at += word.length
    if (word === "true" || word === "false") return word === "true"
    if (word === "null" || word === "undefined") return null
    const number = Number(word)
    return Number.isFinite(number) ? number : broken
  }

  /** A comma may be too many, but not missing. */
  #isFollowed(end: string) {
    this.#skip()
    return this.#text[this.#at] === "," || this.#text[this.#at] === end
  }

  #skipCommas() {
    for (this.#skip(); this.#text[this.#at] === ","; this.#skip()) this.#at++
  }

  #skip() {
    for (; this.#at < this.#text.length; this.#at++) {
      const character = this.#text.charCodeAt(this.#at)
      if (character === 0x2f) {
        if (!this.#skipComment()) return
      } else if (character > 0x20 && character !== 0xa0 && character !== 0xfeff) return
    }
  }

  /** Leaves the place on the last character of the comment. */
  #skipComment() {
    const line = this.#text[this.#at + 1] === "/"
    if (!line && this.#text[this.#at + 1] !== "*") return false
    const end = this.#text.indexOf(line ? "\n" : "*/", this.#at + 2)
    this.#at = end < 0 ? this.#text.length : end + (line ? 0 : 1)
    return true
  }
}

const strict = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return broken
  }
}

const wrapping = /^(?:\s|\/\/\s*(?=<!|\]\]|-->)|\/\*(?=\s*<!\[CDATA\[)|<!--|<!\[CDATA\[|\]\]>|-->)+/
const trailing = /(?:\/\/|\/\*)?\s{0,20}(?:\]\]>|-->)\s{0,20}(?:\*\/)?\s{0,20}$/

/** Without the comment or CDATA around it. */
const bare = (text: string) => {
  const start = text.slice(0, 200)
  const opened = start.replace(wrapping, "").replace(/^\s*\*\//, "")
  if (opened.length === start.length) return text
  const rest = opened + text.slice(200)
  return rest.slice(0, -100) + rest.slice(-100).replace(trailing, "")
}

/** What a text of JSON says, read with tolerance; undefined when it cannot be read. Several values become a list. */
export const readJson = (source: string): { readonly value: unknown } | undefined => {
  const direct = strict(source)
  if (direct !== broken) return { value: direct }
  if (source.length > jsonLimits.characters) return undefined
  for (const text of [bare(source.trim()), withoutEntities(bare(source.trim()))]) {
    const values = new TolerantReader(text).all()
    if (values !== broken) return { value: values.length === 1 ? values[0] : values }
  }
  return undefined
}
