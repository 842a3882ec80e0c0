// The other side of UCP: who we are to shops. A shop answers only what both profiles have, in exactly one release.
import { releaseOf, type UcpRelease } from "./Ucp.ts"

/** Where a shop of this version reads it. */
export const profileFor = ({ profiles }: { readonly profiles: string }, version: string): string =>
  `${profiles}/${releaseOf(version)}.json`

interface Used {
  readonly name: string
  readonly document: string
  readonly extends?: string
  readonly since: UcpRelease
}

/** What a test of a shop uses. */
const capabilities: ReadonlyArray<Used> = [
  { name: "dev.ucp.shopping.checkout", document: "checkout", since: "2026-01-11" },
  {
    name: "dev.ucp.shopping.fulfillment",
    document: "fulfillment",
    extends: "dev.ucp.shopping.checkout",
    since: "2026-01-11"
  },
  { name: "dev.ucp.shopping.cart", document: "cart", since: "2026-04-08" },
  { name: "dev.ucp.shopping.catalog.search", document: "catalog_search", since: "2026-04-08" }
]

/** Our platform profile of a release. We call shops and nobody calls us, so it has neither an endpoint nor keys. */
export const ucpAgentProfile = (version: UcpRelease) => {
  const home = `https://ucp.dev/${version}`
  const spec = `${home}/specification/overview`
  const schemaOf = (transport: string, kind: string) => `${home}/services/shopping/${transport}.${kind}.json`
  const used = capabilities
    .filter(({ since }) => since <= version)
    .map(({ document, name, since: _since, ...parent }) => ({
      name,
      entry: { version, spec, schema: `${home}/schemas/shopping/${document}.json`, ...parent }
    }))
  if (version === "2026-01-11") {
    const services = { "dev.ucp.shopping": { version, spec } }
    return { ucp: { version, services, capabilities: used.map(({ entry, name }) => ({ name, ...entry })) } }
  }
  const bindings = [
    { version, spec, transport: "mcp", schema: schemaOf("mcp", "openrpc") },
    { version, spec, transport: "rest", schema: schemaOf("rest", "openapi") }
  ]
  return {
    ucp: {
      version,
      services: { "dev.ucp.shopping": bindings },
      capabilities: Object.fromEntries(used.map(({ entry, name }) => [name, [entry]])),
      payment_handlers: {}
    }
  }
}
