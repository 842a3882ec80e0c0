// The card of an agent, of A2A 0.2 and 0.3 (`url`) or 1.0 (`supportedInterfaces`), or of both at once.
import { type Problem, Problems, urlOf, within } from "./Problems.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export interface A2aInterface {
  readonly url: URL
  readonly binding: string
  readonly version: string
}
export interface A2aCard {
  readonly version: string
  readonly interfaces: ReadonlyArray<A2aInterface>
  readonly skills: ReadonlyArray<string>
  /** URIs of the extensions. */
  readonly extensions: ReadonlyArray<string>
  readonly problems: ReadonlyArray<Problem>
  readonly isValid: boolean
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const urlIn = (of: Fields, path: string, site: URL, problems: Problems): URL | undefined => {
  const text = problems.text(of, path, "url")
  if (text === undefined) return undefined
  const url = urlOf(text)
  if (url === undefined) return problems.fatal(within(path, "url"), "must be an absolute URL")
  const isPlain = url.protocol === "http:" && site.protocol === "http:" && url.host === site.host
  return url.protocol === "https:" || isPlain ? url : problems.fatal(within(path, "url"), "must use https")
}

const interfacesOf = (card: Fields, site: URL, problems: Problems): ReadonlyArray<A2aInterface> => {
  if (card["supportedInterfaces"] === undefined) {
    const url = urlIn(card, "", site, problems)
    const version = textOf(card["protocolVersion"]) ?? "0.2"
    return url === undefined ? [] : [{ url, binding: textOf(card["preferredTransport"]) ?? "JSONRPC", version }]
  }
  const list = problems.list(card, "", "supportedInterfaces") ?? []
  if (list.length === 0) problems.fatal("supportedInterfaces", "must not be empty")
  return list.flatMap((value, at) => {
    const path = within("supportedInterfaces", at)
    const entry = asFields(value)
    if (entry === undefined) return problems.fatal(path, "must be an object") ?? []
    const url = urlIn(entry, path, site, problems)
    const binding = problems.text(entry, path, "protocolBinding")
    const version = textOf(entry["protocolVersion"]) ?? "1.0"
    return url === undefined || binding === undefined ? [] : [{ url, binding, version }]
  })
}

const skillsOf = (card: Fields, problems: Problems): ReadonlyArray<string> =>
  (problems.list(card, "", "skills") ?? []).flatMap((value, at) => {
    const path = within("skills", at)
    const skill = asFields(value)
    if (skill === undefined) return problems.fatal(path, "must be an object") ?? []
    const missing = ["name", "description", "tags"].filter((name) => skill[name] === undefined)
    if (missing.length > 0) problems.note(path, `lacks ${missing.join(", ")}`)
    return problems.text(skill, path, "id") ?? []
  })

/** Judges a card; undefined when it is none: agents.json of others have the same path. */
export const judgeA2aCard = (value: unknown, site: URL): A2aCard | undefined => {
  const card = asFields(value)
  if (card === undefined) return undefined
  if (
    card["name"] === undefined ||
    !["url", "supportedInterfaces", "skills"].some((name) => card[name] !== undefined)
  ) {
    return undefined
  }
  const problems = new Problems()
  problems.text(card, "", "name")
  for (const name of ["description", "version", "defaultInputModes", "defaultOutputModes"]) {
    if (card[name] === undefined) problems.note(name, "is missing")
  }
  const interfaces = interfacesOf(card, site, problems)
  const skills = skillsOf(card, problems)
  const capabilities = problems.object(card, "", "capabilities")
  const list = capabilities && problems.maybeList(capabilities, "capabilities", "extensions")
  const extensions = (list ?? []).flatMap((extension) => textOf(asFields(extension)?.["uri"]) ?? [])
  return {
    version: interfaces[0]?.version ?? "1.0",
    interfaces,
    skills,
    extensions,
    problems: problems.found,
    isValid: problems.found.every(({ isFatal }) => !isFatal)
  }
}

/** Whether a card says that its agent takes AP2 mandates. */
export const hasAp2 = ({ extensions }: A2aCard): boolean =>
  extensions.some((uri) => /google-agentic-commerce\/ap2\b|\bap2-protocol\.org\b/i.test(uri))
