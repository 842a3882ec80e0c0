import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { UserId } from "#domain/Ids.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import { ChangePassword, CreateUser, EmailTaken, LastOwner, UpdateUser, User } from "#domain/User.ts"
import { Authorization, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"

const user = {
  id: "usr_01h455vb4pex5vsknk084sn02s",
  email: "ada@acme.example",
  role: "member",
  created_at: "2026-01-02T03:04:05.678Z"
} as const
const password = "correct horse battery staple"

const whoMayCall =
  "For users with the role owner or admin, and for API keys with the scope `*:*`, which count as admins: owners are made and changed " +
  "by owners only."

const create = HttpApiEndpoint.post("create", "/users", {
  payload: CreateUser,
  success: User.pipe(HttpApiSchema.status(201)),
  error: problems(EmailTaken, Forbidden)
})
  .annotate(Requires, { resource: "users", action: "write" })
  .annotateMerge(
    documented({
      summary: "Create a user",
      description:
        `${whoMayCall} The user logs in with \`email\`, in whatever case, and a \`password\` of 12 to 200 characters, of which a salted ` +
        "scrypt hash is kept. `owner` and `admin` may do everything, `member` everything but make credentials and users, `viewer` " +
        "looks. An address that a user has already, of this tenant or of another, is refused with 409 `EMAIL_TAKEN`.",
      body: { email: user.email, role: user.role, password },
      answer: user
    })
  )

const list = HttpApiEndpoint.get("list", "/users", { query: pageQuery, success: page(User) })
  .annotate(Requires, { resource: "users", action: "read" })
  .annotateMerge(
    documented({
      summary: "List users",
      description:
        "The users of the caller's tenant, newest first. For owners and admins, and for API keys with `*:*`.",
      answer: { data: [user], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const update = HttpApiEndpoint.patch("update", "/users/:id", {
  params: { id: UserId },
  payload: UpdateUser,
  success: User,
  error: problems(NotFound, LastOwner, Forbidden)
})
  .annotate(Requires, { resource: "users", action: "write" })
  .annotateMerge(
    documented({
      summary: "Change a user's role or password",
      description:
        `${whoMayCall} Another role counts at once, also for access tokens that are out. Another password ends all sessions of the ` +
        "user; one's own is changed with the current one, at `/v1/users/me/password`. The last owner of a tenant stays one: 409 " +
        "`LAST_OWNER`.",
      body: { role: "viewer" },
      answer: { ...user, role: "viewer" }
    })
  )

const changePassword = HttpApiEndpoint.post("changePassword", "/users/me/password", {
  payload: ChangePassword,
  success: HttpApiSchema.NoContent,
  error: problem(Forbidden)
})
  .annotate(Requires, { kinds: ["jwt"] })
  .annotateMerge(
    documented({
      summary: "Change your own password",
      description:
        "For users of every role, with an access token and the current password; 403 `FORBIDDEN` when that is another one. All " +
        "sessions of the user end, this one too: log in again.",
      body: { current_password: password, password: "a better battery staple" }
    })
  )

const remove = HttpApiEndpoint.delete("remove", "/users/:id", {
  params: { id: UserId },
  success: HttpApiSchema.NoContent,
  error: problems(NotFound, LastOwner, Forbidden)
})
  .annotate(Requires, { resource: "users", action: "write" })
  .annotateMerge(
    documented({
      summary: "Remove a user",
      description:
        `${whoMayCall} All sessions of the user end at once. What the user did keeps the user's id. The last owner of a tenant is not ` +
        "removed: 409 `LAST_OWNER`."
    })
  )

export class UsersApi extends HttpApiGroup.make("users")
  .add(create, list, update, changePassword, remove)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({ title: "Users", description: "The people of a tenant, and what they may do." })
  ) {}
