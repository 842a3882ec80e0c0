// Discovery of the Agentic Commerce Protocol: /.well-known/acp.json
import { type Problem, Problems, urlOf } from "./Problems.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export interface AcpDiscovery {
  readonly version: string | null
  readonly base: URL | undefined
  readonly transports: ReadonlyArray<string>
  readonly services: ReadonlyArray<string>
  readonly problems: ReadonlyArray<Problem>
  readonly isValid: boolean
}

const transports = ["rest", "mcp"]
const texts = (list: ReadonlyArray<unknown> | undefined): ReadonlyArray<string> =>
  (list ?? []).filter((entry) => typeof entry === "string").map((entry) => entry.slice(0, 100))

const versionIn = (protocol: Fields | undefined, problems: Problems): string | null => {
  if (protocol === undefined) return null
  const name = problems.text(protocol, "protocol", "name")
  if (name !== undefined && name !== "acp") problems.fatal("protocol.name", "must be acp")
  return problems.text(protocol, "protocol", "version") ?? null
}

const baseIn = (document: Fields, site: URL, problems: Problems): URL | undefined => {
  const text = problems.text(document, "", "api_base_url")
  if (text === undefined) return undefined
  const base = urlOf(text)
  if (base === undefined) return problems.fatal("api_base_url", "must be an absolute URL")
  const isPlain = base.protocol === "http:" && site.protocol === "http:" && base.host === site.host
  return base.protocol === "https:" || isPlain ? base : problems.fatal("api_base_url", "must use https")
}

/** Judges a discovery document; undefined when it is about something else (another protocol is called ACP too). */
export const judgeAcp = (value: unknown, site: URL): AcpDiscovery | undefined => {
  const document = asFields(value)
  if (document === undefined) return undefined
  if (document["protocol"] === undefined && document["api_base_url"] === undefined) return undefined
  const problems = new Problems()
  const version = versionIn(problems.object(document, "", "protocol"), problems)
  const base = baseIn(document, site, problems)
  const over = texts(problems.list(document, "", "transports"))
  if (over.length > 0 && !over.some((transport) => transports.includes(transport))) {
    problems.fatal("transports", "must have rest or mcp")
  }
  const capabilities = problems.object(document, "", "capabilities")
  const services = texts(capabilities && problems.list(capabilities, "capabilities", "services"))
  if (capabilities !== undefined && !services.includes("checkout")) {
    problems.note("capabilities.services", "does not have checkout: agents can buy nothing")
  }
  const isValid = problems.found.every(({ isFatal }) => !isFatal)
  return { version, base, transports: over, services, problems: problems.found, isValid }
}

/** Whether a body is an error as the protocol writes it: flat, with a type or code and a message. */
export const isAcpError = (value: unknown): boolean => {
  const error = asFields(value)
  const isText = (name: string) => typeof error?.[name] === "string"
  return isText("message") && (isText("code") || isText("type"))
}
