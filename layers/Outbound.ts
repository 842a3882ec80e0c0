import { Config, Effect, Layer, Schema } from "effect"
import { Database } from "#services/Database.ts"
import { Deployment } from "#services/Deployment.ts"
import { PublicHttpPolicy } from "#services/PublicHttp/Policy.ts"

/** Exact `host:port` pairs that may be called although they are private. */
const allowHosts = Config.Array(Schema.String, "TURNPIKE_ALLOW_HOSTS").pipe(Config.withDefault([]))

/**
 * Whom we may call: public addresses, never ourselves, plus `TURNPIKE_ALLOW_HOSTS`. A sandbox over its own embedded database is
 * somebody's machine, so loopback origins are allowed there.
 */
export const layer = Layer.effect(
  PublicHttpPolicy,
  Effect.gen(function* () {
    const { environment, publicUrl, scannerUrl } = yield* Deployment
    const { embedded } = yield* Database
    return {
      ...PublicHttpPolicy.defaultValue(),
      allowHosts: yield* allowHosts,
      allowLoopback: environment === "sandbox" && embedded,
      ownHosts: [...new Set([publicUrl, scannerUrl])].map((url) => new URL(url).host)
    }
  })
)
