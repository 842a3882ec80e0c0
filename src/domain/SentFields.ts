/** A field as a form, or a script in its place, sends it. */
export type SentField = readonly [name: string, value: string]

/** How many fields are read. PHP, by which most shops read them, takes no more by itself. */
const mostFields = 1000

/** How many characters of a part's headers are looked at. The name comes first in what browsers write. */
const longestHeaders = 1000

const nameIn = /;\s*name\s*=\s*(?:"([^"]{0,300})"|([^\s;"]{1,300}))/i

/** The value ends where the next part's delimiter begins. A value may hold such a line itself, so the last one counts. */
const valueOf = (rest: string): string => {
  const end = rest.lastIndexOf("\n--")
  return (end < 0 ? rest : rest.slice(0, end)).replace(/\r$/, "")
}

const ofPart = /content-disposition:[ \t]*form-data/i
const ofField = /&|\r?\n/

/**
 * The fields of a body in parts (RFC 7578), which is how scripts send a form; none of another body. Parts are told by their own header and
 * not by the boundary, as what is sent need not be written by a browser, and whoever reads it may take lines that end without a carriage
 * return. In time that grows with the body's length alone.
 */
export const fieldsInParts = (body: string): ReadonlyArray<SentField> => {
  const [, ...parts] = body.split(ofPart, mostFields + 1)
  return parts.map((part) => {
    const gap = /\r?\n\r?\n/.exec(part)
    const [, quoted, bare] = nameIn.exec(part.slice(0, Math.min(gap?.index ?? part.length, longestHeaders))) ?? []
    return [quoted ?? bare ?? "", gap === null ? "" : valueOf(part.slice(gap.index + gap[0].length))]
  })
}

/** The fields of what a form sends, however it packs them: in parts, in an address's way, or a line each, as `text/plain`. */
export const sentFields = (body: string): ReadonlyArray<SentField> => {
  const parts = fieldsInParts(body)
  return parts.length > 0 ? parts : [...new URLSearchParams(body.split(ofField, mostFields).join("&"))]
}

/** Whether a body has more fields than are read. JSON has none, however many lines it is written in. */
export const hasMoreFields = (body: string): boolean => {
  const parts = body.split(ofPart, mostFields + 2).length - 1
  if (parts > 0) return parts > mostFields
  return !/^\s*[[{]/.test(body) && body.split(ofField, mostFields + 1).length > mostFields
}
