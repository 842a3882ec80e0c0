import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { ucpReleases } from "#domain/protocol/Ucp.ts"
import { ucpAgentProfile } from "#domain/protocol/UcpAgentProfile.ts"
import { Paths } from "./Paths.ts"

/** Who we are to shops that speak UCP: our platform profile of every release, which they read before they answer. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const paths = yield* Paths
    for (const release of ucpReleases) {
      const path = `/ucp/agents/${release}.json` as const
      paths.add("GET", path)
      const profile = HttpServerResponse.jsonUnsafe(ucpAgentProfile(release), {
        headers: { "cache-control": "public, max-age=3600" }
      })
      yield* router.add("GET", path, Effect.succeed(profile))
    }
  })
)
