import { Effect } from "effect"
import { readsAsJwt } from "#domain/UserSession.ts"
import { BoughtCalls } from "./BoughtCalls.ts"
import { Credentials } from "./Credentials.ts"
import { UserSessions } from "./UserSessions.ts"

/** Says who shows a credential, of whatever kind: a call that was paid for is its buyer's, what reads as an access token is a user's, everything else is known by its hash. */
export const make = Effect.gen(function* () {
  const credentials = yield* Credentials
  const sessions = yield* UserSessions
  const bought = yield* BoughtCalls
  const authenticate = (token: string) => {
    const buyer = bought.caller(token)
    if (buyer !== undefined) return Effect.succeed(buyer)
    return readsAsJwt(token) ? sessions.authenticate(token) : credentials.authenticate(token)
  }
  /** Whether it costs no database to refuse this token if it is nobody's: an access token that we did not sign is looked up nowhere. */
  const isAtHand = (token: string) =>
    bought.caller(token) !== undefined || readsAsJwt(token) ? Effect.succeed(true) : credentials.isRemembered(token)
  return { authenticate, isAtHand }
})
