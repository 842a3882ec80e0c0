import { isUtf8 } from "node:buffer"
import { fieldsInParts, hasMoreFields } from "#domain/SentFields.ts"

/** What requests call it by which a body is packed; a page may write the name in any case. */
const encodingOf = (headers: Readonly<Record<string, string>>): string => {
  const [, said = ""] = Object.entries(headers).find(([name]) => /^content-encoding$/i.test(name)) ?? []
  return said.trim().toLowerCase()
}

/** No text that a form or a script writes holds them, and nearly everything else does. */
const isControl = (code: number): boolean => code < 9 || (code > 13 && code < 32)

/** More than a purchase sends. Everybody of this process waits while a body is read, and pages send thousands. */
const mostBytes = 2_000_000

/**
 * What a request sends, as text; undefined where its words cannot be read: it is packed, is no text, or is too much. Files among the
 * parts of a form are passed over, as its fields are read beside them.
 */
export const sentText = (bytes: Uint8Array, headers: Readonly<Record<string, string>>): string | undefined => {
  const encoding = encodingOf(headers)
  if (bytes.length > 0 && encoding !== "" && encoding !== "identity") return undefined
  if (bytes.length > mostBytes) return undefined
  const text = new TextDecoder().decode(bytes)
  if (hasMoreFields(text)) return undefined
  return (isUtf8(bytes) && !bytes.some(isControl)) || fieldsInParts(text).length > 0 ? text : undefined
}
