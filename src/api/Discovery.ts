import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { DiscoveredResources, discoveryLimits, ResourceLines } from "#domain/Discovery.ts"
import { documented } from "./Documented.ts"
import { Visitors } from "./Visitors.ts"

/** The query parameters of lists as the reference shows them. */
const parameters = {
  type: {
    schema: { type: "string", enum: ["http"], default: "http" },
    description: "The kind of resource; there is only this one"
  },
  limit: {
    schema: { type: "integer", minimum: 1, maximum: discoveryLimits.lines, default: 20 },
    description: "How many items at most"
  },
  offset: {
    schema: { type: "integer", minimum: 0, maximum: discoveryLimits.offset, default: 0 },
    description: "How many items to pass over; the newest come first"
  }
} as const

const offset = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: discoveryLimits.offset })).pipe(
  Schema.withDecodingDefaultKey(Effect.succeed(0))
)

/** Query of the list of resources. */
export const resourcesQuery = {
  type: Schema.optionalKey(Schema.Literal("http")),
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: discoveryLimits.lines })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(20))
  ),
  offset
}

const url = "http://127.0.0.1:4020/x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10"
const accepts = [
  {
    scheme: "exact",
    network: "eip155:84532",
    amount: "10000",
    asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
    payTo: "0x51908f598a5e0d8f1a3babfa6df76f9704dad072",
    maxTimeoutSeconds: 300,
    extra: { name: "USDC", version: "2" }
  }
] as const
const listing = {
  x402Version: 2,
  items: [
    {
      resource: url,
      type: "http",
      x402Version: 2,
      accepts,
      lastUpdated: "2026-01-02T03:04:05.678Z",
      description: "Forecasts for any place",
      metadata: {
        description: "Forecasts for any place",
        methods: ["GET"],
        routeTemplate: "/x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10",
        price: "0.01",
        currency: "USDC",
        protocols: ["x402", "mpp"]
      }
    }
  ],
  pagination: { limit: 20, offset: 0, total: 1 }
} as const

/** What the reference says about a list of resources, wherever it is served. */
export const resourcesDocumented = (summary: string, description: string) =>
  documented({ summary, description, query: parameters, answer: listing })

const isPublic =
  "Every endpoint that is active and has an origin is listed with its description (its name when it has none), list price, " +
  "network, receiving address and methods: a price is public. To take an endpoint off the list, pause it. Where it forwards to, " +
  "whose it is and what it has earned are never shown. Changes show at once, new endpoints within seconds."

const resources = HttpApiEndpoint.get("resources", "/v1/x402/discovery", {
  query: resourcesQuery,
  success: DiscoveredResources
}).annotateMerge(
  resourcesDocumented(
    "Discover what may be bought here",
    `The list of x402 (DiscoveredResource), newest first; no credential is needed. ${isPublic} An endpoint that takes any method is ` +
      "shown with GET and POST. `accepts` says what a call costs; what is signed comes from the 402 of the call itself."
  )
)

const manifest = HttpApiEndpoint.get("manifest", "/.well-known/x402", {
  query: { offset },
  success: ResourceLines
}).annotateMerge(
  documented({
    summary: "Read the manifest of paid resources",
    description:
      `One line for each method and path that costs money, at most ${discoveryLimits.lines} endpoints an answer; \`offset\` and the ` +
      `header \`Link: rel="next"\` lead on. ${isPublic}`,
    query: parameters,
    answer: {
      version: 1,
      resources: ["GET /x402/01927f2e-8f6d-7c3b-9a51-2f0c9d3b7e10"],
      instructions:
        "Call a resource: it answers 402 with its price and the ways to pay. Pay, and call again with the payment."
    }
  })
)

const wellKnown = HttpApiEndpoint.get("well_known", "/.well-known/x402.json", {
  query: { offset },
  success: DiscoveredResources
}).annotateMerge(
  documented({
    summary: "Read the list of paid resources at its well-known place",
    description:
      `The list of \`/v1/x402/discovery\`, ${discoveryLimits.page} entries an answer; \`offset\` and the header \`Link: rel="next"\` ` +
      "lead on.",
    query: parameters,
    answer: { ...listing, pagination: { limit: discoveryLimits.page, offset: 0, total: 1 } }
  })
)

const description = HttpApiEndpoint.get("openapi", "/v1/x402/discovery/openapi.json", {
  query: { offset },
  success: Schema.Record(Schema.String, Schema.Json)
}).annotateMerge(
  documented({
    summary: "Get an OpenAPI document of the paid resources",
    description:
      "OpenAPI 3.1 with `x-service-info`, and with `x-payment-info` on every operation: price, protocols, x402 `accepts`, and the " +
      `\`offers\` of the Machine Payments Protocol. ${discoveryLimits.page} endpoints an answer; \`offset\` and the header ` +
      '`Link: rel="next"` lead on. (`/openapi.json` describes our own API; everything below `/x402/` belongs to endpoints.)',
    query: parameters,
    answer: { openapi: "3.1.0", info: { title: "Pay-per-call endpoints", version: "1.0.0" }, paths: {} }
  })
)

export class DiscoveryApi extends HttpApiGroup.make("discovery")
  .add(resources, manifest, wellKnown, description)
  .middleware(Visitors)
  .annotateMerge(
    OpenApi.annotations({ title: "Discovery", description: "What may be bought here. No credential needed." })
  ) {}
