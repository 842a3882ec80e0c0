import { Console, Effect, Option, Schema, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { toTypeId } from "#domain/Ids.ts"
import { Role } from "#domain/Principal.ts"
import { Email, type EmailTaken, NewPassword } from "#domain/User.ts"
import { randomText } from "#services/RandomText.ts"
import { Users } from "#services/Users.ts"
import { administered } from "./Administration.ts"
import * as Answer from "./Answer.ts"
import { existing, tenant } from "./Tenants.ts"
import { Unusable } from "./Unusable.ts"

const email = Argument.String("email").pipe(
  Argument.withDescription("The address that the user logs in with"),
  Argument.withSchema(Email)
)
const fromStdin = Flag.Boolean("password-stdin").pipe(
  Flag.withDefault(false),
  Flag.withDescription("Read the password from standard input; otherwise one is made and printed, once")
)

/** Never an argument: those are seen by everybody who lists the processes of the machine. */
const passwordOf = Effect.fnUntraced(function* (given: boolean) {
  if (!given) {
    yield* Answer.shownOnce("password")
    const password = randomText(24)
    return { password, shown: `password  ${password}` }
  }
  const { stdin } = yield* Stdio.Stdio
  const text = yield* stdin.pipe(Stream.decodeText, Stream.splitLines, Stream.take(1), Stream.mkString)
  const password = yield* Schema.decodeEffect(NewPassword)(text).pipe(
    Effect.mapError(() => new Unusable({ message: "a password has 12 to 200 characters" }))
  )
  return { password, shown: "password  as given" }
})

const taken = ({ email }: EmailTaken) => new Unusable({ message: `there is a user ${email} already` })
const last = () => new Unusable({ message: "this is the last owner of the tenant, who stays: make another one first" })

const find = Effect.fnUntraced(function* (address: string) {
  const found = yield* Effect.flatMap(Users, (users) => users.byEmail(address))
  if (Option.isSome(found)) return found.value
  return yield* new Unusable({ message: `there is no user ${address}` })
})

const create = Command.make(
  "create",
  {
    tenant,
    email,
    role: Flag.Literals("role", Role.literals).pipe(Flag.withDescription("What the user may do")),
    fromStdin
  },
  ({ email, fromStdin, role, tenant }) =>
    Effect.gen(function* () {
      yield* existing(tenant)
      const { password, shown } = yield* passwordOf(fromStdin)
      const users = yield* Users
      const user = yield* Effect.catchTag(
        users.create("operator", tenant, { email, role, password }),
        "EMAIL_TAKEN",
        (error) => Effect.fail(taken(error))
      )
      yield* Console.log(`user      ${toTypeId("usr", user.id)}\n${shown}`)
    })
).pipe(Command.withDescription("Make a user, who logs in with a password"), administered)

const list = Command.make("list", { tenant }, ({ tenant }) =>
  Effect.gen(function* () {
    yield* existing(tenant)
    const { data } = yield* Effect.flatMap(Users, (users) => users.list(tenant, { page: 1, limit: 200 }))
    for (const { email, id, role } of data) yield* Console.log(`${toTypeId("usr", id)}  ${role.padEnd(6)}  ${email}`)
  })
).pipe(Command.withDescription("List a tenant's users, newest first and at most 200"), administered)

const setPassword = Command.make("password", { email, fromStdin }, ({ email, fromStdin }) =>
  Effect.gen(function* () {
    const { id, tenant_id } = yield* find(email)
    const { password, shown } = yield* passwordOf(fromStdin)
    yield* Effect.flatMap(Users, (users) => users.update("operator", tenant_id, id, { password }))
    yield* Console.log(shown)
  })
).pipe(Command.withDescription("Give a user another password, which ends the user's sessions"), administered)

const remove = Command.make("remove", { email }, ({ email }) =>
  Effect.gen(function* () {
    const { id, tenant_id } = yield* find(email)
    yield* Effect.flatMap(Users, (users) => users.remove("operator", tenant_id, id)).pipe(
      Effect.catchTag("LAST_OWNER", () => Effect.fail(last()))
    )
    yield* Console.log(`${toTypeId("usr", id)} is removed`)
  })
).pipe(Command.withDescription("Remove a user; the last owner of a tenant stays"), administered)

/** What an operator does about those who log in. */
export const user = Command.make("user").pipe(
  Command.withDescription("People who log in"),
  Command.withSubcommands([create, list, setPassword, remove])
)
