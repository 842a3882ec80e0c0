// Since 2026-01-23: services, capabilities and payment handlers are maps from a name to a list of entries.
import { membersOf, type Problems, within } from "./Problems.ts"
import {
  checkAuthority,
  checkEntity,
  checkExtends,
  checkKeys,
  endpointIn,
  isName,
  isVersion,
  type Judging,
  newName,
  oldName,
  type UcpBinding,
  type UcpDeclared,
  ucpTransports,
  urlIn
} from "./UcpParts.ts"
import { urlOf } from "./Problems.ts"
import { asFields, type Fields } from "./X402Payload.ts"

type MapsRelease = "2026-01-23" | "2026-04-08" | "2026-08-25"

/** What one release asks that another does not. */
interface Rules {
  readonly names: RegExp
  readonly severalParents: boolean
  readonly hasStatus: boolean
  readonly needsCapabilitySchema: boolean
  readonly hasSupportedVersions: boolean
  readonly hasInstruments: boolean
  readonly keys: "keys" | "signing_keys"
}

const january: Rules = {
  names: oldName,
  severalParents: false,
  hasStatus: false,
  needsCapabilitySchema: false,
  hasSupportedVersions: false,
  hasInstruments: false,
  keys: "signing_keys"
}
const april: Rules = {
  ...january,
  severalParents: true,
  hasStatus: true,
  hasSupportedVersions: true,
  hasInstruments: true
}
const august: Rules = { ...april, names: newName, needsCapabilitySchema: true, keys: "keys" }
const rulesOf: Readonly<Record<MapsRelease, Rules>> = {
  "2026-01-23": january,
  "2026-04-08": april,
  "2026-08-25": august
}

export const judgeMaps = (judging: Judging, release: MapsRelease): UcpDeclared => {
  const { document, problems, ucp } = judging
  const rules = rulesOf[release]
  const services = entriesOf(problems.object(ucp, "ucp", "services"), "ucp.services", rules, problems)
  const bindings = services.flatMap((entry) => judgeService(entry, judging))
  if (release !== "2026-01-23") checkOwnVersion(bindings, judging)
  const map = problems.maybeObject(ucp, "ucp", "capabilities")
  const capabilities = entriesOf(map, "ucp.capabilities", rules, problems)
  for (const entry of capabilities) judgeCapability(entry, rules, problems)
  const handlers = entriesOf(handlersIn(ucp, problems), "ucp.payment_handlers", rules, problems)
  for (const entry of handlers) judgeHandler(entry, rules, problems)
  if (rules.hasStatus && !["success", "error", undefined].some((status) => status === ucp["status"])) {
    problems.fatal("ucp.status", "must be success or error")
  }
  checkKeys(document, rules.keys, release === "2026-08-25", problems)
  const other = rules.keys === "keys" ? "signing_keys" : "keys"
  if (document[other] !== undefined && document[rules.keys] === undefined) {
    problems.note(other, `clients of ${release} read ${rules.keys}: these keys are not found`)
  }
  return {
    bindings,
    capabilities: namesOf(capabilities),
    paymentHandlers: namesOf(handlers),
    supportedVersions: rules.hasSupportedVersions ? supportedIn(ucp, problems) : []
  }
}

interface Entry {
  readonly name: string
  readonly path: string
  readonly value: Fields
}

const namesOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => [...new Set(entries.map(({ name }) => name))]

/** Every entry of a map, with where it stands. */
const entriesOf = (map: Fields | undefined, path: string, rules: Rules, problems: Problems): ReadonlyArray<Entry> =>
  membersOf(map ?? {}).flatMap(([name, list]) => {
    const at = within(path, name)
    if (!isName(name, rules.names)) problems.note(at, "is no reversed domain name")
    if (!Array.isArray(list)) {
      problems.fatal(at, asFields(list) === undefined ? "must be a list" : "must be a list: objects are of 2026-01-11")
      return []
    }
    return list.slice(0, 20).flatMap((value, index) => {
      const entry = asFields(value)
      if (entry !== undefined) return [{ name, path: within(at, index), value: entry }]
      problems.fatal(within(at, index), "must be an object")
      return []
    })
  })

const judgeService = ({ name, path, value }: Entry, judging: Judging): ReadonlyArray<UcpBinding> => {
  const { problems } = judging
  const version = checkEntity(value, path, problems)
  checkAuthority(name, value, path, problems)
  const text = problems.text(value, path, "transport")
  const transport = ucpTransports.find((known) => known === text)
  if (transport === undefined) {
    if (text !== undefined) problems.fatal(within(path, "transport"), `must be one of ${ucpTransports.join(", ")}`)
    return []
  }
  const endpoint =
    transport === "embedded" ? urlIn(value, path, "endpoint", problems) : endpointIn(value, path, judging)
  return [{ service: name, version, transport, endpoint }]
}

/** A service of the protocol itself is offered in the profile's own version, or clients of that version find none. */
const checkOwnVersion = (bindings: ReadonlyArray<UcpBinding>, { problems, version }: Judging): void => {
  if (version === null) return
  for (const [service, entries] of Map.groupBy(bindings, (binding) => binding.service)) {
    if (service.startsWith("dev.ucp.") && entries.every((entry) => entry.version !== version)) {
      problems.note(within("ucp.services", service), `has no entry of version ${version}, which the profile declares`)
    }
  }
}

const judgeCapability = ({ name, path, value }: Entry, rules: Rules, problems: Problems): void => {
  checkEntity(value, path, problems)
  checkExtends(value, path, { names: rules.names, several: rules.severalParents }, problems)
  checkAuthority(name, value, path, problems)
  if (rules.needsCapabilitySchema && value["schema"] === undefined) problems.note(within(path, "schema"), "is missing")
}

/** They must be there even if there are none: clients refuse a profile without. */
const handlersIn = (ucp: Fields, problems: Problems): Fields | undefined => {
  if (ucp["payment_handlers"] !== undefined) return problems.object(ucp, "ucp", "payment_handlers")
  return problems.fatal("ucp.payment_handlers", "is missing: it must be there even if empty")
}

const judgeHandler = ({ path, value }: Entry, rules: Rules, problems: Problems): void => {
  checkEntity(value, path, problems)
  for (const member of ["spec", "schema"]) urlIn(value, path, member, problems)
  if (value["id"] === undefined) problems.note(within(path, "id"), "is missing: instruments refer to it")
  if (!rules.hasInstruments) return
  const instruments = problems.maybeList(value, path, "available_instruments")
  if (instruments?.length === 0) problems.fatal(within(path, "available_instruments"), "must not be empty")
  for (const [at, instrument] of (instruments ?? []).entries()) {
    const where = within(within(path, "available_instruments"), at)
    const fields = asFields(instrument)
    if (fields === undefined) problems.fatal(where, "must be an object")
    else problems.text(fields, where, "type")
  }
}

const supportedIn = (ucp: Fields, problems: Problems): ReadonlyArray<string> => {
  const path = "ucp.supported_versions"
  return membersOf(problems.maybeObject(ucp, "ucp", "supported_versions") ?? {}).flatMap(([version, address]) => {
    const at = within(path, version)
    const url = typeof address === "string" ? urlOf(address) : undefined
    if (!isVersion(version)) problems.note(at, "is no version")
    if (url === undefined) return problems.fatal(at, "must be the URL of a profile") ?? []
    if (url.protocol !== "https:") problems.note(at, "should use https")
    return [version]
  })
}
