import { parseJson, type Json } from "./Encoding.ts"
import { orAborted } from "./Time.ts"

/** How much of an answer is read to understand it. */
const mostBytes = 65_536

/** The text of an answer; undefined when it is too long or does not end within `millis`. Stops reading then. */
export const readBounded = async (
  response: Response,
  signal: AbortSignal | undefined,
  millis: number
): Promise<string | undefined> => {
  const reader = response.body?.getReader()
  if (reader === undefined) return ""
  const decoder = new TextDecoder()
  const late = AbortSignal.timeout(millis)
  const until = signal === undefined ? late : AbortSignal.any([signal, late])
  let text = ""
  let size = 0
  try {
    for (;;) {
      const { done, value } = await orAborted(reader.read(), until)
      if (done) return text + decoder.decode()
      size += value.length
      if (size > mostBytes) return undefined
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    signal?.throwIfAborted()
    return undefined
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
