/** Reading and writing what strangers sent: nothing here throws on bad input. */

export type Json = { readonly [name: string]: unknown }

/** Anything that JSON can say. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<JsonValue>
  | { readonly [name: string]: JsonValue }

/** Parsed JSON when it is an object; undefined for anything else. */
export const parseJson = (text: string): Json | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const isText = (value: unknown): value is string => typeof value === "string"

export const textOr = <Other>(value: unknown, other: Other): string | Other => (isText(value) ? value : other)

/** A stranger's words, short enough for a message and without control characters. */
export const quoted = (value: unknown): string => textOr(value, "").slice(0, 200).replace(/\p{C}/gu, " ")

/** The bytes behind base64; none when it is no base64. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

/** One character for each byte, as headers take them. */
export const binary = (bytes: Uint8Array): string => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

/** The JSON object behind base64, as headers of x402 carry it; undefined when it is none or too long. */
export const readHeader = (value: string | null): Json | undefined =>
  value === null || value.length > 16_384 ? undefined : parseJson(new TextDecoder().decode(fromBase64(value)))

/** Base64 of JSON in UTF-8. */
export const writeHeader = (value: Json): string => btoa(binary(utf8(JSON.stringify(value))))

/** Random bytes in hex. */
export const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join("")
