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

/** Sends these bytes as they are and answers with everything that came back until the peer closed or went quiet. */
export const raw = (port: number, bytes: string | Uint8Array, quiet = 400) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1")
    const chunks: Array<Buffer> = []
    const done = () => {
      socket.destroy()
      resume(Effect.succeed(Buffer.concat(chunks).toString()))
    }
    socket.setTimeout(quiet, done)
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", done)
    socket.on("end", done)
    socket.write(bytes)
  })

export const bearer = (key: string | Redacted.Redacted) => ({
  authorization: `Bearer ${typeof key === "string" ? key : Redacted.value(key)}`
})
