import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  Authenticate,
  AuthKey,
  AuthKeyUsed,
  Challenge,
  InvalidSignature,
  OpenedSession,
  RotateAuthKey
} from "#domain/Agent.ts"
import { AgentSuspended } from "#domain/Credential.ts"
import { AgentId } from "#domain/Ids.ts"
import { InvalidRequest } from "#domain/Refusal.ts"
import { exampleKey } from "./Agents.ts"
import { documented } from "./Documented.ts"
import { problems } from "./Problems.ts"
import { spellings } from "./Spelling.ts"
import { Claimants } from "./Visitors.ts"

const params = { id: AgentId }

const text = "challenge_3q2-7wAAAAAAAAAAAAAAAAAAAAABm3_r5V0Zl0oQWmVnUO0m4Vb0c2Xk"
const signature = "5VZDAMNgrHKQhuLMgG6CioSHfx64+nj0rr0Lhmb9J2fD7SPXEhPFsI1gJQdC2EYF5iyOYWRSXZSZcKHyq9qRDg=="

const challenge = HttpApiEndpoint.post("challenge", "/agents/:id/challenge", {
  params,
  success: Challenge
}).annotateMerge(
  documented({
    summary: "Ask for a challenge",
    description:
      "Something for the agent to sign, good for one session within 60 seconds. The answer looks the same for an " +
      "agent that does not exist. Ten a minute per address.",
    answer: { challenge: text, expiresIn: 60 }
  })
)

const authenticate = HttpApiEndpoint.post("authenticate", "/agents/:id/authenticate", {
  params,
  payload: Authenticate,
  success: OpenedSession,
  error: problems(InvalidSignature, AgentSuspended)
}).annotateMerge(
  documented({
    summary: "Open a session",
    description:
      "`signature` is the base64 Ed25519 signature, with the agent's active key, over the UTF-8 bytes of `challenge` as it was given. " +
      "`sessionToken` is a bearer credential that acts as the agent for an hour, and the only one that opens the event channel; it is " +
      "shown once. An unknown agent, an agent without a key, a wrong signature, and a challenge that was made up, answered before or " +
      "is over all answer the same 401 `INVALID_SIGNATURE`. A suspended agent that signed well answers 403 `AGENT_SUSPENDED`. An " +
      "agent has at most 100 sessions: another one ends the oldest. Ten a minute per address.",
    body: { challenge: text, signature },
    answer: {
      sessionToken: "sess_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
      expiresIn: 3_600,
      sessionId: "ses_01h455vb4pex5vsknk084sn02v"
    }
  })
)

const rotateKey = HttpApiEndpoint.post("rotateKey", "/agents/:id/auth-keys/rotate", {
  params,
  payload: RotateAuthKey,
  success: AuthKey,
  error: problems(InvalidRequest, InvalidSignature, AgentSuspended, AuthKeyUsed)
}).annotateMerge(
  spellings(
    documented({
      summary: "Replace a key by proof",
      description:
        "For whoever holds the agent's active key. `proof` is the base64 Ed25519 signature over the text " +
        "`rotate:` followed by the agent's id as it is shown (`rotate:agt_...`; its uuid will do too). The old key becomes `rotated`, " +
        "every session that it opened ends at once, the event `agent.key_rotated` is told, and the same proof is worth nothing any " +
        "more. Send the `publicKey` of a pair that the agent made itself: then a lost answer does no harm. Without it a pair is made " +
        "here and `privateKey` is shown once. A key that the agent ever had is refused with 409 `AUTH_KEY_USED`, everything that may " +
        "be wrong with the proof with the same 401 `INVALID_SIGNATURE`. Ten a minute per address.",
      body: { proof: signature },
      answer: exampleKey
    }),
    { others: { public_key: "publicKey" } }
  )
)

export class AgentSessionsApi extends HttpApiGroup.make("agent_sessions")
  .add(challenge, authenticate, rotateKey)
  .middleware(Claimants)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Agent sessions",
      description: "How an agent shows with its Ed25519 key who it is."
    })
  ) {}
