import sax from "sax"
import { looksLikeProduct } from "./ProductUrl.ts"

/** How much of a sitemap is read: the standard's own bounds, and as much as is kept. */
export const sitemapLimits = {
  entries: 50_000,
  kept: 1_000,
  characters: 52_428_800,
  depth: 16,
  text: 4_096,
  chunk: 65_536
}

/** A sitemap: addresses of pages, or of further sitemaps. */
export interface Sitemap {
  readonly kind: "urlset" | "index"
  /** Its addresses, each once, at most 1,000: the first in the order of the alphabet, as the file's own order may be chance. */
  readonly locs: ReadonlyArray<string>
  /** Those that look like products, likewise. */
  readonly products: ReadonlyArray<string>
  /** How many there are, and how many of them look like products. */
  readonly entries: number
  readonly productEntries: number
  /** The newest `lastmod`, in milliseconds since 1970. */
  readonly newest: number | null
  /** There is more than was read, or more than the standard allows. */
  readonly isCut: boolean
  /** What is wrong with it, when something is. */
  readonly problem: string | null
}

/** Reads a sitemap piece by piece. `isDone` says that no further piece is wanted. */
export interface SitemapReader {
  readonly write: (chunk: string) => void
  readonly isDone: () => boolean
  /** Undefined when it was no sitemap at all. */
  readonly end: () => Sitemap | undefined
}

const isAddress = (text: string) => /^https?:\/\/[^\s]+$/i.test(text)
const local = (name: string) => name.replace(/^.*:/, "").toLowerCase()

/** The first of many addresses in the order of the alphabet, in whatever order they come. */
class Firsts {
  #kept: Array<string> = []

  add(address: string) {
    this.#kept.push(address)
    if (this.#kept.length >= 2 * sitemapLimits.kept) this.#kept = this.sorted()
  }

  sorted(): Array<string> {
    return [...new Set(this.#kept)].sort().slice(0, sitemapLimits.kept)
  }
}

class Reader {
  readonly #locs = new Firsts()
  readonly #products = new Firsts()
  entries = 0
  productEntries = 0
  newest: number | null = null
  kind: Sitemap["kind"] | undefined
  problem: string | null = null
  isCut = false
  isDone = false
  read = 0
  readonly #platform: string | null
  readonly #path: Array<string> = []
  #text: string | undefined

  constructor(platform: string | null) {
    this.#platform = platform
  }

  open(name: string) {
    const tag = local(name)
    this.#path.push(tag)
    if (this.#path.length === 1 && this.kind === undefined) {
      this.kind = tag === "urlset" ? "urlset" : tag === "sitemapindex" ? "index" : undefined
      if (this.kind === undefined) this.isDone = true
    }
    if (this.#path.length > sitemapLimits.depth) this.#stop("elements are nested too deeply")
    const around = this.#path.at(-2)
    this.#text = (tag === "loc" || tag === "lastmod") && (around === "url" || around === "sitemap") ? "" : undefined
  }

  text(text: string) {
    if (this.#text !== undefined && this.#text.length < sitemapLimits.text)
      this.#text += text.slice(0, sitemapLimits.text)
  }

  close() {
    const tag = this.#path.pop()
    const text = this.#text?.trim()
    this.#text = undefined
    if (text === undefined || text === "") return
    if (tag === "loc") this.loc(text)
    else this.#lastmod(text)
  }

  get found() {
    return { locs: this.#locs.sorted(), products: this.#products.sorted() }
  }

  loc(text: string) {
    if (this.isDone || !isAddress(text) || text.length > 2_048) return
    if (this.entries >= sitemapLimits.entries) {
      this.isCut = true
      this.isDone = true
      return
    }
    this.entries++
    this.#locs.add(text)
    if (this.kind === "urlset" && looksLikeProduct(text, this.#platform)) {
      this.productEntries++
      this.#products.add(text)
    }
  }

  #lastmod(text: string) {
    const at = text.length > 40 ? Number.NaN : Date.parse(text)
    if (Number.isFinite(at)) this.newest = Math.max(this.newest ?? at, at)
  }

  #stop(problem: string) {
    this.problem ??= problem
    this.isCut = true
    this.isDone = true
  }

  broken(problem: string) {
    this.problem ??= problem.split("\n", 1)[0]?.slice(0, 200) ?? "not well-formed"
  }
}

const parserOf = (reader: Reader) => {
  const parser = sax.parser(false, { lowercase: true, trim: false, position: false })
  parser.onopentag = (tag) => reader.open(tag.name)
  parser.onclosetag = () => reader.close()
  parser.ontext = (text) => reader.text(text)
  parser.oncdata = (text) => reader.text(text)
  parser.onerror = (error) => {
    reader.broken(error.message)
    // The parser would throw the same error again at the next piece.
    parser.resume()
  }
  return parser
}

/** Reads XML as it comes. Entities that a document declares are not expanded, and nothing beyond the limits is kept. */
export const sitemapReader = (platform: string | null = null): SitemapReader => {
  const reader = new Reader(platform)
  const parser = parserOf(reader)
  const write = (chunk: string) => {
    for (let from = 0; from < chunk.length && !reader.isDone; from += sitemapLimits.chunk) {
      const piece = chunk.slice(from, from + sitemapLimits.chunk)
      reader.read += piece.length
      if (reader.read > sitemapLimits.characters) {
        reader.isCut = true
        reader.isDone = true
      } else parser.write(piece)
    }
  }
  const end = (): Sitemap | undefined => {
    if (!reader.isDone) parser.close()
    const { kind, entries, productEntries, newest, isCut, problem, found } = reader
    return kind === undefined ? undefined : { kind, ...found, entries, productEntries, newest, isCut, problem }
  }
  return { write, isDone: () => reader.isDone, end }
}

/** A plain list of addresses, one a line, which the standard allows too. */
const readLines = (text: string, platform: string | null): Sitemap | undefined => {
  const reader = new Reader(platform)
  reader.kind = "urlset"
  for (const [line] of text.slice(0, sitemapLimits.characters).matchAll(/[^\r\n]+/g)) {
    if (reader.isDone) break
    const address = line.trim()
    if (address !== "" && !isAddress(address)) return undefined
    reader.loc(address)
  }
  const { entries, productEntries, isCut, found } = reader
  return entries === 0
    ? undefined
    : { kind: "urlset", ...found, entries, productEntries, newest: null, isCut, problem: null }
}

/** Reads a whole sitemap: XML, or a plain list of addresses. Undefined for anything else, such as a page. */
export const readSitemap = (text: string, platform: string | null = null): Sitemap | undefined => {
  const start = text
    .slice(0, 1_000)
    .replace(/^\ufeff/, "")
    .trimStart()
  if (/^https?:\/\//i.test(start)) return readLines(text, platform)
  if (!start.startsWith("<")) return undefined
  const reader = sitemapReader(platform)
  reader.write(text.replace(/^\s+/, ""))
  return reader.end()
}
