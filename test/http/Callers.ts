import { DateTime, Effect } from "effect"
import type { AccountId, WalletId } from "#domain/Ids.ts"
import type { CredentialKind, Principal, Role } from "#domain/Principal.ts"
import { agentScopes, roleScopes } from "#domain/Principal.ts"
import { Accounts } from "#services/Accounts.ts"
import { Agents } from "#services/Agents.ts"
import { Credentials, type NewCredential } from "#services/Credentials.ts"
import { newUuid } from "#services/NewId.ts"
import { Users } from "#services/Users.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { Wallets } from "#services/Wallets.ts"
import { send } from "./GatewayHarness.ts"

const inAnHour = Effect.map(DateTime.now, (now) => DateTime.toDate(DateTime.add(now, { hours: 1 })))
const issue = (credential: NewCredential) => Effect.flatMap(Credentials, (credentials) => credentials.issue(credential))

/** How whoever holds this token calls. */
export const callsWith =
  (token: string) =>
  (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    send(path, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body !== undefined && { body })
    })

/** An agent with its wallet, its token and a session. */
export const agentOf = Effect.fnUntraced(function* (
  principal: Principal,
  funds = 0n,
  account_id: AccountId = principal.account_id
) {
  const { authKey, credentials, data } = yield* (yield* Agents).create(principal, {
    account_id,
    name: "An agent",
    description: null,
    skills: [],
    metadata: {},
    key: "generated",
    network: undefined,
    address: undefined
  })
  const wallet: WalletId = data.wallet_id
  if (funds > 0n) yield* (yield* Wallets).fund(principal, wallet, { amount: funds, currency: "USDC" })
  const session = yield* issue({
    tenant_id: principal.tenant_id,
    kind: "session_token",
    name: "a session",
    scopes: [],
    agent_id: data.id,
    auth_key_id: authKey?.keyId ?? "",
    expires_at: yield* inAnHour
  })
  const { token } = credentials
  const seen = yield* (yield* Credentials).authenticate(token)
  return { id: data.id, wallet, token, session: session.key, principal: seen, call: callsWith(token) }
})

/** A customer of the tenant, with the token that its browser has. */
export const portalOf = Effect.fnUntraced(function* (
  { tenant_id }: Principal,
  scopes: ReadonlyArray<string> = ["transfers:read", "agents:read", "usage:read", "invoices:read"]
) {
  const account = yield* (yield* Accounts).create(tenant_id, { name: "A customer" })
  const expires_at = yield* inAnHour
  const given = {
    tenant_id,
    kind: "portal_token",
    name: "a portal",
    scopes,
    account_id: account.id,
    expires_at
  } as const
  const { key } = yield* issue(given)
  return { account_id: account.id, token: key, call: callsWith(key) }
})

/** Somebody with a role in the tenant, logged in. */
const userOf = Effect.fnUntraced(function* ({ tenant_id }: Principal, role: Role) {
  const login = { email: `${newUuid()}@example.com`, password: "correct horse battery" }
  yield* (yield* Users).create("operator", tenant_id, { ...login, role })
  return (yield* (yield* UserSessions).open(login, null)).access.access_token
})

export interface Caller {
  readonly name: string
  readonly kind: CredentialKind
  readonly token: string
  readonly scopes: ReadonlyArray<string>
}

/** One caller of every kind there is, of one tenant. */
export const callersOf = Effect.fnUntraced(function* (principal: Principal, key: string) {
  const { tenant_id } = principal
  const agent = yield* agentOf(principal)
  const portal = yield* portalOf(principal, ["transfers:read", "agents:read"])
  const scanner = yield* issue({ tenant_id, kind: "scanner_key", name: "scanner", scopes: ["read", "scan"] })
  const roles: ReadonlyArray<Role> = ["owner", "admin", "member", "viewer"]
  const users = yield* Effect.forEach(roles, (role) =>
    Effect.map(
      userOf(principal, role),
      (token): Caller => ({ name: role, kind: "jwt", token, scopes: roleScopes[role] })
    )
  )
  const others: ReadonlyArray<Caller> = [
    { name: "API key", kind: "api_key", token: key, scopes: ["*:*"] },
    { name: "agent token", kind: "agent_token", token: agent.token, scopes: agentScopes },
    { name: "session token", kind: "session_token", token: agent.session, scopes: agentScopes },
    { name: "portal token", kind: "portal_token", token: portal.token, scopes: ["transfers:read", "agents:read"] },
    { name: "scanner key", kind: "scanner_key", token: scanner.key, scopes: ["read", "scan"] }
  ]
  return [...users, ...others]
})
