import type { Terms } from "./Terms.ts"

const reminder = "A reminder to store it now, in words"
const environment = "`test` in the sandbox, `live` otherwise"
const revoked_at = "When it was revoked; null unless it was"
const expiresIn = "For how many seconds it is good"

const role =
  "`owner` may do everything, `admin` too but neither makes nor changes owners, `member` makes no credentials and users, `viewer` only looks"
const password = "12 to 200 characters; only a hash of it is kept"

const agent = {
  name: "What you call it",
  description: "What it is for, in your own words; null when there is nothing",
  skills: "What it can do, in names of your own",
  metadata:
    "Facts of your own, at most 16 KiB as JSON; ids of more than 15 digits as text, since readers of JSON round such numbers"
}
const publicKey = "The public half of an Ed25519 pair that the agent made: its 32 bytes in base64"
const otherKey = `${publicKey}. One that the agent never had; left out: a pair is made here`

const apiKey = {
  name: "What you call it",
  environment,
  scopes: "What it may do: `resource:read`, `resource:write`, `resource:*`, or `*:*` for everything",
  prefix: "What the key begins with: `pk_test_` or `pk_live_`",
  last_four: "The last four characters of the key, to tell it from others"
}

const newPortalToken = {
  customer_reference: "The account of the customer whose view it is",
  scopes:
    "What of the customer it reads: `transfers:read` transfers, `agents:read` agents; no operation asks for `usage:read` and `invoices:read`"
}
const portalToken = { ...newPortalToken, expires_at: "When it ends by itself" }

const account = {
  type: "A company or a human being",
  name: "What you call it",
  email: "An address that you noted, to which nothing is sent; null when there is none",
  country: "Where it is, by ISO 3166-1 alpha-2; null when that is not known",
  metadata: agent.metadata
}

/** Of agents, their keys, sessions and channel, accounts, API keys, users and portal tokens. */
export const agents: Terms = {
  Agent: {
    ...agent,
    parent_account_id: "The account that it acts for",
    accountId: "The same as `parent_account_id`",
    status: "While it is `suspended` all its credentials answer 403 `AGENT_SUSPENDED`; its wallet still receives",
    suspended_reason: "What was said when it was suspended; null when nothing was, or it is active",
    public_key: "The Ed25519 key that opens its sessions, 32 bytes in base64; null without one",
    wallet_id: "The USDC wallet that was made with it, from which it pays",
    connected: "Whether it has an open event channel"
  },
  ChangeAgent: {
    ...agent,
    description: "What it is for, in your own words; null: nothing",
    skills: `${agent.skills}. Replaces all of them`,
    metadata: `${agent.metadata}. Replaces all of them`
  },
  "agents.create": {
    ...agent,
    accountId: "The account that it acts for; the caller's own when left out",
    description: "What it is for, in your own words; null or left out: nothing",
    skills: `${agent.skills}; none when left out`,
    metadata: `${agent.metadata}; none when left out`,
    generateKeypair:
      "Whether an Ed25519 pair is made here and its private half shown once; false when left out. Not with `publicKey`",
    publicKey: `${publicKey}. Without it and \`generateKeypair\` the agent opens no sessions`,
    walletNetwork: "The network of its wallet; left out: Solana's of this environment, `solana-devnet` in the sandbox",
    walletAddress:
      "The address of its wallet, whose key the agent holds: needed on a live server; left out in the sandbox: one that nobody has the key of"
  },
  "agents.list": {
    account_id: "Only agents that act for this account",
    status: "Only agents in this state",
    connected: "Only agents that have an open event channel, or that have none; for API keys and users"
  },
  "agents.suspend": { reason: "Why, for the record; null or left out: nothing is noted. Replaces an earlier one" },
  "agents.createKey": { publicKey: otherKey },
  "agent_sessions.rotateKey": {
    proof:
      "The active key's Ed25519 signature, in base64, over `rotate:` and the agent's id (`rotate:agt_…`, or with its UUID)",
    publicKey: otherKey
  },
  "agent_channel.connect": {
    "last-event-id":
      "The last event that you handled (`evt_…`): what followed it comes first, if it is among the last 100 and of the last 5 minutes; left out: only what happens from now on"
  },
  IssuedAgent: {
    data: "The agent",
    credentials: "Its token, which is shown this once",
    authKey: "Its key; absent for an agent without one"
  },
  AgentToken: {
    token: "A Bearer credential that acts as the agent until it is replaced; shown this once",
    warning: reminder
  },
  AuthKey: {
    publicKey: "The public half, 32 bytes in base64",
    privateKey:
      "The private half, a seed of 32 bytes in base64, shown this once and not kept; absent where you sent the public one",
    algorithm: "There is only this one",
    warning: `${reminder}; absent without \`privateKey\``
  },
  Challenge: {
    challenge: "The text to sign, as it stands; good for one session of this agent",
    expiresIn: `${expiresIn}: 60`
  },
  Authenticate: {
    challenge: "The challenge, as it was given",
    signature: "The active key's Ed25519 signature over the bytes of `challenge`, in base64"
  },
  OpenedSession: {
    sessionToken:
      "A Bearer credential (`sess_…`) that acts as the agent, and the only one that opens the event channel; shown this once",
    expiresIn: `${expiresIn}: 3600, an hour`
  },
  AgentSession: {
    key_id: "The key that opened it",
    last_four: "The last four characters of its token, to tell it from others",
    connected: "Whether it holds an open event channel, which may outlast `expires_at`",
    expires_at: "When its token ends"
  },
  AgentLiveness: {
    connected: "Whether it has an open event channel on any process",
    connected_since: "When the oldest of its open channels was opened; null when there is none",
    last_seen_at:
      "When it was known last that its channel is open, at most 20 seconds behind; null when it never had one",
    last_event_id: "The last event that was written to its channel, at most 20 seconds behind; null when none ever was",
    transport: "How it is connected; null when it is not"
  },
  Account: { ...account, environment },
  CreateAccount: {
    ...account,
    type: `${account.type}; \`business\` when left out`,
    email: "An address to note, to which nothing is sent; null or left out: none",
    country: "Where it is, by ISO 3166-1 alpha-2; null or left out: not known",
    metadata: `${account.metadata}; none when left out`
  },
  CallerContext: {
    environment,
    actor_type:
      "Whose credential it is: `agent` of a token or a session, `portal` of a portal token; nobody who asks is `system`",
    actor_id: "Id of the agent, of the user, or else of the credential",
    account_id:
      "The account that is meant where a request names none: an agent's, a portal token's customer, or else the tenant's own",
    scopes: "What the credential may do, as far as operations ask for scopes",
    api_key_id: "Id of the API key; null for other credentials",
    agent_id: "Id of the agent; null for other credentials",
    wallet_id: "The wallet from which an agent pays when it names none; null for other credentials"
  },
  ApiKey: { ...apiKey, revoked_at },
  IssuedApiKey: { ...apiKey, key: "The key itself, a Bearer credential; shown this once", warning: reminder },
  CreateApiKey: {
    name: apiKey.name,
    scopes: `${apiKey.scopes}; no more than the caller itself`,
    environment: "The server's own, which is the only one that it can be, when left out"
  },
  PortalToken: { ...portalToken, revoked_at },
  IssuedPortalToken: {
    ...portalToken,
    token: "A Bearer credential for the customer's browser, which reads and does nothing else; shown this once",
    warning: reminder
  },
  CreatePortalToken: {
    ...newPortalToken,
    scopes: `${newPortalToken.scopes}. You need the right to see the same`,
    expires_in: `${expiresIn}; 3600, an hour, when left out`
  },
  User: { email: "The address that the user logs in with, in lower case", role },
  CreateUser: {
    email: "The address that the user logs in with, in whatever case; one that no other user has, of any tenant",
    role,
    password
  },
  UpdateUser: { role: `${role}; counts at once`, password: `${password}. Another one ends all sessions of the user` },
  ChangePassword: { current_password: "The one that you have", password: `${password}. It ends all your sessions` },
  Login: { email: "Your address, in whatever case", password: "Your password" },
  Access: {
    access_token:
      "A Bearer credential with the scopes of the user's role; the refresh token is in the cookie `refresh_token`",
    token_type: "How to send it: `Authorization: Bearer …`",
    expires_in: "For how many seconds the access token is good: 900, and fewer before the session ends",
    user: "Whose it is"
  },
  UserSession: {
    user_agent: "The browser that logged in, by up to 200 characters of its `User-Agent`; null when it sent none",
    created_at: "When the user logged in",
    refreshed_at: "When it was refreshed last; at first when it was made",
    expires_at: "When it ends by itself, 30 days after the login",
    current: "Whether it is the one that asks"
  }
}
