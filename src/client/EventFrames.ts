/** One event of a stream of server-sent events, by the rules of WHATWG. */
export interface Frame {
  /** The id that this event brought; undefined when it has none. */
  readonly id: string | undefined
  readonly event: string
  readonly data: string
}

export interface EventFrames {
  /** The events that are whole with these bytes. Throws when one is larger than any may be. */
  readonly push: (bytes: Uint8Array) => ReadonlyArray<Frame>
  /** The pause before connecting again that the stream asked for, in milliseconds. */
  readonly retry: () => number | undefined
}

/** What one event may have: a stranger who never ends it would fill the memory. */
const mostCharacters = 16 * 1024 * 1024

/** Reads a stream however it is cut into pieces: within a letter, a CRLF or the byte order mark. */
export const eventFrames = (): EventFrames => {
  const decoder = new TextDecoder()
  let rest = ""
  let isAfterCr = false
  let size = 0
  let id: string | undefined
  let event = ""
  let data: Array<string> = []
  let retry: number | undefined

  const field = (name: string, value: string): void => {
    if (name === "data") {
      data.push(value)
      size += value.length + 1
    } else if (name === "event") event = value
    else if (name === "id" && !value.includes("\0")) id = value
    else if (name === "retry" && /^\d{1,9}$/.test(value)) retry = Number(value)
  }

  const dispatch = (): Frame | undefined => {
    const frame = { id: id || undefined, event: event || "message", data: data.join("\n") }
    const isEmpty = data.length === 0
    id = undefined
    event = ""
    data = []
    size = 0
    return isEmpty ? undefined : frame
  }

  const line = (text: string): Frame | undefined => {
    if (text === "") return dispatch()
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)/s.exec(text) ?? []
    field(name, value)
    return undefined
  }

  const push = (bytes: Uint8Array): ReadonlyArray<Frame> => {
    const decoded = decoder.decode(bytes, { stream: true })
    if (decoded === "") return []
    // The LF of a CRLF that was cut in two ends no line of its own.
    const text = isAfterCr && decoded.startsWith("\n") ? decoded.slice(1) : decoded
    isAfterCr = decoded.endsWith("\r")
    const frames: Array<Frame> = []
    let start = 0
    for (const end of text.matchAll(/\r\n|\r|\n/g)) {
      const frame = line(rest + text.slice(start, end.index))
      if (frame) frames.push(frame)
      rest = ""
      start = end.index + end[0].length
    }
    rest += text.slice(start)
    if (size + rest.length > mostCharacters) throw new RangeError("too large")
    return frames
  }

  return { push, retry: () => retry }
}
