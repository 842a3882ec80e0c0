import type { UcpRelease } from "../../src/domain/protocol/Ucp.ts"

/** A valid profile of each release, as a shop at `base` would publish it. */
export interface ProfileParts {
  readonly base: string
  readonly transports: ReadonlyArray<"mcp" | "rest">
}
/** Any JSON object, to be changed into something wrong. */
// biome-ignore lint/suspicious/noExplicitAny: tests put whatever they like into it
export type Profile = Record<string, any>

const key = {
  kid: "shop-2026",
  kty: "EC",
  crv: "P-256",
  x: "WbbXwVYGdJoP4Xm3qCkGvBRcRvKtEfXDbWvPzpPS8LA",
  y: "sP4jHHxYqC89HBo8TjrtVOAGHfJDflYxw7MFMxuFMPY",
  use: "sig",
  alg: "ES256"
}
const spec = "https://ucp.dev/specification/overview"
const capabilities = ["checkout", "cart", "catalog.search", "fulfillment"]
const parent = (name: string) => (name === "fulfillment" ? { extends: "dev.ucp.shopping.checkout" } : {})
const schema = (name: string) => `https://ucp.dev/schemas/shopping/${name.replace(".", "_")}.json`
const kinds = { mcp: "mcp.openrpc.json", rest: "rest.openapi.json" }

const first = ({ base, transports }: ProfileParts): Profile => {
  const version = "2026-01-11"
  const bindings = transports.map((transport) => [
    transport,
    { schema: `https://ucp.dev/services/shopping/${kinds[transport]}`, endpoint: `${base}/ucp/${transport}` }
  ])
  return {
    ucp: {
      version,
      services: { "dev.ucp.shopping": { version, spec, ...Object.fromEntries(bindings) } },
      capabilities: capabilities.map((name) => ({
        name: `dev.ucp.shopping.${name}`,
        version,
        spec,
        schema: schema(name),
        ...parent(name)
      }))
    },
    payment: {
      handlers: [
        {
          id: "cards",
          name: "com.example.cards",
          version,
          spec: "https://example.com/specs/cards",
          config_schema: "https://example.com/specs/cards.json",
          instrument_schemas: ["https://ucp.dev/schemas/shopping/types/card_payment_instrument.json"],
          config: {}
        }
      ]
    },
    signing_keys: [{ ...key }]
  }
}

const later = (version: UcpRelease, { base, transports }: ProfileParts): Profile => ({
  ucp: {
    version,
    services: {
      "dev.ucp.shopping": transports.map((transport) => ({
        version,
        spec,
        transport,
        schema: `https://ucp.dev/services/shopping/${kinds[transport]}`,
        endpoint: `${base}/ucp/${transport}`
      }))
    },
    capabilities: Object.fromEntries(
      capabilities.map((name) => [
        `dev.ucp.shopping.${name}`,
        [{ version, spec, schema: schema(name), ...parent(name) }]
      ])
    ),
    payment_handlers: {
      "com.example.cards": [
        {
          id: "cards",
          version,
          spec: "https://example.com/cards",
          schema: "https://example.com/cards.json",
          config: {}
        }
      ]
    }
  },
  ...(version === "2026-08-25" ? { keys: [{ ...key }] } : { signing_keys: [{ ...key }] })
})

export const profileOf = (release: UcpRelease, parts: ProfileParts): Profile =>
  release === "2026-01-11" ? first(parts) : later(release, parts)
