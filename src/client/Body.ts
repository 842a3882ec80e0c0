import { parseJson, type Json } from "./Encoding.ts"
import { orAborted, timed } from "./Time.ts"

/** How much of an answer is read to understand it. */
const mostBytes = 65_536

/** The text of an answer; undefined when it is too long or does not end within `millis`. Stops reading then. */
export const readBounded = async (
  response: Response,
  signal: AbortSignal | undefined,
  millis: number
): Promise<string | undefined> => {
  try {
    const bytes = await timed(millis, signal, (until) => bytesIn(response.body, mostBytes, until))
    return bytes && new TextDecoder().decode(bytes)
  } catch {
    signal?.throwIfAborted()
    return undefined
  }
}

/** What a body has; undefined when that is more than `most` bytes. Stops reading then. */
export const bytesIn = async (
  body: Response["body"],
  most: number,
  signal?: AbortSignal
): Promise<Uint8Array<ArrayBuffer> | undefined> => {
  const reader = body?.getReader()
  const chunks: Array<Uint8Array<ArrayBuffer>> = []
  try {
    for (let size = 0; reader; ) {
      const { done, value } = await orAborted(reader.read(), signal)
      if (done) break
      chunks.push(value)
      size += value.length
      if (size > most) return undefined
    }
    return new Uint8Array(await new Blob(chunks).arrayBuffer())
  } finally {
    discard(reader)
  }
}

/** The JSON object that an answer carries, read from a copy; undefined when it is none. */
export const peekJson = async (
  response: Response,
  signal: AbortSignal | undefined,
  millis: number
): Promise<Json | undefined> => {
  if (!/\bjson\b/.test(response.headers.get("content-type") ?? "")) return undefined
  return parseJson((await readBounded(response.clone(), signal, millis)) ?? "")
}

/** Lets go of what nobody will read. */
export const discard = (body: { cancel(): Promise<void> } | null | undefined): void => {
  body?.cancel().catch(() => undefined)
}
