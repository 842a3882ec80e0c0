// A shop's profile of the Universal Commerce Protocol (/.well-known/ucp), judged by the release that it declares: its shape changed
// incompatibly twice, and a validator that knows one release is wrong about the others.
import { type Problem, Problems } from "./Problems.ts"
import { judgeLists } from "./UcpLists.ts"
import { judgeMaps } from "./UcpMaps.ts"
import { isVersion, type UcpBinding, type UcpDeclared } from "./UcpParts.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export const ucpReleases = ["2026-01-11", "2026-01-23", "2026-04-08", "2026-08-25"] as const
export type UcpRelease = (typeof ucpReleases)[number]
const newest: UcpRelease = "2026-08-25"

/** A profile, as far as it could be read, and what is wrong with it. */
export interface UcpProfile extends UcpDeclared {
  /** As declared; null when it is missing or no date. */
  readonly version: string | null
  /** The release that it was judged by. */
  readonly release: UcpRelease
  readonly problems: ReadonlyArray<Problem>
  /** What a client can call, the best first: the shopping service in the profile's own version, over MCP, then REST. */
  readonly callable: ReadonlyArray<UcpBinding & { readonly transport: "mcp" | "rest"; readonly endpoint: URL }>
  /** Whether a client that follows the release takes it. */
  readonly isValid: boolean
}

/** The release whose rules hold for a version, and whose profile of ours its shop is shown: its own, else the last one before it. */
export const releaseOf = (version: string): UcpRelease =>
  ucpReleases.findLast((release) => release <= version) ?? ucpReleases[0]

const versionIn = (ucp: Fields, problems: Problems): string | null => {
  const version = problems.text(ucp, "ucp", "version")
  if (version === undefined) return null
  if (!isVersion(version)) {
    problems.fatal("ucp.version", `must be a date such as ${newest}, not ${JSON.stringify(version.slice(0, 40))}`)
    return null
  }
  const release = releaseOf(version)
  if (release !== version) {
    const known = version > newest ? "is newer than every release known here" : "is no release known here"
    problems.note("ucp.version", `${version} ${known}: judged by ${release}`)
  }
  return version
}

/** Whether it has the lists of 2026-01-11, whatever version it declares. */
const hasLists = (ucp: Fields): boolean => Array.isArray(ucp["capabilities"])

const rank = (binding: UcpBinding, version: string | null): number => {
  const [isShopping, isOwnVersion] = [binding.service === "dev.ucp.shopping", binding.version === version]
  return (isShopping ? 0 : 4) + (isOwnVersion ? 0 : 2) + (binding.transport === "mcp" ? 0 : 1)
}

const isCallable = (
  binding: UcpBinding
): binding is UcpBinding & { readonly transport: "mcp" | "rest"; readonly endpoint: URL } =>
  (binding.transport === "mcp" || binding.transport === "rest") && binding.endpoint !== undefined

/**
 * Judges what `/.well-known/ucp` said. Undefined: it is no profile at all, but something else that answers 200. `site` is where it was
 * read: only a site that is itself visited without TLS may have such endpoints.
 */
export const judgeUcp = (value: unknown, site: URL): UcpProfile | undefined => {
  const document = asFields(value)
  const ucp = asFields(document?.["ucp"])
  if (document === undefined || ucp === undefined) return undefined
  const problems = new Problems()
  const version = versionIn(ucp, problems)
  const declaredRelease = version === null ? newest : releaseOf(version)
  // Published tools disagree on the shape of the second January release: its schemas have maps, some shops kept the lists.
  const keptLists = declaredRelease === "2026-01-23" && hasLists(ucp)
  const release = keptLists ? "2026-01-11" : declaredRelease
  if (keptLists) problems.note("ucp.capabilities", "2026-01-23 has maps by name; the lists of 2026-01-11 were accepted")
  const judging = { document, ucp, version, site, problems }
  const declared = release === "2026-01-11" ? judgeLists(judging) : judgeMaps(judging, release)
  const callable = declared.bindings.filter(isCallable).toSorted((a, b) => rank(a, version) - rank(b, version))
  if (declared.bindings.length === 0) problems.note("ucp.services", "declares no service that can be called")
  return {
    ...declared,
    version,
    release,
    problems: problems.found,
    callable,
    isValid: problems.found.every(({ isFatal }) => !isFatal)
  }
}
