import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { EndpointMethod, EndpointScheme } from "./Endpoint.ts"
import { EndpointId } from "./Ids.ts"
import { Currency, formatDecimal } from "./Money.ts"
import { assetOf, caip2, domainOf, Network } from "./Network.ts"
import { methodOf, speaksMpp } from "./protocol/Mpp.ts"
import { maxTimeoutSeconds, shortened } from "./protocol/X402Offers.ts"
import { publicPrefix } from "./PublicPrefix.ts"

/**
 * How much of the list one answer shows, and how deep it may be read. Whoever asks how much himself may have ten times as much: AgentKit
 * asks for a thousand, and takes less for the end.
 */
export const discoveryLimits = { page: 100, lines: 1_000, offset: 1_000_000 }

/** A priced endpoint as strangers see it: what it does, costs, and takes. Nothing of its owner, its origin or its totals. */
export const Listing = Schema.Struct({
  id: Schema.toType(EndpointId),
  /** Which of our addresses it is at, and where there, as a request for it says. */
  base: Schema.String,
  path: Schema.String,
  description: Schema.String,
  method: EndpointMethod,
  /** Whether more path may follow the address. */
  open: Schema.Boolean,
  price: Schema.BigInt,
  currency: Currency,
  network: Schema.toType(Network),
  schemes: Schema.Array(EndpointScheme),
  mpp: Schema.Boolean,
  asset: Schema.NullOr(Schema.String),
  payTo: Schema.String,
  updatedAt: Schema.Date
})
export type Listing = typeof Listing.Type

/** One way to pay, as x402 version 2 lists it. */
export const ListedOffer = Schema.Struct({
  scheme: EndpointScheme,
  network: Schema.String,
  amount: Schema.String,
  asset: Schema.String,
  payTo: Schema.String,
  maxTimeoutSeconds: Schema.Int,
  extra: Schema.Record(Schema.String, Schema.Json)
}).annotate({ identifier: "ListedOffer" })

/** An entry of the list of x402 (`DiscoveredResource`). */
export const DiscoveredResource = Schema.Struct({
  resource: Schema.String,
  type: Schema.Literal("http"),
  x402Version: Schema.Literal(2),
  accepts: Schema.Array(ListedOffer),
  lastUpdated: Moment,
  description: Schema.String,
  metadata: Schema.Struct({
    /** Once more: AgentKit looks for it here, and passes over what has none. */
    description: Schema.String,
    methods: Schema.Array(Schema.String),
    routeTemplate: Schema.String,
    price: Schema.String,
    currency: Currency,
    protocols: Schema.Array(Schema.Literals(["x402", "mpp"]))
  })
}).annotate({ identifier: "DiscoveredResource" })
export type DiscoveredResource = typeof DiscoveredResource.Type

/** A stretch of the list of x402. */
export const DiscoveredResources = Schema.Struct({
  x402Version: Schema.Literal(2),
  items: Schema.Array(DiscoveredResource),
  pagination: Schema.Struct({ limit: Schema.Int, offset: Schema.Int, total: Schema.Int })
}).annotate({ identifier: "DiscoveredResources" })

/** The manifest under `/.well-known/x402`. */
export const ResourceLines = Schema.Struct({
  version: Schema.Literal(1),
  resources: Schema.Array(Schema.String),
  instructions: Schema.String
}).annotate({ identifier: "ResourceLines" })

/** Long descriptions belong to the endpoint's own pages. */
const described = ({ description }: Listing): string => shortened(description, 400)

/** The methods to show for an endpoint: one that takes any is shown with the two that everybody can send. */
const methodsOf = ({ method }: Listing): ReadonlyArray<string> => (method === "ANY" ? ["GET", "POST"] : [method])

const routeOf = ({ open, path }: Listing): string => `${path}${open ? "/*" : ""}`

const protocolsOf = (listing: Listing): ReadonlyArray<"x402" | "mpp"> =>
  speaksMpp(listing) ? ["x402", "mpp"] : ["x402"]

const acceptsOf = (listing: Listing): DiscoveredResource["accepts"] => {
  const { address } = assetOf(listing.network, listing.currency)
  const domain = domainOf(listing.network, listing.currency)
  return listing.schemes.map((scheme) => ({
    scheme,
    network: caip2[listing.network],
    amount: String(listing.price),
    asset: listing.asset ?? address,
    payTo: listing.payTo,
    maxTimeoutSeconds,
    extra: scheme === "upto" ? { ...domain, assetTransferMethod: "permit2" } : domain
  }))
}

/** The entry of an endpoint. What is signed comes from the 402 itself, which also binds it to the call. */
export const discoveredResource = (listing: Listing): DiscoveredResource => {
  const description = described(listing)
  return {
    resource: listing.base + listing.path,
    type: "http",
    x402Version: 2,
    accepts: acceptsOf(listing),
    lastUpdated: listing.updatedAt,
    description,
    metadata: {
      description,
      methods: methodsOf(listing),
      routeTemplate: publicPrefix(listing.base) + routeOf(listing),
      price: formatDecimal(listing.price),
      currency: listing.currency,
      protocols: protocolsOf(listing)
    }
  }
}

/** The lines of an endpoint in the manifest of this host: `GET /x402/…`. */
export const resourceLines = (listing: Listing, publicUrl: string): ReadonlyArray<string> =>
  methodsOf(listing).map((method) => `${method} ${publicPrefix(publicUrl)}${routeOf(listing)}`)

const operation = (listing: Listing, method: string) => {
  const accepts = acceptsOf(listing)
  const [first] = accepts
  const description = described(listing)
  return {
    operationId: `${method.toLowerCase()}_${listing.id}`,
    summary: description,
    security: [],
    "x-payment-info": {
      price: {
        mode: listing.schemes.includes("exact") ? "fixed" : "maximum",
        amount: formatDecimal(listing.price),
        currency: listing.currency
      },
      protocols: protocolsOf(listing),
      accepts,
      ...(speaksMpp(listing) && first !== undefined
        ? {
            offers: [
              {
                intent: "charge",
                method: methodOf(listing.network),
                amount: first.amount,
                currency: first.asset,
                description
              }
            ]
          }
        : {})
    },
    ...(listing.open ? { "x-route-template": routeOf(listing) } : {}),
    responses: {
      "200": { description: "What the seller's own server answers; any status below 400 is a paid call" },
      "402": { description: "The price and the ways to pay: `PAYMENT-REQUIRED` and the body" }
    }
  }
}

/** What an OpenAPI document of ours says of the service to programs that look for paid ones (MPP's discovery). */
export const serviceInfo = (publicUrl: string) => ({
  categories: ["payments"],
  docs: { homepage: `${publicUrl}/`, apiReference: `${publicUrl}/docs`, llms: `${publicUrl}/llms.txt` }
})

/** An OpenAPI document of these endpoints, with what each costs. */
export const openApiOf = (listings: ReadonlyArray<Listing>, publicUrl: string) => ({
  openapi: "3.1.0",
  info: {
    title: "Pay-per-call endpoints",
    version: "1.0.0",
    description:
      "Priced HTTP endpoints of many sellers behind one gateway. Call one; it answers 402 with its price; pay and call again."
  },
  servers: [{ url: publicUrl }],
  "x-service-info": serviceInfo(publicUrl),
  paths: Object.fromEntries(
    listings.map((listing) => [
      listing.path,
      {
        ...(listing.base === publicUrl ? {} : { servers: [{ url: listing.base }] }),
        ...Object.fromEntries(methodsOf(listing).map((method) => [method.toLowerCase(), operation(listing, method)]))
      }
    ])
  )
})
