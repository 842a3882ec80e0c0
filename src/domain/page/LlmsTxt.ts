import { clipped, folded } from "./PageText.ts"

/** A file for language models: `llms.txt`, or an `agents.md`. */
export interface LlmsTxt {
  readonly title: string | null
  readonly links: ReadonlyArray<{ readonly text: string; readonly href: string }>
  /** It begins with a heading of the first level, as llmstxt.org asks. */
  readonly isConforming: boolean
  readonly length: number
}

const link = /\[([^\][\n]{1,300})\]\(\s{0,5}<?([^)\s>[(]{1,2000})/g
const page = /^\s*(?:<!doctype|<html|<head|<body|<\?xml|\{|\[\s*\{)/i

/** Reads Markdown for models; undefined when it is a page, JSON or nothing, as sites answer that answer everything. */
export const readLlmsTxt = (source: string): LlmsTxt | undefined => {
  const text = source.slice(0, 524_288).replace(/^\ufeff/, "")
  if (text.trim().length < 3 || page.test(text) || text.includes("\u0000")) return undefined
  const title = /^#[ \t]+([^\n]{1,300})/m.exec(text)
  const links: Array<LlmsTxt["links"][number]> = []
  for (const match of text.matchAll(link)) {
    if (links.length >= 500) break
    links.push({ text: folded(match[1] ?? ""), href: match[2] ?? "" })
  }
  if (title === null && links.length === 0) return undefined
  const first = text.trimStart().split("\n", 1)[0] ?? ""
  return {
    title: title === null ? null : clipped(folded(title[1] ?? ""), 200),
    links,
    isConforming: /^#[ \t]+\S/.test(first.replace(/^---$/, "")) || (title !== null && /^---\s*$/.test(first)),
    length: source.length
  }
}
