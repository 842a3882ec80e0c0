import type { Duplex } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib"
import { Effect } from "effect"
import { decodeText } from "./Charset.ts"
import { NoExchange } from "./Exchange.ts"

/** A body as text, and what was cut off. */
export interface Text {
  readonly text: string
  readonly bytes: number
  readonly isTruncated: boolean
}

/** More codings on top of one another than this are an attack on whoever opens them. */
const mostCodings = 2

const decoders: ReadonlyMap<string, (body: Buffer) => Duplex> = new Map<string, (body: Buffer) => Duplex>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  // Half of the world means zlib by it, half the bare stream; the first byte tells.
  ["deflate", (body: Buffer) => ((body[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw())],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress()]
])

/** Opens and reads a body, up to `most` bytes. A gzip file is opened too: sitemaps are sent as such. */
export const readBody = Effect.fnUntraced(function* (
  body: Buffer,
  isCut: boolean,
  most: number,
  { contentEncoding, contentType }: { readonly contentEncoding: string; readonly contentType: string }
) {
  const codings = contentEncoding
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity" && coding !== "none")
  if (codings.length > mostCodings) return yield* broken("the body has too many codings")
  let opened: Opened = { body, isCut }
  for (const coding of codings.reverse()) {
    const decoder = decoders.get(coding)
    if (decoder === undefined) return yield* broken(`the body has an unknown coding: ${coding.slice(0, 40)}`)
    opened = yield* open(opened, decoder, most)
  }
  if (opened.body[0] === 0x1f && opened.body[1] === 0x8b) opened = yield* open(opened, () => createGunzip(), most)
  const bytes = opened.body.subarray(0, most)
  return {
    text: decodeText(bytes, contentType),
    bytes: bytes.length,
    isTruncated: opened.isCut || opened.body.length > most
  } satisfies Text
})

interface Opened {
  readonly body: Buffer
  readonly isCut: boolean
}

const broken = (detail: string) => Effect.fail(new NoExchange({ reason: "bad_response", detail }))

/** Never holds more than `most` bytes of what comes out, however much that would be. */
const open = ({ body, isCut }: Opened, decoder: (body: Buffer) => Duplex, most: number) =>
  body.length === 0
    ? Effect.succeed<Opened>({ body, isCut })
    : Effect.callback<Opened, NoExchange>((resume) => {
        const stream = decoder(body)
        const chunks: Array<Buffer> = []
        let size = 0
        const end = (wasCut: boolean) => {
          resume(Effect.succeed({ body: Buffer.concat(chunks, Math.min(size, most)), isCut: wasCut }))
          stream.destroy()
        }
        stream.on("data", (chunk: Buffer) => {
          chunks.push(chunk)
          size += chunk.length
          if (size > most) end(true)
        })
        stream.on("end", () => end(isCut))
        // What was cut ends in the middle: as far as it came it is good.
        stream.on("error", () => (isCut ? end(true) : resume(broken("the body cannot be decoded"))))
        stream.end(body)
        return Effect.sync(() => stream.destroy())
      })
