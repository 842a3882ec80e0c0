import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "#api/Api.ts"
import { discoveredResource, discoveryLimits, openApiOf, resourceLines } from "#domain/Discovery.ts"
import { publicPrefix } from "#domain/PublicPrefix.ts"
import { Deployment } from "#services/Deployment.ts"
import { Discovery, type Stretch } from "#services/Discovery.ts"

/** Lists may be kept for a moment, and say where they go on. `path` has its query but for the offset. */
const headed = (publicUrl: string, path: string, { limit, offset }: Stretch, total: number) =>
  HttpEffect.appendPreResponseHandler((_, response) => {
    const next = offset + limit
    const more = next < total && next <= discoveryLimits.offset
    return Effect.succeed(
      HttpServerResponse.setHeaders(response, {
        "cache-control": "public, max-age=5",
        ...(more ? { link: `<${publicPrefix(publicUrl)}${path}offset=${next}>; rel="next"` } : {})
      })
    )
  })

/** A stretch of the list as x402 writes it. */
export const resourcesOf = (discovery: Discovery["Service"], publicUrl: string, path: string) =>
  Effect.fnUntraced(function* (stretch: Stretch) {
    const { listings, total } = yield* discovery.list(stretch)
    const { limit, offset } = stretch
    yield* headed(publicUrl, `${path}?limit=${limit}&`, stretch, total)
    return { x402Version: 2 as const, items: listings.map(discoveredResource), pagination: { limit, offset, total } }
  })

export const layer = HttpApiBuilder.group(
  Api,
  "discovery",
  Effect.fnUntraced(function* (handlers) {
    const discovery = yield* Discovery
    const { publicUrl } = yield* Deployment
    const instructions =
      "Call a resource: it answers 402 with its price and the ways to pay (x402 versions 1 and 2). Pay, and call again with the " +
      `payment. Prices and addresses: ${publicUrl}/.well-known/x402.json`
    const resources = resourcesOf(discovery, publicUrl, "/v1/x402/discovery")
    const wellKnown = resourcesOf(discovery, publicUrl, "/.well-known/x402.json")
    return handlers.handleAll({
      resources: ({ query: { limit, offset } }) => resources({ limit, offset }),
      well_known: ({ query: { offset } }) => wellKnown({ limit: discoveryLimits.page, offset }),
      manifest: Effect.fnUntraced(function* ({ query: { offset } }) {
        const stretch = { limit: discoveryLimits.lines, offset }
        const { listings, total } = yield* discovery.list(stretch)
        yield* headed(publicUrl, "/.well-known/x402?", stretch, total)
        const resources = listings.flatMap((listing) => resourceLines(listing, publicUrl))
        return { version: 1 as const, resources, instructions }
      }),
      openapi: Effect.fnUntraced(function* ({ query: { offset } }) {
        const stretch = { limit: discoveryLimits.page, offset }
        const { listings, total } = yield* discovery.list(stretch)
        yield* headed(publicUrl, "/v1/x402/discovery/openapi.json?", stretch, total)
        return openApiOf(listings, publicUrl)
      })
    })
  })
)
