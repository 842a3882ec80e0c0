import { Effect, Layer } from "effect"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"

/** HTTP to one server that the operator named, wherever it is, and to no other private address. */
export const httpTo = (url: URL) => {
  const port = url.port || (url.protocol === "https:" ? "443" : "80")
  const policy = Effect.map(PublicHttpPolicy, (usual) => ({
    ...usual,
    allowHosts: [`${url.hostname}:${port}`],
    ownHosts: []
  }))
  return Layer.fresh(PublicHttp.layer).pipe(Layer.provide(Layer.effect(PublicHttpPolicy, policy)))
}
