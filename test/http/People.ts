import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import type { Principal, Role } from "#domain/Principal.ts"
import { Bootstrap } from "#services/Bootstrap.ts"
import { newUuid } from "#services/NewId.ts"
import { PortalTokens } from "#services/PortalTokens.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { Users } from "#services/Users.ts"

export const password = "correct horse battery staple"

/** A new user of the caller's tenant. */
export const person = Effect.fnUntraced(function* ({ tenant_id }: Pick<Principal, "tenant_id">, role: Role) {
  const email = `${newUuid()}@acme.example`
  const user = yield* (yield* Users).create("operator", tenant_id, { email, password, role })
  return { email, id: user.id }
})

/** A login of the user with this address. */
export const login = Effect.fnUntraced(function* (email: string) {
  const sessions = yield* UserSessions
  const { access, refresh_token } = yield* sessions.open({ email, password }, null)
  const { credential } = yield* sessions.authenticate(access.access_token)
  return {
    id: toTypeId("ses", credential?.id ?? ""),
    cookie: { cookie: `refresh_token=${refresh_token}` },
    bearer: { authorization: `Bearer ${access.access_token}` },
    secrets: [access.access_token, refresh_token]
  }
})

type Names = Readonly<Record<string, string>>

/** People of a tenant and what belongs to them: what stands for them in requests, by operation or group. */
export const people = Effect.fnUntraced(function* (principal: Principal) {
  const owner = yield* person(principal, "owner")
  const spare = yield* person(principal, "viewer")
  const changer = yield* login((yield* person(principal, "viewer")).email)
  const [logged, left, other] = [yield* login(owner.email), yield* login(owner.email), yield* login(owner.email)]
  // Of the first tenant, whatever this one is: nobody else administers.
  const operator = yield* login((yield* person(yield* (yield* Bootstrap).ensure, "owner")).email)
  const order = { customer_reference: principal.account_id, scopes: ["transfers:read"], expires_in: 3_600 } as const
  const portal = yield* (yield* PortalTokens).create(principal, order)
  const ids: Names = {
    users: toTypeId("usr", spare.id),
    sessions: other.id,
    portal_tokens: toTypeId("ptk", portal.id)
  }
  /** What an operation asks for instead of a key. */
  const headers: Readonly<Record<string, Names>> = {
    "users.changePassword": changer.bearer,
    "administration.createTenant": operator.bearer,
    "administration.tenants": operator.bearer,
    "administration.grants": operator.bearer,
    "administration.doctor": operator.bearer,
    "sessions.refresh": left.cookie,
    "sessions.end": left.cookie,
    "sessions.list": logged.bearer,
    "sessions.revoke": logged.bearer
  }
  /** What an operation's body says that no other operation's does. */
  const namesOf = (operation: string): Names => {
    if (operation === "users.changePassword") return { current_password: password }
    if (operation === "sessions.create") return { email: owner.email, password }
    return operation === "users.create" ? { email: `${newUuid()}@acme.example` } : {}
  }
  const secrets = [password, portal.token, ...operator.secrets, ...logged.secrets, ...left.secrets, ...other.secrets]
  return { ids, headers, namesOf, secrets }
})
