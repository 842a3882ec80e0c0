import { agent } from "#domain/Examples/Records.ts"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  Agent,
  AgentFilter,
  AgentSession,
  AuthKey,
  AuthKeyUsed,
  ChangeAgent,
  CreateAgent,
  IssuedAgent,
  NewAuthKey,
  SuspendAgent
} from "#domain/Agent.ts"
import { AgentId, SessionId } from "#domain/Ids.ts"
import { Forbidden, InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { AddressTaken, InvalidAddress, NetworkNotAvailable } from "#domain/Wallet.ts"
import { agents, Authorization, integrators, Requires } from "./Authorization.ts"
import { documented } from "./Documented.ts"
import { page, pageQuery } from "./Pagination.ts"
import { problem, problems } from "./Problems.ts"
import { spellings } from "./Spelling.ts"

const params = { id: AgentId }
const data = <S extends Schema.Top>(schema: S) => Schema.Struct({ data: schema })

const write = { resource: "agents", action: "write" } as const
/** An agent reads itself; a portal reads the agents of its customer. */
const readAll = { resource: "agents", action: "read", kinds: [...integrators, ...agents, "portal_token"] } as const
/** What an agent may read and end of its own. */
const own = [...integrators, ...agents] as const

const credentials = {
  token: "agent_test_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
  warning: "Store this token now: it is not shown again."
} as const
/** A key with the private half that was made with it. */
export const exampleKey = {
  keyId: "auth_01h455vb4pex5vsknk084sn02t",
  publicKey: agent.public_key,
  privateKey: "nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=",
  algorithm: "ed25519",
  warning: "Store the private key now: it is not shown again."
} as const

const create = HttpApiEndpoint.post("create", "/agents", {
  payload: CreateAgent,
  success: IssuedAgent.pipe(HttpApiSchema.status(201)),
  error: problems(InvalidRequest, NotFound, NetworkNotAvailable, InvalidAddress, AddressTaken)
})
  .annotate(Requires, write)
  .annotateMerge(
    spellings(
      documented({
        summary: "Create an agent",
        description:
          "A program that acts for an account (`accountId`; the caller's own when left out), with a USDC wallet of its own on " +
          "`walletNetwork`. Live, `walletAddress` is needed: an address on that network whose key the agent holds. The sandbox " +
          "derives one. `credentials.token` is the agent's bearer credential; it is shown in this answer and never again.\n\n" +
          "An agent that opens sessions has an Ed25519 key. With `generateKeypair` one is made here, and `authKey.privateKey` (the " +
          "32-byte seed in base64) is shown this once and not kept. Better, send only the `publicKey` (32 bytes in base64) of a pair " +
          "that the agent made itself. Skills are up to 100 names. The snake-case spellings of the fields are accepted too, and " +
          "`parent_account_id` for `accountId`.",
        body: { name: agent.name, accountId: agent.accountId, generateKeypair: true, skills: agent.skills },
        answer: { data: agent, credentials, authKey: exampleKey }
      }),
      {
        others: {
          parent_account_id: "accountId",
          generate_keypair: "generateKeypair",
          public_key: "publicKey",
          wallet_network: "walletNetwork",
          wallet_address: "walletAddress"
        }
      }
    )
  )

const list = HttpApiEndpoint.get("list", "/agents", {
  query: { ...AgentFilter, ...pageQuery },
  success: page(Agent),
  error: problem(Forbidden)
})
  .annotate(Requires, readAll)
  .annotateMerge(
    documented({
      summary: "List agents",
      description:
        "Newest first; every filter given must match. `connected=true` finds those that have an open event channel now: it is for " +
        "API keys and users, and 403 `FORBIDDEN` for all others. An agent sees itself alone, and a portal token with `agents:read` " +
        "the agents of its customer's account. Deleted agents are gone.",
      answer: { data: [agent], pagination: { page: 1, limit: 50, total: 1, totalPages: 1 } }
    })
  )

const get = HttpApiEndpoint.get("get", "/agents/:id", { params, success: data(Agent), error: problem(NotFound) })
  .annotate(Requires, readAll)
  .annotateMerge(
    documented({
      summary: "Get an agent",
      description:
        "`public_key` is the key that opens sessions, null without one; `connected` says whether an event channel is open. For an " +
        "agent every other agent is not found; for a portal token every agent of another account.",
      answer: { data: agent }
    })
  )

const update = HttpApiEndpoint.patch("update", "/agents/:id", {
  params,
  payload: ChangeAgent,
  success: data(Agent),
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Change an agent",
      description:
        "The fields given replace what is there; `skills` and `metadata` as a whole. An agent does not change itself.",
      body: { description: "Buys forecasts", skills: ["weather", "tides"] },
      answer: { data: { ...agent, description: "Buys forecasts", skills: ["weather", "tides"] } }
    })
  )

const remove = HttpApiEndpoint.delete("remove", "/agents/:id", {
  params,
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Delete an agent",
      description:
        "Its token, key and sessions stop working everywhere at once and for good, and it is not found any more. Its wallet stays " +
        "with the tenant under the agent's id: its money can be moved on, and its statement and transfers stay as they are."
    })
  )

const suspend = HttpApiEndpoint.post("suspend", "/agents/:id/suspend", {
  params,
  payload: [SuspendAgent, Schema.Null],
  success: data(Agent),
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Suspend an agent",
      description:
        "Every credential of it is refused with 403 `AGENT_SUSPENDED` everywhere at once, and its event channel is closed. Nothing " +
        "else changes: its wallet receives, and what it began goes on. Suspending it again answers 200 and replaces the reason.",
      body: { reason: "Spends too fast" },
      bodyIsOptional: true,
      answer: { data: { ...agent, status: "suspended", suspended_reason: "Spends too fast" } }
    })
  )

const activate = HttpApiEndpoint.post("activate", "/agents/:id/activate", {
  params,
  success: data(Agent),
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Activate an agent",
      description:
        "Ends a suspension: its token, key and the sessions that are not over work again. Activating an active agent answers 200 and " +
        "changes nothing.",
      answer: { data: agent }
    })
  )

const rotateToken = HttpApiEndpoint.post("rotateToken", "/agents/:id/rotate-token", {
  params,
  success: IssuedAgent,
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Replace an agent's token",
      description:
        "The answer shows the new token, once. The old one stops working everywhere at once; sessions go on.",
      answer: { data: agent, credentials }
    })
  )

const createKey = HttpApiEndpoint.post("createKey", "/agents/:id/auth-keys", {
  params,
  payload: [NewAuthKey, Schema.Null],
  success: AuthKey.pipe(HttpApiSchema.status(201)),
  error: problems(InvalidRequest, NotFound, AuthKeyUsed)
})
  .annotate(Requires, write)
  .annotateMerge(
    spellings(
      documented({
        summary: "Give an agent a key",
        description:
          "The agent's only active Ed25519 key from now on. One that it has is revoked, and the sessions that it opened end. Without " +
          "`publicKey` a pair is made here and `privateKey` (the 32-byte seed in base64) is shown once. A key that the agent ever had " +
          "is refused with 409 `AUTH_KEY_USED`. Whoever holds the active key can replace it without an API key: see rotate.",
        body: {},
        bodyIsOptional: true,
        answer: exampleKey
      }),
      { others: { public_key: "publicKey" } }
    )
  )

const revokeKey = HttpApiEndpoint.delete("revokeKey", "/agents/:id/auth-keys", {
  params,
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .annotate(Requires, write)
  .annotateMerge(
    documented({
      summary: "Revoke an agent's key",
      description:
        "The key proves nothing any more and every session that it opened ends at once; the agent's token goes on. No session can be " +
        "opened until the agent is given another key. An agent without a key: 404."
    })
  )

const sessions = HttpApiEndpoint.get("sessions", "/agents/:id/sessions", {
  params,
  query: pageQuery,
  success: page(AgentSession),
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "agents", action: "read", kinds: own })
  .annotateMerge(
    documented({
      summary: "List an agent's sessions",
      description:
        "The sessions that last, newest first: at most 100, because opening another one ends the oldest; besides, those that are " +
        "over and whose event channel is still open. `connected` says whether it is. `key_id` is the key that opened it. An agent lists " +
        "its own.",
      answer: {
        data: [
          {
            id: "ses_01h455vb4pex5vsknk084sn02v",
            agent_id: agent.id,
            key_id: exampleKey.keyId,
            last_four: "mA3x",
            connected: false,
            created_at: "2026-01-02T03:04:05.678Z",
            expires_at: "2026-01-02T04:04:05.678Z"
          }
        ],
        pagination: { page: 1, limit: 50, total: 1, totalPages: 1 }
      }
    })
  )

const endSession = HttpApiEndpoint.delete("endSession", "/agents/:id/sessions/:sessionId", {
  params: { ...params, sessionId: SessionId },
  success: HttpApiSchema.NoContent,
  error: problem(NotFound)
})
  .annotate(Requires, { resource: "agents", action: "write", kinds: own })
  .annotateMerge(
    documented({
      summary: "End a session",
      description:
        "Its token stops working everywhere at once, and its event channel is closed. A session that was ended already is not found. " +
        "An agent ends its own, also the one that it calls with."
    })
  )

export class AgentsApi extends HttpApiGroup.make("agents")
  .add(create, list, get, update, remove, suspend, activate, rotateToken, createKey, revokeKey, sessions, endSession)
  .middleware(Authorization)
  .prefix("/v1")
  .annotateMerge(
    OpenApi.annotations({
      title: "Agents",
      description: "Programs that act for an account, with a wallet and credentials of their own."
    })
  ) {}
