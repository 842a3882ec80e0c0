// Documents about a site's services: OAuth metadata (RFC 8414, 9728), an API catalogue (RFC 9727), answers of NLWeb.
import { membersOf, type Problem, Problems, urlOf, within } from "./Problems.ts"
import { asFields, type Fields } from "./X402Payload.ts"

/** Judges the metadata of an authorization server; undefined when it is none. */
export const judgeAuthorizationServer = (value: unknown, site: URL): ReadonlyArray<Problem> | undefined => {
  const metadata = asFields(value)
  if (metadata === undefined || metadata["issuer"] === undefined) return undefined
  const problems = new Problems()
  for (const name of ["issuer", "authorization_endpoint", "token_endpoint"]) checkUrl(metadata, name, site, problems)
  if (problems.maybeList(metadata, "", "response_types_supported") === undefined) {
    problems.note("response_types_supported", "is missing")
  }
  return problems.found
}

/** Judges the metadata of a protected resource; undefined when it is none. */
export const judgeProtectedResource = (value: unknown, site: URL): ReadonlyArray<Problem> | undefined => {
  const metadata = asFields(value)
  if (metadata === undefined || metadata["resource"] === undefined) return undefined
  const problems = new Problems()
  checkUrl(metadata, "resource", site, problems)
  const servers = problems.maybeList(metadata, "", "authorization_servers")
  if ((servers ?? []).length === 0) problems.note("authorization_servers", "names none")
  return problems.found
}

const checkUrl = (of: Fields, name: string, site: URL, problems: Problems): void => {
  const text = problems.text(of, "", name)
  if (text === undefined) return
  const url = urlOf(text)
  if (url === undefined) problems.fatal(name, "must be an absolute URL")
  else if (url.protocol !== "https:" && site.protocol === "https:") problems.fatal(name, "must use https")
}

/** What an API catalogue links to; undefined when it is no linkset. */
export const readApiCatalog = (
  value: unknown
): { readonly links: number; readonly problems: ReadonlyArray<Problem> } | undefined => {
  const linkset = asFields(value)?.["linkset"]
  if (!Array.isArray(linkset)) return undefined
  const problems = new Problems()
  const links = linkset.slice(0, 100).flatMap((context, at) => {
    const fields = asFields(context)
    if (fields === undefined) return problems.fatal(within("linkset", at), "must be an object") ?? []
    return membersOf(fields).flatMap(([relation, targets]) =>
      Array.isArray(targets)
        ? targets.flatMap((target) => hrefOf(target, within(within("linkset", at), relation), problems))
        : []
    )
  })
  if (links.length === 0) problems.fatal("linkset", "links to nothing")
  return { links: links.length, problems: problems.found }
}

const hrefOf = (target: unknown, path: string, problems: Problems): ReadonlyArray<string> => {
  const href = asFields(target)?.["href"]
  return typeof href === "string" ? [href] : (problems.fatal(path, "a link lacks its href") ?? [])
}

/** Targets of a `Link` header with one of the relations. */
export const linkTargets = (header: string | undefined, relations: ReadonlyArray<string>): ReadonlyArray<string> =>
  (header ?? "")
    .slice(0, 8000)
    .split(/,(?=\s*<)/, 50)
    .flatMap((link) => {
      const target = /^\s*<([^<>]*)>/.exec(link)?.[1]
      const relation = /;\s*rel\s*=\s*"?([^";]+)"?/i.exec(link)?.[1]?.toLowerCase().split(/\s+/) ?? []
      return target !== undefined && relations.some((wanted) => relation.includes(wanted)) ? [target] : []
    })

/** Whether a body is an answer of NLWeb: results with schema.org items. */
export const isNlWebAnswer = (value: unknown): boolean => {
  const results = asFields(value)?.["results"]
  if (!Array.isArray(results)) return false
  return results.slice(0, 20).every((result) => {
    const fields = asFields(result)
    return fields !== undefined && (fields["schema_object"] !== undefined || fields["@type"] !== undefined)
  })
}
