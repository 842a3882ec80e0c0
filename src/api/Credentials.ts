import { Context } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { refreshCookie } from "#domain/Cookies.ts"
import { requiredScope } from "#domain/Credential.ts"
import type { CredentialKind } from "#domain/Principal.ts"
import { Authorization, integrators, Requires } from "./Authorization.ts"
import { Integrators, ReportReaders } from "./Visitors.ts"

/**
 * How callers show who they are. `bearer` is in lower case, as generators of clients compare it: in another, some make clients that
 * never send the credential.
 */
export const securitySchemes = {
  bearer: { type: "http", scheme: "bearer" },
  [refreshCookie]: { type: "apiKey", in: "cookie", name: refreshCookie }
}

/** What one operation of the contract asks of whoever calls it. */
export interface Asks {
  /** `group.operation` */
  readonly operation: string
  readonly method: string
  /** As the description writes it: `/v1/wallets/{id}`. */
  readonly path: string
  /** The kinds of credentials that it takes; none of an operation that is for everybody. */
  readonly kinds: ReadonlyArray<CredentialKind>
  readonly scope: string | undefined
  /** What a scanner key needs instead. */
  readonly scannerScope: string | undefined
  /** Whether it is for everybody in the sandbox all the same. */
  readonly isOpenInSandbox: boolean
}

/** What every operation of the contract asks, in the order of the contract. */
export const asksOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Asks> => {
  const asks: Array<Asks> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, middleware }) => {
      const has = (one: { readonly key: string }) => [...middleware].some(({ key }) => key === one.key)
      const isOpenInSandbox = has(Integrators)
      const requires = Context.get(endpoint.annotations, Requires)
      const isGuarded = isOpenInSandbox || has(ReportReaders) || has(Authorization)
      asks.push({
        operation: `${group.identifier}.${endpoint.identifier}`,
        method: endpoint.method,
        path: endpoint.path.replace(/:(\w+)/g, "{$1}"),
        kinds: isGuarded ? (requires?.kinds ?? integrators) : [],
        scope:
          isGuarded && requires?.resource !== undefined ? requiredScope(requires.resource, requires.action) : undefined,
        scannerScope: requires?.resource === undefined ? undefined : requires.scannerScope,
        isOpenInSandbox
      })
    }
  })
  return asks
}

/** The kinds in the words of the reference. */
export const kindNames: { readonly [kind in CredentialKind]: string } = {
  api_key: "API key",
  jwt: "user",
  agent_token: "agent token",
  session_token: "agent session",
  portal_token: "portal token",
  scanner_key: "scanner key"
}

/** What the reference says below an operation about who may call it. */
export const saidOf = ({ isOpenInSandbox, kinds, scannerScope, scope }: Asks): string => {
  if (kinds.length === 0) return "No credential is needed."
  const names = kinds.map((kind) => kindNames[kind]).join(", ")
  const own = scope !== undefined && kinds.includes("agent_token") ? " An agent reaches only what is its own." : ""
  const key = scannerScope === undefined ? "" : `, of a scanner key \`${scannerScope}\``
  const open = isOpenInSandbox ? " The sandbox asks for none." : ""
  return `Credentials: ${names}${scope === undefined ? "" : `; scope \`${scope}\`${key}`}.${own}${open}`
}
