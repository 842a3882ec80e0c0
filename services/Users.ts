import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type TenantId, TenantTypeId, toTypeId, UserId } from "#domain/Ids.ts"
import { type Principal, Role } from "#domain/Principal.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import {
  type ChangePassword,
  type CreateUser,
  EmailTaken,
  keepsAnOwner,
  LastOwner,
  type Manager,
  mayManage,
  type UpdateUser,
  User
} from "#domain/User.ts"
import { newId } from "./NewId.ts"
import { hashPassword, verifyPassword } from "./Passwords.ts"
import { UserSessions } from "./UserSessions.ts"

/** Who manages users: a caller of the API, or the operator, who may do everything. */
export type By = Principal | "operator"

const Row = Schema.toType(User)

/** The people of a tenant. Another tenant's user does not exist, but its address is taken. */
export class Users extends Context.Service<
  Users,
  {
    create(by: By, tenant_id: TenantId, user: CreateUser): Effect.Effect<User, EmailTaken | Forbidden>
    /** A page of the tenant's users, newest first, and how many there are. */
    list(
      tenant_id: TenantId,
      page: { readonly page: number; readonly limit: number }
    ): Effect.Effect<{ readonly data: ReadonlyArray<User>; readonly total: number }>
    /** Another role counts at once everywhere; another password ends all sessions of the user. */
    update(
      by: By,
      tenant_id: TenantId,
      id: UserId,
      change: UpdateUser
    ): Effect.Effect<User, NotFound | LastOwner | Forbidden>
    /** The caller's own password, for whoever knows it. Ends all sessions of the user, the caller's too. */
    changePassword(caller: Principal, change: ChangePassword): Effect.Effect<void, Forbidden>
    /** Ends all sessions of the user. */
    remove(by: By, tenant_id: TenantId, id: UserId): Effect.Effect<void, NotFound | LastOwner | Forbidden>
    /** Whoever logs in with this address, of whatever tenant. */
    byEmail(email: string): Effect.Effect<Option.Option<User & { readonly tenant_id: TenantId }>>
  }
>()("turnpike/services/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sessions = yield* UserSessions

      /** What is decided about a tenant's users is decided one at a time: two owners cannot remove each other. */
      const lock = (tenant_id: TenantId) => sql`SELECT id FROM tenants WHERE id = ${tenant_id} FOR NO KEY UPDATE`

      const roleOf = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String }),
        Result: Schema.Struct({ role: Role }),
        execute: ({ id, tenant_id }) => sql`SELECT role FROM users WHERE tenant_id = ${tenant_id} AND id = ${id}`
      })
      /** A user as what it is by now; a key as an admin. */
      const managerOf = Effect.fnUntraced(function* (by: By) {
        if (by === "operator") return by
        if (by.actor_type !== "user") return "admin" satisfies Manager
        const found = yield* roleOf({ tenant_id: by.tenant_id, id: by.actor_id })
        return Option.isSome(found) ? found.value.role : "viewer"
      })

      const insert = SqlSchema.findOneOption({
        Request: Schema.Struct({
          id: Schema.String,
          tenant_id: Schema.String,
          email: Schema.String,
          password_hash: Schema.String,
          role: Role,
          at: Schema.Date
        }),
        Result: Row,
        execute: ({ at, email, id, password_hash, role, tenant_id }) =>
          sql`INSERT INTO users (id, tenant_id, email, password_hash, role, created_at)
            VALUES (${id}, ${tenant_id}, ${email}, ${password_hash}, ${role}, ${at})
            ON CONFLICT DO NOTHING RETURNING id, email, role, created_at`
      })
      const add = Effect.fnUntraced(
        function* (by: By, tenant_id: TenantId, { email, role }: CreateUser, password_hash: string) {
          yield* lock(tenant_id)
          yield* Effect.fromResult(mayManage(yield* managerOf(by), role))
          const at = yield* DateTime.nowAsDate
          const made = yield* insert({ id: yield* newId(UserId), tenant_id, email, password_hash, role, at })
          return Option.isSome(made) ? made.value : yield* new EmailTaken({ email })
        },
        sql.withTransaction,
        Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
      )
      const create = Effect.fn("Users.create")(function* (by: By, tenant_id: TenantId, user: CreateUser) {
        return yield* add(by, tenant_id, user, yield* hashPassword(user.password))
      })

      const find = Effect.fnUntraced(function* (tenant_id: TenantId, id: UserId) {
        const found = yield* roleOf({ tenant_id, id })
        if (Option.isSome(found)) return found.value.role
        return yield* new NotFound({ resource: "user", id: toTypeId("usr", id) })
      })
      const owners = SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ count: Schema.Int }),
        execute: (tenant_id) =>
          sql`SELECT count(*)::int AS count FROM users WHERE tenant_id = ${tenant_id} AND role = 'owner'`
      })
      /** The user's role, if the user may be given this one, or none. */
      const changeable = Effect.fnUntraced(function* (by: By, tenant_id: TenantId, id: UserId, to?: Role) {
        yield* lock(tenant_id)
        const role = yield* find(tenant_id, id)
        yield* Effect.fromResult(mayManage(yield* managerOf(by), role, ...(to === undefined ? [] : [to])))
        return role
      })

      const write = SqlSchema.findOne({
        Request: Schema.Struct({ id: Schema.String, role: Role, password_hash: Schema.NullOr(Schema.String) }),
        Result: Row,
        execute: ({ id, password_hash, role }) =>
          sql`UPDATE users SET role = ${role}, password_hash = coalesce(${password_hash}, password_hash)
            WHERE id = ${id} RETURNING id, email, role, created_at`
      })
      const change = Effect.fnUntraced(
        function* (by: By, tenant_id: TenantId, id: UserId, to: Role | undefined, password_hash: string | null) {
          const before = yield* changeable(by, tenant_id, id, to)
          const role = to ?? before
          if (!keepsAnOwner(before, role, (yield* owners(tenant_id)).count)) return yield* new LastOwner()
          const user = yield* write({ id, role, password_hash })
          if (password_hash !== null) yield* sessions.endAll(id)
          else if (role !== before) yield* sessions.reconsider(id)
          return user
        },
        sql.withTransaction,
        Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die, NoSuchElementError: Effect.die })
      )
      const update = Effect.fn("Users.update")(function* (
        by: By,
        tenant_id: TenantId,
        id: UserId,
        { password, role }: UpdateUser
      ) {
        if (password !== undefined && by !== "operator" && by.actor_id === id) {
          return yield* new Forbidden({ reason: "your own password is changed at /v1/users/me/password" })
        }
        const hash = password === undefined ? null : yield* hashPassword(password)
        return yield* change(by, tenant_id, id, role, hash)
      })

      const hashOf = SqlSchema.findOneOption({
        Request: Schema.String,
        Result: Schema.Struct({ password_hash: Schema.String }),
        execute: (id) => sql`SELECT password_hash FROM users WHERE id = ${id}`
      })
      const replace = Effect.fnUntraced(
        function* (id: UserId, before: string, after: string) {
          const replaced = yield* sql`UPDATE users SET password_hash = ${after}
            WHERE id = ${id} AND password_hash = ${before} RETURNING id`
          if (replaced.length === 1) yield* sessions.endAll(id)
          return replaced.length === 1
        },
        sql.withTransaction,
        Effect.orDie
      )
      const changePassword = Effect.fn("Users.changePassword")(function* (
        caller: Principal,
        { current_password, password }: ChangePassword
      ) {
        const found = Option.getOrUndefined(yield* Effect.orDie(hashOf(caller.actor_id)))
        const before = found?.password_hash ?? ""
        const right = yield* verifyPassword(current_password, before)
        // Somebody else may have changed it since it was found right.
        const changed = right && (yield* replace(UserId.make(caller.actor_id), before, yield* hashPassword(password)))
        if (!changed) return yield* new Forbidden({ reason: "the current password is another one" })
      })

      const remove = Effect.fn("Users.remove")(
        function* (by: By, tenant_id: TenantId, id: UserId) {
          const role = yield* changeable(by, tenant_id, id)
          if (!keepsAnOwner(role, undefined, (yield* owners(tenant_id)).count)) return yield* new LastOwner()
          // Whoever is logging in now is waited for, and then found among the sessions.
          yield* sql`SELECT id FROM users WHERE id = ${id} FOR UPDATE`
          yield* sessions.endAll(id)
          yield* sql`DELETE FROM users WHERE id = ${id}`
        },
        sql.withTransaction,
        Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die, NoSuchElementError: Effect.die })
      )

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ tenant_id: Schema.String, limit: Schema.Int, offset: Schema.Int }),
        Result: Row,
        execute: ({ limit, offset, tenant_id }) =>
          sql`SELECT id, email, role, created_at FROM users
            WHERE tenant_id = ${tenant_id} ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`
      })
      const count = SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: (tenant_id) => sql`SELECT count(*)::int AS total FROM users WHERE tenant_id = ${tenant_id}`
      })
      const list = Effect.fn("Users.list")(function* (
        tenant_id: TenantId,
        { limit, page }: { readonly page: number; readonly limit: number }
      ) {
        const data = yield* listPage({ tenant_id, limit, offset: (page - 1) * limit })
        return { data, total: (yield* count(tenant_id)).total }
      }, Effect.orDie)

      const addressed = SqlSchema.findOneOption({
        Request: Schema.String,
        Result: Schema.toType(Addressed),
        execute: (email) =>
          sql`SELECT id, tenant_id, email, role, created_at FROM users WHERE lower(email) = ${email.toLowerCase()}`
      })
      const byEmail = Effect.fn("Users.byEmail")(addressed, Effect.orDie)

      return Users.of({ create, list, update, changePassword, remove, byEmail })
    })
  )
}

const Addressed = Schema.Struct({ ...User.fields, tenant_id: TenantTypeId })
