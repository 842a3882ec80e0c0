import { Result, Schema } from "effect"
import { Moment } from "./Instant.ts"
import { PublicKey, Signature } from "./Ed25519.ts"
import { AccountId, AgentId, AuthKeyId, SessionId, WalletId } from "./Ids.ts"
import { Metadata } from "./Metadata.ts"
import { Network } from "./Network.ts"
import { InvalidRequest } from "./Refusal.ts"
import { either } from "./Spelling.ts"
import { name, text } from "./Text.ts"

/** A suspended agent keeps everything and may do nothing. */
export const AgentStatus = Schema.Literals(["active", "suspended"])
export type AgentStatus = typeof AgentStatus.Type

const Skills = Schema.Array(name(100)).check(
  Schema.isMaxLength(100),
  Schema.makeFilter((skills) => new Set(skills).size === skills.length || "must name each skill once", {
    toJsonSchema: () => ({ uniqueItems: true })
  })
)
const Description = Schema.NullOr(text(1000))

/** A program that acts for an account, with a wallet and credentials of its own. `public_key` is null when it has no active key. */
export const Agent = Schema.Struct({
  id: AgentId,
  parent_account_id: AccountId,
  accountId: AccountId,
  name: Schema.String,
  description: Schema.NullOr(Schema.String),
  status: AgentStatus,
  suspended_reason: Schema.NullOr(Schema.String),
  skills: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Json),
  public_key: Schema.NullOr(Schema.String),
  wallet_id: WalletId,
  connected: Schema.Boolean,
  created_at: Moment,
  updated_at: Moment
}).annotate({ identifier: "Agent" })
export type Agent = typeof Agent.Type

const optional = Schema.optionalKey

/** What an agent is made from. Fields that differ in case only are other spellings of their neighbours. */
export const CreateAgent = Schema.Struct({
  accountId: optional(AccountId),
  parent_account_id: optional(AccountId),
  name: name(255),
  description: optional(Description),
  skills: optional(Skills),
  metadata: optional(Metadata),
  generateKeypair: optional(Schema.Boolean),
  generate_keypair: optional(Schema.Boolean),
  publicKey: optional(PublicKey),
  public_key: optional(PublicKey),
  walletNetwork: optional(Network),
  wallet_network: optional(Network),
  walletAddress: optional(text(100)),
  wallet_address: optional(text(100))
})
export type CreateAgent = typeof CreateAgent.Type

/** Where a key comes from: the caller has it, or we make it and show it once. */
export type KeySource = { readonly publicKey: PublicKey } | "generated"

/** An agent to make. */
export interface AgentOrder {
  /** The caller's own account when left out. */
  readonly account_id: AccountId | undefined
  readonly name: string
  readonly description: string | null
  readonly skills: ReadonlyArray<string>
  readonly metadata: Metadata
  readonly key: KeySource | undefined
  readonly network: Network | undefined
  readonly address: string | undefined
}

const message = "cannot be given where a key pair is to be generated: send one of the two"

export const agentOrderOf = (body: CreateAgent): Result.Result<AgentOrder, InvalidRequest> =>
  Result.gen(function* () {
    const { description = null, metadata = {}, name, skills = [] } = body
    const account_id = yield* either(["accountId", body.accountId], ["parent_account_id", body.parent_account_id])
    const isGenerated = yield* either(
      ["generateKeypair", body.generateKeypair],
      ["generate_keypair", body.generate_keypair]
    )
    const publicKey = yield* either(["publicKey", body.publicKey], ["public_key", body.public_key])
    const network = yield* either(["walletNetwork", body.walletNetwork], ["wallet_network", body.wallet_network])
    const address = yield* either(["walletAddress", body.walletAddress], ["wallet_address", body.wallet_address])
    if (isGenerated === true && publicKey !== undefined) {
      return yield* Result.fail(new InvalidRequest({ errors: [{ path: "publicKey", message }] }))
    }
    const key = isGenerated === true ? "generated" : publicKey === undefined ? undefined : { publicKey }
    return { account_id, name, description, skills, metadata, key, network, address }
  })

/** What may be changed of an agent: the fields given. */
export const ChangeAgent = Schema.Struct({
  name: optional(name(255)),
  description: optional(Description),
  skills: optional(Skills),
  metadata: optional(Metadata)
}).annotate({ identifier: "ChangeAgent" })
export type ChangeAgent = typeof ChangeAgent.Type

export const SuspendAgent = Schema.Struct({ reason: optional(Schema.NullOr(name(1000))) })
export type SuspendAgent = typeof SuspendAgent.Type

/** What narrows a list of agents; every field given must match. */
export const AgentFilter = {
  account_id: optional(AccountId),
  status: optional(AgentStatus),
  connected: optional(Schema.Literals(["true", "false"]))
}
export type AgentFilter = Schema.Struct.Type<typeof AgentFilter>

/** A key that was just registered. The private key, a seed of 32 bytes in base64, is only there when it was made here. */
export const AuthKey = Schema.Struct({
  keyId: AuthKeyId,
  publicKey: Schema.String,
  privateKey: optional(Schema.String),
  algorithm: Schema.Literal("ed25519"),
  warning: optional(Schema.String)
}).annotate({ identifier: "AuthKey" })
export type AuthKey = typeof AuthKey.Type

/** A new key for an agent; without `publicKey` a pair is generated. `public_key` is another spelling. */
export const NewAuthKey = Schema.Struct({ publicKey: optional(PublicKey), public_key: optional(PublicKey) })
export type NewAuthKey = typeof NewAuthKey.Type

/** The same by whoever holds the old key. */
export const RotateAuthKey = Schema.Struct({ proof: Signature, ...NewAuthKey.fields })
export type RotateAuthKey = typeof RotateAuthKey.Type

export const keySourceOf = ({ publicKey, public_key }: NewAuthKey): Result.Result<KeySource, InvalidRequest> =>
  Result.map(either(["publicKey", publicKey], ["public_key", public_key]), (given) =>
    given === undefined ? "generated" : { publicKey: given }
  )

/** The plaintext of an agent's token, and what to do about it. */
export const AgentToken = Schema.Struct({ token: Schema.String, warning: Schema.String }).annotate({
  identifier: "AgentToken"
})

/** An agent with a token that was just made, and with its key if that was too. */
export const IssuedAgent = Schema.Struct({ data: Agent, credentials: AgentToken, authKey: optional(AuthKey) }).annotate(
  { identifier: "IssuedAgent" }
)
export type IssuedAgent = typeof IssuedAgent.Type

/** What an agent signs, and for how many seconds it may. */
export const Challenge = Schema.Struct({ challenge: Schema.String, expiresIn: Schema.Int }).annotate({
  identifier: "Challenge"
})
export type Challenge = typeof Challenge.Type

export const Authenticate = Schema.Struct({ challenge: text(500), signature: Signature }).annotate({
  identifier: "Authenticate"
})
export type Authenticate = typeof Authenticate.Type

/** A session that was just opened: the only time its token is shown. */
export const OpenedSession = Schema.Struct({
  sessionToken: Schema.String,
  expiresIn: Schema.Int,
  sessionId: SessionId
}).annotate({ identifier: "OpenedSession" })
export type OpenedSession = typeof OpenedSession.Type

/** A session that lasts, without its token. */
export const AgentSession = Schema.Struct({
  id: SessionId,
  agent_id: AgentId,
  key_id: AuthKeyId,
  last_four: Schema.String,
  connected: Schema.Boolean,
  created_at: Moment,
  expires_at: Moment
}).annotate({ identifier: "AgentSession" })
export type AgentSession = typeof AgentSession.Type

/** One answer for all that may be wrong, so that it tells a stranger nothing: not even whether there is such an agent. */
export class InvalidSignature extends Schema.TaggedError<InvalidSignature>()(
  "INVALID_SIGNATURE",
  {},
  { httpApiStatus: 401, title: "Nothing here proves that you hold the agent's active key" }
) {}

/** An old proof would open the door again. */
export class AuthKeyUsed extends Schema.TaggedError<AuthKeyUsed>()(
  "AUTH_KEY_USED",
  { publicKey: Schema.String },
  { httpApiStatus: 409, title: "The agent has or had that key: it needs a new one" }
) {}
