// The card of an MCP server. Its path and shape still move; what they have in common is where the server is.
import { type Problem, Problems, urlOf } from "./Problems.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export interface McpCard {
  readonly name: string | null
  readonly endpoint: URL | undefined
  readonly needsAuth: boolean
  readonly problems: ReadonlyArray<Problem>
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)
const firstOf = (value: unknown): Fields | undefined => {
  const [first]: ReadonlyArray<unknown> = Array.isArray(value) ? value : Object.values(asFields(value) ?? {})
  return asFields(first)
}

/** Where the server is, in the words of the drafts and of servers in use. */
const addressIn = (card: Fields): string | undefined => {
  const transport = asFields(card["transport"])
  const lists = ["remotes", "servers", "mcpServers", "endpoints", "transports"].map((name) => firstOf(card[name]))
  const places = [card, transport, asFields(card["server"]), ...lists]
  return places
    .flatMap((place) => ["url", "endpoint", "serverUrl", "mcp_endpoint"].map((name) => textOf(place?.[name])))
    .find((text) => text !== undefined)
}

/** Judges a card; undefined when it is none. */
export const judgeMcpCard = (value: unknown, at: URL): McpCard | undefined => {
  const card = asFields(value)
  if (card === undefined) return undefined
  const address = addressIn(card)
  const info = asFields(card["serverInfo"])
  const name = textOf(info?.["name"]) ?? textOf(card["name"]) ?? null
  if (address === undefined && info === undefined && card["tools"] === undefined) return undefined
  const problems = new Problems()
  const endpoint =
    address === undefined
      ? undefined
      : (urlOf(address) ?? (URL.canParse(address, at.href) ? new URL(address, at) : undefined))
  if (name === null) problems.note("name", "is missing")
  if (endpoint === undefined) problems.fatal("", "does not say where the server is")
  else if (endpoint.protocol !== "https:" && !(endpoint.host === at.host && endpoint.protocol === at.protocol)) {
    problems.fatal("", `the server's address must use https: ${endpoint.href.slice(0, 200)}`)
  }
  const isUsable = problems.found.every(({ isFatal }) => !isFatal)
  const needsAuth = asFields(card["authentication"])?.["required"] === true
  return { name, endpoint: isUsable ? endpoint : undefined, needsAuth, problems: problems.found }
}
