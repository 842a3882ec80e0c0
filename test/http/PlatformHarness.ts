import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { connect } from "node:net"
import * as Http from "#http/Http.ts"
import * as BusMemory from "#layers/BusMemory.ts"
import * as Node from "#layers/Node.ts"
import * as Outbound from "#layers/Outbound.ts"
import * as Platform from "#layers/Platform.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { Deployment } from "#services/Deployment.ts"

/** A whole server on a port of its own over a private database, with these environment variables. */
export const layer = (environment: Readonly<Record<string, string>> = {}) =>
  Http.layer.pipe(
    Layer.provideMerge(Platform.layer),
    Layer.provideMerge(Outbound.layer),
    Layer.provideMerge(Layer.merge(Postgres.layerTest, BusMemory.layer)),
    Layer.provideMerge(Node.layer),
    Layer.provide(
      ConfigProvider.layer(
        ConfigProvider.fromUnknown({ ...process.env, PORT: "0", TURNPIKE_RATE_LIMIT: "off", ...environment })
      )
    )
  )

/** Where the server is and a key that may do everything. */
export const entrance = Effect.gen(function* () {
  const { publicUrl } = yield* Deployment
  const bootstrap = yield* Bootstrap
  const { tenant_id, issued } = yield* bootstrap.ensure
  const keys = issued ?? (yield* bootstrap.issueKeys(tenant_id))
  const server = yield* HttpServer.HttpServer
  const port = server.address._tag === "UnixPathAddress" ? 0 : server.address.port
  return { base: publicUrl, port, key: keys.api_key, scannerKey: keys.scanner_key }
})

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: { readonly [name: string]: unknown; readonly details: Record<string, unknown> }
}

export const ask = (url: string, init?: RequestInit & { readonly duplex?: "half" }) =>
  Effect.promise(async (): Promise<Answer> => {
    const response = await fetch(url, init)
    const text = await response.text()
    const json = response.headers.get("content-type")?.includes("json") === true && text !== ""
    return { status: response.status, headers: response.headers, text, body: json ? JSON.parse(text) : {} }
  })

/** How many answers are there to their end. */
const whole = (text: string) => {
  let count = 0
  for (let at = 0; ; count++) {
    const end = text.indexOf("\r\n\r\n", at)
    if (end < 0) return count
    const length = /^content-length: (\d+)\r?$/im.exec(text.slice(at, end))?.[1]
    at = end + 4 + Number(length ?? 0)
    if (at > text.length) return count
  }
}

/** Sends these bytes as they are and answers with everything that came back until the peer closed, or so many answers were there. */
export const raw = (port: number, bytes: string | Uint8Array, answers = Number.POSITIVE_INFINITY) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const chunks: Array<Buffer> = []
    const done = () => {
      socket.destroy()
      resume(Effect.succeed(Buffer.concat(chunks).toString()))
    }
    socket.on("data", (chunk) => {
      chunks.push(chunk)
      if (whole(Buffer.concat(chunks).toString("latin1")) >= answers) done()
    })
    socket.on("error", done)
    socket.on("end", done)
    socket.write(bytes)
    return Effect.sync(() => socket.destroy())
  })

export const bearer = (key: string | Redacted.Redacted) => ({
  authorization: `Bearer ${typeof key === "string" ? key : Redacted.value(key)}`
})
