/** How far into a page its own word about its charset may stand. */
const prescan = 1024

/** The charset that the bytes, the header or the page itself names, in this order; else UTF-8, or what it must then be. */
export const charsetOf = (bytes: Uint8Array, contentType: string): string => {
  const named =
    byMark(bytes) ?? /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? byPage(bytes, contentType)
  if (named !== undefined && isKnown(named)) return named
  // Old pages that name none are Windows'. A few broken characters are just that.
  return isGarbled(bytes) ? "windows-1252" : "utf-8"
}

const byMark = (bytes: Uint8Array): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined
}

const byPage = (bytes: Uint8Array, contentType: string): string | undefined => {
  if (!/html|xml/i.test(contentType) && contentType !== "") return undefined
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, prescan))
  const meta = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)
  const name = (meta ?? /<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head))?.[1]
  // A page in which that could be read is not in UTF-16.
  return name !== undefined && /^utf-?16/i.test(name) ? "utf-8" : name
}

const isKnown = (label: string): boolean => {
  try {
    return new TextDecoder(label).encoding !== ""
  } catch {
    return false
  }
}

/** Read piece by piece: one long text would be thrown away at once. */
const isGarbled = (bytes: Uint8Array): boolean => {
  const decoder = new TextDecoder()
  let broken = 0
  for (let from = 0; from < bytes.length; from += piece) {
    const text = decoder.decode(bytes.subarray(from, from + piece), { stream: true })
    for (let at = text.indexOf("\uFFFD"); at >= 0; at = text.indexOf("\uFFFD", at + 1)) broken++
    if (broken >= 4) return true
  }
  return false
}
const piece = 32_768
