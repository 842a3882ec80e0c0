/** How far into a page its own word about its charset may stand. */
const prescan = 1024

/** Text in the charset that the bytes, the header or the page itself names, in this order; else UTF-8, or what it must then be. */
export const decodeText = (bytes: Buffer, contentType: string): string => {
  const named =
    byMark(bytes) ?? /charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? byPage(bytes, contentType)
  const decoder = named === undefined ? undefined : decoderOf(named)
  if (decoder !== undefined) return decoder.decode(bytes)
  const text = new TextDecoder().decode(bytes)
  // Old pages that name none are Windows'. A few broken characters are just that.
  return isGarbled(text) ? new TextDecoder("windows-1252").decode(bytes) : text
}

const byMark = (bytes: Buffer): string | undefined => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return "utf-8"
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be"
  return bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : undefined
}

const byPage = (bytes: Buffer, contentType: string): string | undefined => {
  if (!/html|xml/i.test(contentType) && contentType !== "") return undefined
  const head = bytes.toString("latin1", 0, prescan)
  const meta = /<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})/i.exec(head)
  const name = (meta ?? /<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]{1,40})/i.exec(head))?.[1]
  // A page in which that could be read is not in UTF-16.
  return name !== undefined && /^utf-?16/i.test(name) ? "utf-8" : name
}

const decoderOf = (label: string) => {
  try {
    return new TextDecoder(label)
  } catch {
    return undefined
  }
}

const isGarbled = (text: string): boolean => {
  let broken = 0
  for (let at = text.indexOf("\uFFFD"); at >= 0 && broken < 4; at = text.indexOf("\uFFFD", at + 1)) broken++
  return broken >= 4
}
