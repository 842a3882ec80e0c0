import { Effect } from "effect"
import { toTypeId } from "#domain/Ids.ts"
import type { Principal } from "#domain/Principal.ts"
import { agent, answer, open, proofOf } from "../services/AgentsHarness.ts"

type Names = Readonly<Record<string, string>>

/** Agents of a tenant and what belongs to them: what stands for them in requests, by operation or group. */
export const fleet = Effect.fnUntraced(function* (principal: Principal) {
  const [first, second, third] = [yield* agent(principal), yield* agent(principal), yield* agent(principal)]
  const session = yield* open(first)
  const [one, two, three] = [first, second, third].map(({ id }) => toTypeId("agt", id))
  const ids = {
    agents: one!,
    agent_channel: one!,
    "agents.rotateToken": two!,
    "agents.createKey": two!,
    "agents.remove": two!,
    "agents.revokeKey": three!,
    agent_sessions: three!
  }
  /** What an operation's body says that no other operation's does. */
  const namesOf = Effect.fnUntraced(function* (operation: string) {
    const none: Names = {}
    if (operation === "agent_sessions.authenticate") return { ...(yield* answer(third.id, third.seed)) }
    return operation === "agent_sessions.rotateKey" ? { proof: proofOf(third.id, third.seed) } : none
  })
  const secrets = [first, second, third].flatMap(({ seed, token }) => [seed, token])
  return { ids, sessionId: toTypeId("ses", session.sessionId), namesOf, secrets: [session.sessionToken, ...secrets] }
})
