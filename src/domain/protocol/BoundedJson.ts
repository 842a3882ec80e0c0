/** What of a stranger's document is read: a longer or deeper one is refused before anything is built from it. */
export const jsonLimits = { characters: 1_000_000, depth: 64 }

export type JsonRead =
  | { readonly _tag: "Json"; readonly value: unknown }
  | { readonly _tag: "NotJson"; readonly why: string }

const notJson = (why: string): JsonRead => ({ _tag: "NotJson", why })
const [quote, backslash, openBrace, openBracket, closeBrace, closeBracket] = [34, 92, 123, 91, 125, 93]

/** How deep brackets nest, up to one more than allowed; those inside strings do not count. */
const depthOf = (text: string): number => {
  let [depth, deepest, isText] = [0, 0, false]
  for (let at = 0; at < text.length && deepest <= jsonLimits.depth; at++) {
    const code = text.charCodeAt(at)
    if (isText && code === backslash) at++
    else if (code === quote) isText = !isText
    else if (isText) continue
    else if (code === openBrace || code === openBracket) deepest = Math.max(deepest, ++depth)
    else if (code === closeBrace || code === closeBracket) depth--
  }
  return deepest
}

/** Reads JSON that a stranger wrote. Never throws, and takes no more than its length in time. */
export const readBoundedJson = (text: string): JsonRead => {
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text
  if (body.length > jsonLimits.characters) return notJson(`longer than ${jsonLimits.characters} characters`)
  const first = body.trimStart()[0]
  if (first === undefined) return notJson("empty")
  if (first === "<") return notJson("HTML, not JSON")
  if (depthOf(body) > jsonLimits.depth) return notJson(`nested deeper than ${jsonLimits.depth} levels`)
  try {
    return { _tag: "Json", value: JSON.parse(body) }
  } catch {
    return notJson("not JSON")
  }
}
