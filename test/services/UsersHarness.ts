import { Effect, Layer, Result } from "effect"
import type { TenantId } from "#domain/Ids.ts"
import type { Role } from "#domain/Principal.ts"
import * as BusPostgres from "#layers/BusPostgres.ts"
import * as Postgres from "#layers/Postgres.ts"
import { Accounts } from "#services/Accounts.ts"
import { Credentials } from "#services/Credentials.ts"
import { Ledger } from "#services/Ledger.ts"
import { PasswordCost } from "#services/Passwords.ts"
import { PortalTokens } from "#services/PortalTokens.ts"
import { Secrets } from "#services/Secrets.ts"
import { Tenants } from "#services/Tenants.ts"
import { UserSessions } from "#services/UserSessions.ts"
import { Users } from "#services/Users.ts"
import { deployment } from "./CredentialsHarness.ts"

const services = Layer.mergeAll(Users.layer, PortalTokens.layer, Tenants.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(UserSessions.layer, Credentials.layer, Accounts.layer)),
  Layer.provideMerge(Secrets.layer)
)

/** Passwords that cost next to nothing. */
export const cheapPasswords = Layer.succeed(PasswordCost, { ln: 4, r: 8, p: 1 })

export const Test = services.pipe(
  Layer.provideMerge(Layer.mergeAll(Ledger.layer, BusPostgres.layer)),
  Layer.provideMerge(Layer.mergeAll(Postgres.layerTest, deployment("sandbox"), cheapPasswords))
)

const process = Effect.flatMap(Layer.build(Layer.fresh(services.pipe(Layer.provide(BusPostgres.layer)))), (context) =>
  Effect.provideContext(
    Effect.all({ credentials: Credentials, sessions: UserSessions, tokens: PortalTokens, users: Users }),
    context
  )
)

/** Another process on the same database. */
export const otherProcess = process

/** A process of a live server on the same database. */
export const liveProcess = Effect.provide(process, deployment("live"))

export const password = "correct horse battery staple"
let made = 0

/** A new user of a new tenant, or of this one. */
export const person = Effect.fnUntraced(function* (role: Role = "owner", of?: { readonly id: TenantId }) {
  const { id: tenant_id } = of ?? (yield* (yield* Tenants).create({ name: "Acme" }))
  const email = `person${made++}@acme.example`
  const user = yield* (yield* Users).create("operator", tenant_id, { email, password, role })
  const log = (yield* UserSessions).open({ email, password }, "a test")
  return { user, email, tenant_id, tenant: { id: tenant_id }, log }
})

/** A new user who is logged in, with the principal of that session. */
export const loggedIn = Effect.fnUntraced(function* (role: Role = "owner", of?: { readonly id: TenantId }) {
  const someone = yield* person(role, of)
  const { access, refresh_token } = yield* someone.log
  const by = yield* (yield* UserSessions).authenticate(access.access_token)
  return { ...someone, by, token: access.access_token, refresh_token }
})

export const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.result(effect), (result) => (Result.isSuccess(result) ? "accepted" : result.failure._tag))
