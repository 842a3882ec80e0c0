import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** Whether gzip is among the codings of `Accept-Encoding`, and not the one that is refused (RFC 9110, 12.5.3). */
export const takesGzip = (codings = ""): boolean =>
  codings.split(",").some((coding) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding))

/** Whether who has this already asked: weak and strong tags are alike here, since no part is ever asked for. */
const has = (tag: string, asked = ""): boolean =>
  asked.split(",").some((each) => each.trim().replace(/^W\//, "") === tag || each.trim() === "*")

const compress = promisify(gzip)

/**
 * What is large and stays as it is for as long as the process lives: made when somebody asks first, compressed for whoever takes that, and
 * not sent again to whoever has it. It is compressed once: for every caller anew, strangers could keep the processor busy with it.
 */
export const packed = <R>(
  made: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>,
  dress: (page: string) => Readonly<Record<string, string>> = () => ({})
) =>
  Effect.map(
    Effect.cached(
      Effect.gen(function* () {
        const { body, headers } = yield* made
        const whole = body._tag === "Uint8Array" ? body.body : new Uint8Array()
        const tag = `"${createHash("sha256").update(whole).digest("base64url").slice(0, 22)}"`
        const kept = {
          ...headers,
          ...dress(new TextDecoder().decode(whole)),
          "cache-control": "no-cache",
          etag: `W/${tag}`,
          vary: "accept-encoding"
        }
        const small = new Uint8Array(yield* Effect.promise(() => compress(whole)))
        return {
          tag,
          plain: HttpServerResponse.uint8Array(whole, { headers: kept }),
          zipped: HttpServerResponse.uint8Array(small, { headers: { ...kept, "content-encoding": "gzip" } }),
          unchanged: HttpServerResponse.empty({ status: 304, headers: kept })
        }
      })
    ),
    (page) =>
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers: asked }) =>
        Effect.map(page, ({ plain, tag, unchanged, zipped }) => {
          if (has(tag, asked["if-none-match"])) return unchanged
          return takesGzip(asked["accept-encoding"]) ? zipped : plain
        })
      )
  )
