import type { Duplex } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib"
import { Effect } from "effect"
import type { Document } from "#domain/page/Document.ts"
import { charsetOf } from "./Charset.ts"
import { NoExchange } from "./Exchange.ts"
import { Received } from "./Received.ts"

/** A body as it was opened, and whether some of it was cut off. */
export interface Opened {
  readonly document: Document
  readonly isTruncated: boolean
}

/** More codings on top of one another than this are an attack on whoever opens them. */
const mostCodings = 2

type Decoder = (body: Uint8Array) => Duplex
const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  // Half of the world means zlib by it, half the bare stream; the first byte tells.
  ["deflate", (body) => ((body[0] ?? 0) % 16 === 8 ? createInflate() : createInflateRaw())],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress()]
])

/** Opens and reads a body, up to `most` bytes. A gzip file is opened too: sitemaps are sent as such. */
export const readBody = Effect.fnUntraced(function* (
  body: Uint8Array<ArrayBuffer>,
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
  let opened: Coded = { body, isCut }
  for (const coding of codings.reverse()) {
    const decoder = decoders.get(coding)
    if (decoder === undefined) return yield* broken(`the body has an unknown coding: ${coding.slice(0, 40)}`)
    opened = yield* open(opened, decoder, most)
  }
  if (opened.body[0] === 0x1f && opened.body[1] === 0x8b) opened = yield* open(opened, () => createGunzip(), most)
  const isTruncated = opened.isCut || opened.body.length > most
  const bytes = opened.body.length > most ? opened.body.slice(0, most) : opened.body
  return { document: { bytes, charset: charsetOf(bytes, contentType) }, isTruncated } satisfies Opened
})

/** A body under one of its codings. */
interface Coded {
  readonly body: Uint8Array<ArrayBuffer>
  readonly isCut: boolean
}

const broken = (detail: string) => Effect.fail(new NoExchange({ reason: "bad_response", detail }))

/** Never holds more than `most` bytes of what comes out, and a piece, however much that would be. */
const open = ({ body, isCut }: Coded, decoder: Decoder, most: number) =>
  body.length === 0
    ? Effect.succeed<Coded>({ body, isCut })
    : Effect.callback<Coded, NoExchange>((resume) => {
        const stream = decoder(body)
        const received = new Received()
        const end = (wasCut: boolean) => {
          resume(Effect.succeed({ body: received.take(most), isCut: wasCut }))
          stream.destroy()
        }
        stream.on("data", (chunk: Buffer) => {
          received.add(chunk)
          if (received.size > most) end(true)
        })
        stream.on("end", () => end(isCut))
        // What was cut ends in the middle: as far as it came it is good.
        stream.on("error", () => (isCut ? end(true) : resume(broken("the body cannot be decoded"))))
        stream.end(body)
        return Effect.sync(() => stream.destroy())
      })
