import { Result, Schema, SchemaTransformation } from "effect"
import { Moment } from "./Instant.ts"
import { UserId } from "./Ids.ts"
import { Role } from "./Principal.ts"
import { Forbidden } from "./Refusal.ts"
import { text } from "./Text.ts"

/**
 * The address that somebody logs in with, in lower case: the same person is meant in whatever case it is written. ASCII only, so that
 * two addresses which look alike are alike.
 */
export const Email = Schema.String.check(
  Schema.isMaxCodePoints(254),
  Schema.isPattern(/^[!-?A-~]+@[!-?A-~]+$/u, { message: "must be an e-mail address in ASCII" })
).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({
      decode: (text: string) => text.toLowerCase(),
      encode: (email: string) => email
    })
  )
)

/** A password that is being set. */
export const NewPassword = text(200).check(
  Schema.isMinCodePoints(12, { expected: "a password of 12 to 200 characters" })
)

/** Somebody who logs in, for one tenant. */
export const User = Schema.Struct({
  id: UserId,
  email: Schema.String,
  role: Role,
  created_at: Moment
}).annotate({ identifier: "User" })
export type User = typeof User.Type

/** What a user is made from. */
export const CreateUser = Schema.Struct({ email: Email, role: Role, password: NewPassword }).annotate({
  identifier: "CreateUser"
})
export type CreateUser = typeof CreateUser.Type

/** What may be changed of a user. */
export const UpdateUser = Schema.Struct({
  role: Schema.optionalKey(Role),
  password: Schema.optionalKey(NewPassword)
}).annotate({ identifier: "UpdateUser" })
export type UpdateUser = typeof UpdateUser.Type

/** Another password for oneself. */
export const ChangePassword = Schema.Struct({
  current_password: Schema.String.check(Schema.isMaxCodePoints(200)),
  password: NewPassword
}).annotate({ identifier: "ChangePassword" })
export type ChangePassword = typeof ChangePassword.Type

/** Somebody has this address already, in this tenant or in another. */
export class EmailTaken extends Schema.TaggedError<EmailTaken>()(
  "EMAIL_TAKEN",
  { email: Schema.String },
  { httpApiStatus: 409, title: "There is a user with this e-mail address already" }
) {}

/** Nobody would be left who may do everything. */
export class LastOwner extends Schema.TaggedError<LastOwner>()(
  "LAST_OWNER",
  {},
  { httpApiStatus: 409, title: "A tenant keeps at least one owner" }
) {}

/** Whoever has a hand on owners: an owner, or the operator. A key counts as an admin, because admins make keys. */
export type Manager = "operator" | Role

/** Whether users of these roles may be touched: `role` as it is, and as it is to be. */
export const mayManage = (by: Manager, ...roles: ReadonlyArray<Role>): Result.Result<void, Forbidden> => {
  if (by === "operator" || by === "owner") return Result.void
  if (by !== "admin") return Result.fail(new Forbidden({ reason: "only owners and admins manage users" }))
  return roles.includes("owner")
    ? Result.fail(new Forbidden({ reason: "owners are made and changed by owners only" }))
    : Result.void
}

/** Whether this leaves a tenant of so many owners with one. */
export const keepsAnOwner = (before: Role, after: Role | undefined, owners: number): boolean =>
  before !== "owner" || after === "owner" || owners > 1
