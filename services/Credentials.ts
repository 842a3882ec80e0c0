import { Cache, Clock, Context, DateTime, Duration, Effect, Exit, Layer, PubSub, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { hash as digest, timingSafeEqual } from "node:crypto"
import {
  ApiKey,
  type CreateApiKey,
  CredentialKind,
  type CredentialRefused,
  EnvironmentMismatch,
  ExpiredApiKey,
  InsufficientScope,
  InvalidApiKey,
  readToken,
  scopeBeyond,
  tokenPrefix
} from "#domain/Credential.ts"
import { AccountId, KeyId, TenantId, toTypeId } from "#domain/Ids.ts"
import { Environment, environmentWord, Principal } from "#domain/Principal.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { Deployment } from "./Deployment.ts"
import { EventBus } from "./EventBus.ts"
import { newId } from "./NewId.ts"
import { randomText } from "./RandomText.ts"

/** How many answers about tokens are remembered, and how old one may get. */
export const credentialMemory = { capacity: 10_000, longest: Duration.seconds(10) }

/** Where revocations are announced: the revoked key's hash in hex. */
export const revokedSubject = "credentials.revoked"

/** A key that was just made. `key` is the plaintext, which nobody can show again. */
export interface Issued {
  readonly id: KeyId
  readonly name: string
  readonly environment: Environment
  readonly scopes: ReadonlyArray<string>
  readonly key: string
  readonly prefix: string
  readonly last_four: string
  readonly created_at: Date
}

/** Who holds which key. Only hashes are kept. */
export class Credentials extends Context.Service<
  Credentials,
  {
    /** Whose token this is. Asks the database at most once in ten seconds, and at once after a revocation anywhere. */
    authenticate(token: string): Effect.Effect<Principal, CredentialRefused>
    /** An API key for the caller's tenant, with at most the caller's own scopes. */
    create(by: Principal, key: CreateApiKey): Effect.Effect<Issued, InsufficientScope | InvalidRequest>
    /** A key nobody asked for over the API: the first keys, and administration. Joins the caller's transaction. */
    issue(key: {
      readonly tenant_id: TenantId
      readonly kind: CredentialKind
      readonly name: string
      readonly scopes: ReadonlyArray<string>
    }): Effect.Effect<Issued>
    /** A page of the tenant's API keys, revoked ones too, newest first, and how many there are. */
    list(
      tenant_id: TenantId,
      page: { readonly page: number; readonly limit: number }
    ): Effect.Effect<{ readonly data: ReadonlyArray<ApiKey>; readonly total: number }>
    /** Takes effect on every process at once. A key that is revoked already is not found. */
    revoke(tenant_id: TenantId, id: KeyId): Effect.Effect<void, NotFound>
  }
>()("turnpike/services/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const bus = yield* EventBus
      const { environment } = yield* Deployment

      const holderOf = SqlSchema.findOneOption({
        Request: Schema.Uint8Array,
        Result: Holder,
        execute: (hash) =>
          sql`SELECT c.id, c.tenant_id, c.kind, c.scopes, c.hash, c.revoked_at, t.environment, a.id AS account_id
            FROM credentials c
            JOIN tenants t ON t.id = c.tenant_id
            JOIN accounts a ON a.tenant_id = c.tenant_id AND a.is_default
            WHERE c.hash = ${hash}`
      })
      const judge = Effect.fnUntraced(function* (hex: string) {
        const asked = yield* Clock.currentTimeMillis
        const hash = Buffer.from(hex, "hex")
        const found = yield* holderOf(hash)
        const holder = found._tag === "Some" ? found.value : undefined
        const matches = timingSafeEqual(holder?.hash ?? noHash, hash)
        const answer = holder === undefined || !matches ? Result.fail(new InvalidApiKey()) : admit(holder, environment)
        return { answer, asked, answered: yield* Clock.currentTimeMillis }
      }, Effect.orDie)
      const memory = yield* Cache.makeWith(judge, {
        capacity: credentialMemory.capacity,
        // What is remembered is as old as the question was, not as the answer is. Failures of the database are not remembered.
        timeToLive: (exit) =>
          Exit.isSuccess(exit)
            ? Duration.subtract(credentialMemory.longest, Duration.millis(exit.value.answered - exit.value.asked))
            : Duration.zero
      })
      const authenticate = Effect.fnUntraced(function* (token: string) {
        const read = readToken(token)
        if (read === undefined) return yield* new InvalidApiKey()
        if (read.environment !== environment) {
          return yield* new EnvironmentMismatch({ expected: environmentWord(environment) })
        }
        const { answer } = yield* Cache.get(memory, digest("sha256", token, "hex"))
        return yield* Effect.fromResult(answer)
      })

      const forget = (hex: string) => (hex === "" ? Cache.invalidateAll(memory) : Cache.invalidate(memory, hex))
      const revocations = yield* bus.subscribe(revokedSubject)
      yield* PubSub.take(revocations).pipe(Effect.flatMap(forget), Effect.forever, Effect.forkScoped)

      const insert = SqlSchema.void({
        Request: Row,
        execute: (row) =>
          sql`INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, created_at)
            VALUES (${row.id}, ${row.tenant_id}, ${row.kind}, ${row.name}, ${row.scopes}::text[], ${row.hash},
              ${row.prefix}, ${row.last_four}, ${row.created_at})`
      })
      const issue: Credentials["Service"]["issue"] = Effect.fn("Credentials.issue")(function* ({
        tenant_id,
        kind,
        name,
        scopes
      }) {
        const id = yield* newId(KeyId)
        const created_at = yield* DateTime.nowAsDate
        const prefix = tokenPrefix(kind, environment)
        const key = prefix + randomText(32)
        const last_four = key.slice(-4)
        const hash = digest("sha256", key, "buffer")
        yield* insert({ id, tenant_id, kind, name, scopes, hash, prefix, last_four, created_at })
        return { id, name, environment, scopes, key, prefix, last_four, created_at }
      }, Effect.orDie)
      const create = Effect.fn("Credentials.create")(function* (by: Principal, key: CreateApiKey) {
        if (key.environment !== undefined && key.environment !== environment) {
          const message = `this server makes ${environmentWord(environment)} keys only`
          return yield* new InvalidRequest({ errors: [{ path: "environment", message }] })
        }
        const required_scope = scopeBeyond(by.scopes, key.scopes)
        if (required_scope !== undefined) return yield* new InsufficientScope({ required_scope })
        const scopes = [...new Set(key.scopes)]
        return yield* issue({ tenant_id: by.tenant_id, kind: "api_key", name: key.name, scopes })
      })

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ tenant_id: Schema.String, limit: Schema.Int, offset: Schema.Int }),
        Result: Schema.toType(ApiKey),
        execute: ({ tenant_id, limit, offset }) =>
          sql`SELECT c.id, c.name, t.environment, c.scopes, c.prefix, c.last_four, c.created_at, c.revoked_at
            FROM credentials c JOIN tenants t ON t.id = c.tenant_id
            WHERE c.tenant_id = ${tenant_id} AND c.kind = 'api_key' ORDER BY c.id DESC LIMIT ${limit} OFFSET ${offset}`
      })
      const count = SqlSchema.findOne({
        Request: Schema.String,
        Result: Schema.Struct({ total: Schema.Int }),
        execute: (tenant_id) =>
          sql`SELECT count(*)::int AS total FROM credentials WHERE tenant_id = ${tenant_id} AND kind = 'api_key'`
      })
      const list: Credentials["Service"]["list"] = Effect.fn("Credentials.list")(function* (
        tenant_id,
        { page, limit }
      ) {
        const data = yield* listPage({ tenant_id, limit, offset: (page - 1) * limit })
        const { total } = yield* count(tenant_id)
        return { data, total }
      }, Effect.orDie)

      const markRevoked = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: Schema.String, id: Schema.String, now: Schema.Date }),
        Result: Schema.Struct({ hash: Schema.Uint8Array }),
        execute: ({ tenant_id, id, now }) =>
          sql`UPDATE credentials SET revoked_at = ${now}
            WHERE tenant_id = ${tenant_id} AND id = ${id} AND kind = 'api_key' AND revoked_at IS NULL RETURNING hash`
      })
      const revoke = Effect.fn("Credentials.revoke")(function* (tenant_id: TenantId, id: KeyId) {
        const now = yield* DateTime.nowAsDate
        const revoked = yield* Effect.orDie(markRevoked({ tenant_id, id, now }))
        if (revoked._tag === "None") return yield* new NotFound({ resource: "api_key", id: toTypeId("key", id) })
        const hex = Buffer.from(revoked.value.hash).toString("hex")
        yield* sql.afterCommit(Effect.andThen(forget(hex), bus.publish(revokedSubject, hex)))
      })

      return Credentials.of({ authenticate, create, issue, list, revoke })
    })
  )
}

const noHash = new Uint8Array(32)

const Row = Schema.Struct({
  id: Schema.String,
  tenant_id: Schema.String,
  kind: CredentialKind,
  name: Schema.String,
  scopes: Schema.Array(Schema.String),
  hash: Schema.Uint8Array,
  prefix: Schema.String,
  last_four: Schema.String,
  created_at: Schema.Date
})

const Holder = Schema.toType(
  Schema.Struct({
    id: KeyId,
    tenant_id: TenantId,
    account_id: AccountId,
    environment: Environment,
    kind: CredentialKind,
    scopes: Schema.Array(Schema.String),
    hash: Schema.Uint8Array,
    revoked_at: Schema.NullOr(Schema.Date)
  })
)

/** What a stored key gives its holder here. */
const admit = (holder: typeof Holder.Type, environment: Environment): Result.Result<Principal, CredentialRefused> => {
  if (holder.revoked_at !== null) return Result.fail(new ExpiredApiKey())
  if (holder.environment !== environment) {
    return Result.fail(new EnvironmentMismatch({ expected: environmentWord(environment) }))
  }
  return Result.succeed(
    new Principal({
      tenant_id: holder.tenant_id,
      environment,
      actor_type: holder.kind,
      actor_id: holder.id,
      account_id: holder.account_id,
      scopes: holder.scopes
    })
  )
}
