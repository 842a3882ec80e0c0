import { Config, Effect, Layer, Option } from "effect"
import type { Server } from "node:http"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { HttpListener } from "#services/HttpListener.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"
import * as Setting from "./Setting.ts"

/** Exact `host:port` pairs that may be called although they are private. */
const allowHosts = Setting.list("TURNPIKE_ALLOW_HOSTS", "host:port pairs", (text) => {
  const [, host = "", port = ""] = /^([^\s:/?#@\\[\]]+|\[[\da-f:.]+\]):(\d{1,5})$/i.exec(text) ?? []
  // Compared with hosts as a parsed URL spells them.
  const hostname = URL.parse(`http://${host}`)?.hostname
  return hostname === undefined || Number(port) < 1 || Number(port) > 65_535 ? undefined : `${hostname}:${Number(port)}`
}).pipe(Config.withDefault([]))

/** The listener is reached on loopback too, whatever the public address is. */
const onLoopback = (bound: ReturnType<Server["address"]>): ReadonlyArray<string> =>
  typeof bound === "object" && bound !== null ? [`127.0.0.1:${bound.port}`] : []

/**
 * Whom we may call: public addresses, never ourselves, plus `TURNPIKE_ALLOW_HOSTS`. A sandbox over its own embedded database is
 * somebody's machine, so loopback origins are allowed there.
 */
export const layer = Layer.effect(
  PublicHttpPolicy,
  Effect.gen(function* () {
    const { environment, publicUrl, scannerUrl } = yield* Deployment
    const { embedded } = yield* Database
    const bound = Option.map(yield* Effect.serviceOption(HttpListener), ({ server }) => server.address())
    return {
      ...PublicHttpPolicy.defaultValue(),
      allowHosts: yield* allowHosts,
      allowLoopback: environment === "sandbox" && embedded,
      ownHosts: [...new Set([publicUrl, scannerUrl])]
        .map((url) => new URL(url).host)
        .concat(Option.isSome(bound) ? onLoopback(bound.value) : [])
    }
  })
)
