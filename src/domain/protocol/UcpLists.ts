// 2026-01-11: a service is one object with a member for each transport, capabilities and payment handlers are lists.
import { membersOf, type Problems, within } from "./Problems.ts"
import {
  checkAuthority,
  checkExtends,
  checkKeys,
  endpointIn,
  isName,
  type Judging,
  oldName,
  type UcpBinding,
  type UcpDeclared,
  ucpTransports,
  urlIn,
  versionOf
} from "./UcpParts.ts"
import { asFields, type Fields } from "./X402Payload.ts"

export const judgeLists = (judging: Judging): UcpDeclared => {
  const { document, problems, ucp } = judging
  const services = problems.object(ucp, "ucp", "services")
  const bindings = services === undefined ? [] : membersOf(services).flatMap((member) => bindingsOf(member, judging))
  const capabilities = named(problems.list(ucp, "ucp", "capabilities"), "ucp.capabilities", problems, judgeCapability)
  const payment = problems.maybeObject(document, "", "payment")
  const listed = payment === undefined ? undefined : problems.maybeList(payment, "payment", "handlers")
  const paymentHandlers = named(listed, "payment.handlers", problems, judgeHandler)
  checkKeys(document, "signing_keys", false, problems)
  if (document["keys"] !== undefined) problems.note("keys", "belongs to 2026-08-25; this release reads signing_keys")
  return { bindings, capabilities, paymentHandlers, supportedVersions: [] }
}

const bindingsOf = ([name, value]: readonly [string, unknown], judging: Judging): ReadonlyArray<UcpBinding> => {
  const { problems } = judging
  const path = within("ucp.services", name)
  const service = asFields(value)
  if (!isName(name, oldName)) problems.note(path, "is no reversed domain name")
  if (service === undefined) {
    problems.fatal(path, Array.isArray(value) ? "must be an object: lists came with 2026-01-23" : "must be an object")
    return []
  }
  const version = versionOf(service, path, problems)
  problems.text(service, path, "spec")
  checkAuthority(name, service, path, problems)
  return ucpTransports.flatMap((transport): ReadonlyArray<UcpBinding> => {
    const binding = problems.maybeObject(service, path, transport)
    if (binding === undefined) return []
    const at = within(path, transport)
    if (transport !== "a2a" && binding["schema"] === undefined) problems.note(within(at, "schema"), "is missing")
    checkAuthority(name, { schema: binding["schema"] }, at, problems)
    if (transport === "embedded") return [{ service: name, version, transport, endpoint: undefined }]
    return [{ service: name, version, transport, endpoint: endpointIn(binding, at, judging) }]
  })
}

/** The names of the entries of a list, each judged. */
const named = (
  list: ReadonlyArray<unknown> | undefined,
  path: string,
  problems: Problems,
  judge: (entry: Fields, path: string, problems: Problems) => string | undefined
): ReadonlyArray<string> =>
  (list ?? []).flatMap((value, at) => {
    const entry = asFields(value)
    if (entry === undefined) problems.fatal(within(path, at), "must be an object")
    return (entry && judge(entry, within(path, at), problems)) ?? []
  })

const nameIn = (entry: Fields, path: string, problems: Problems): string | undefined => {
  const name = problems.text(entry, path, "name")
  if (name === undefined || isName(name, oldName)) return name
  return problems.fatal(within(path, "name"), "is no reversed domain name")
}

const judgeCapability = (entry: Fields, path: string, problems: Problems): string | undefined => {
  const name = nameIn(entry, path, problems)
  versionOf(entry, path, problems)
  for (const member of ["spec", "schema"]) problems.text(entry, path, member)
  checkExtends(entry, path, { names: oldName, several: false }, problems)
  problems.maybeObject(entry, path, "config")
  if (name !== undefined) checkAuthority(name, entry, path, problems)
  return name
}

const judgeHandler = (entry: Fields, path: string, problems: Problems): string | undefined => {
  const name = problems.text(entry, path, "name")
  problems.text(entry, path, "id")
  versionOf(entry, path, problems)
  urlIn(entry, path, "spec", problems)
  urlIn(entry, path, "config_schema", problems)
  const missing = ["spec", "config_schema", "instrument_schemas", "config"].filter(
    (member) => entry[member] === undefined
  )
  if (missing.length > 0) problems.note(path, `lacks ${missing.join(", ")}`)
  problems.maybeList(entry, path, "instrument_schemas")
  problems.maybeObject(entry, path, "config")
  return name
}
