/** A document as it came: its bytes, in a buffer of their own, and the name of the charset that they are read in. */
export interface Document {
  /** Fewer once it was let go. */
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly charset: string
}

/** All of it. Made anew each time: a text is not kept beside its bytes. */
export const textOf = ({ bytes, charset }: Document): string =>
  bytes.length === 0 ? "" : new TextDecoder(charset).decode(bytes)

/** As much of its beginning as so many bytes say. */
export const openingOf = ({ bytes, charset }: Document, length: number): string =>
  bytes.length === 0 ? "" : textOf({ bytes: bytes.subarray(0, length), charset })

/** Gives its memory back at once and not when somebody collects garbage; from then on it is its first `kept` bytes. */
export const letGo = (document: Document, kept = 0): void => {
  const { bytes } = document
  if (bytes.length <= kept) return
  const opening: Pick<Document, "bytes"> = { bytes: bytes.slice(0, kept) }
  Object.assign(document, opening)
  bytes.buffer.transfer(0)
}
