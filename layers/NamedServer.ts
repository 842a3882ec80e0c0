import { Effect, Layer } from "effect"
import { PublicHttp } from "#services/PublicHttp.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"

/** Why this is no server that can be asked, in a sentence for the operator; its address may carry a key, and is not shown. */
export const unaskable = (name: string, url: URL | null): string | undefined => {
  if (url === null || !/^https?:$/.test(url.protocol)) return `${name} is no http or https address.`
  // A server that wants them would refuse everything, and nobody would know why.
  return url.username + url.password === "" ? undefined : `${name} has a user or a password in it, which are not sent.`
}

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
