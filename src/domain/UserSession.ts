import { Schema } from "effect"
import { Moment } from "./Instant.ts"
import { SessionId } from "./Ids.ts"
import { User } from "./User.ts"

/** How long a session lasts from the login, and each access token within it; how long two tabs may race. Seconds. */
export const sessionLife = { session: 30 * 86_400, access: 900, race: 10 }

/** How many sessions a user has at most; another login ends the one that is oldest. */
export const sessionsPerUser = 100

/** Somebody's login, until it is ended. */
export const UserSession = Schema.Struct({
  id: SessionId,
  user_agent: Schema.NullOr(Schema.String),
  created_at: Moment,
  refreshed_at: Moment,
  expires_at: Moment,
  /** Whether it is the one that asks. */
  current: Schema.Boolean
}).annotate({ identifier: "UserSession" })
export type UserSession = typeof UserSession.Type

/** What somebody logs in with: any text, because what is no password of ours is simply the wrong one. */
export const Login = Schema.Struct({
  email: Schema.String.check(Schema.isMaxCodePoints(254)),
  password: Schema.String.check(Schema.isMaxCodePoints(200))
}).annotate({ identifier: "Login" })
export type Login = typeof Login.Type

/** An access token, and whose it is. The refresh token is in a cookie, where no script reads it. */
export const Access = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  expires_in: Schema.Int,
  user: User
}).annotate({ identifier: "Access" })
export type Access = typeof Access.Type

/** The address is nobody's, or the password is not that user's: which of the two is told to nobody. */
export class InvalidCredentials extends Schema.TaggedError<InvalidCredentials>()(
  "INVALID_CREDENTIALS",
  {},
  { httpApiStatus: 401, title: "The e-mail address or the password is wrong" }
) {}

/** What is known of a session when one of its refresh tokens is shown. */
export interface Refreshable {
  readonly generation: number
  readonly refreshed_at: Date
  readonly expires_at: Date
}

/**
 * What becomes of a refresh token of this generation: the latest is followed by the next, and so is the one before for as long as two
 * tabs may race. An older one was copied by somebody. One that was not made yet is of a session that a restored backup forgot.
 */
export const presented = (
  session: Refreshable,
  generation: number,
  now: Date
): "latest" | "raced" | "reused" | "unknown" | "expired" => {
  if (session.expires_at <= now) return "expired"
  if (generation > session.generation) return "unknown"
  if (generation === session.generation) return "latest"
  const age = now.getTime() - session.refreshed_at.getTime()
  return generation === session.generation - 1 && age <= sessionLife.race * 1000 ? "raced" : "reused"
}

/** Text that may be an access token: base64url of `{"`, and two dots. */
export const readsAsJwt = (token: string): boolean => token.startsWith("eyJ") && token.split(".", 4).length === 3
