import { Clock, Context, DateTime, Effect, Layer, PubSub, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { hash as digest, timingSafeEqual } from "node:crypto"
import {
  ApiKey,
  type CreateApiKey,
  type CredentialRefused,
  EnvironmentMismatch,
  expiredCredential,
  InsufficientScope,
  OpaqueKind,
  readToken,
  scopeBeyond,
  tokenPrefix,
  unknownCredential,
  unreadableCredential
} from "#domain/Credential.ts"
import { type AccountId, KeyId, type TenantId, toTypeId } from "#domain/Ids.ts"
import { type Environment, environmentWord, type Principal } from "#domain/Principal.ts"
import { InvalidRequest, NotFound } from "#domain/Refusal.ts"
import { type CreateScannerKey, neededFor } from "#domain/ScannerKey.ts"
import * as Ended from "./Credentials/Ended.ts"
import * as Memory from "./Credentials/Memory.ts"
import { admit, Holder, noHash, Row } from "./Credentials/Records.ts"
import { Deployment } from "./Deployment.ts"
import { EventBus } from "./EventBus.ts"
import { keepForgetting } from "./Forgetting.ts"
import { newId } from "./NewId.ts"
import { randomText } from "./RandomText.ts"

/** Where revocations are announced: the revoked credential's hash in hex; empty when some may have been missed. */
export const revokedSubject = "credentials.revoked"

/** What a credential is made from. An agent's belongs to the agent, a portal token to the customer's account. */
export interface NewCredential {
  readonly tenant_id: TenantId
  readonly kind: OpaqueKind
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  readonly agent_id?: string
  /** The Ed25519 key that proved whose session it is: without the key there is no session. */
  readonly auth_key_id?: string
  readonly account_id?: AccountId
  readonly expires_at?: Date
}

/** Which credentials: all that match every field given. */
export interface Which {
  readonly tenant_id: TenantId
  readonly id?: string
  readonly kind?: OpaqueKind
  readonly agent_id?: string
  readonly auth_key_id?: string
}

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
    /** Whether it is remembered whose token this is, so that nobody would be asked. What is nobody's is not. */
    isRemembered(token: string): Effect.Effect<boolean>
    /** An API key for the caller's tenant, with at most the caller's own scopes. */
    create(by: Principal, key: CreateApiKey): Effect.Effect<Issued, InsufficientScope | InvalidRequest>
    /** A scanner key for the caller's tenant, for no more than the caller itself may do with the scanner. */
    createScannerKey(by: Principal, key: CreateScannerKey): Effect.Effect<Issued, InsufficientScope>
    /** A credential that somebody else asked us to make. Joins the caller's transaction. */
    issue(credential: NewCredential): Effect.Effect<Issued>
    /** A page of the tenant's keys of a kind, revoked ones too until they are forgotten, newest first, and how many there are. */
    list(
      tenant_id: TenantId,
      page: { readonly page: number; readonly limit: number },
      kind?: "api_key" | "scanner_key"
    ): Effect.Effect<{ readonly data: ReadonlyArray<ApiKey>; readonly total: number }>
    /** Takes effect on every process at once. A key that is revoked already is not found. */
    revoke(tenant_id: TenantId, id: KeyId, kind?: "api_key" | "scanner_key"): Effect.Effect<void, NotFound>
    /** Revokes all of these that were not yet, everywhere at once; how many. Joins the caller's transaction. */
    revokeAll(which: Which): Effect.Effect<number>
    /** Nobody remembers anything about these any more, because what is true of their holder changed. Joins the caller's transaction. */
    reconsider(which: Which): Effect.Effect<void>
    /**
     * Forgets sessions of agents a day after their end, portal tokens 30 days after theirs, and keys and agents' tokens 30 days after
     * they were revoked, at most 1,000 of each; how many.
     */
    readonly forgetEnded: Effect.Effect<number>
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
          sql`SELECT c.id, c.tenant_id, c.kind, c.scopes, c.hash, c.revoked_at, c.expires_at, t.environment, c.agent_id,
              g.status AS agent_status, coalesce(c.account_id, g.account_id, a.id) AS account_id
            FROM credentials c
            JOIN tenants t ON t.id = c.tenant_id
            JOIN accounts a ON a.tenant_id = c.tenant_id AND a.is_default
            LEFT JOIN agents g ON g.id = c.agent_id
            WHERE c.hash = ${hash}`
      })
      const judge = Effect.fnUntraced(function* (hex: string) {
        const hash = Buffer.from(hex, "hex")
        const found = yield* holderOf(hash)
        const holder = found._tag === "Some" ? found.value : undefined
        const matches = timingSafeEqual(holder?.hash ?? noHash, hash)
        if (holder === undefined || !matches) return undefined
        return { answer: admit(holder, environment), ends: holder.expires_at?.getTime() ?? Infinity }
      }, Effect.orDie)
      const memory = yield* Memory.make(judge)
      const authenticate = Effect.fnUntraced(function* (token: string) {
        const read = readToken(token)
        if (read === undefined) return yield* unreadableCredential(token)
        if (read.environment !== undefined && read.environment !== environment) {
          return yield* new EnvironmentMismatch({ expected: environmentWord(environment) })
        }
        const found = yield* memory.get(digest("sha256", token, "hex"))
        if (found === undefined) return yield* unknownCredential(read.kind)
        if (Result.isFailure(found.answer)) return yield* found.answer.failure()
        const principal = found.answer.success
        if (found.ends <= (yield* Clock.currentTimeMillis)) return yield* expiredCredential(read.kind)
        return principal
      })

      const isRemembered = (token: string) => memory.has(digest("sha256", token, "hex"))

      const revocations = yield* bus.subscribe(revokedSubject)
      yield* PubSub.take(revocations).pipe(Effect.flatMap(memory.forget), Effect.forever, Effect.forkScoped)

      const insert = SqlSchema.void({
        Request: Row,
        execute: (row) =>
          sql`INSERT INTO credentials (id, tenant_id, kind, name, scopes, hash, prefix, last_four, agent_id, auth_key_id,
              account_id, created_at, expires_at)
            VALUES (${row.id}, ${row.tenant_id}, ${row.kind}, ${row.name}, ${row.scopes}::text[], ${row.hash},
              ${row.prefix}, ${row.last_four}, ${row.agent_id}, ${row.auth_key_id}, ${row.account_id},
              ${row.created_at}, ${row.expires_at})`
      })
      const issue: Credentials["Service"]["issue"] = Effect.fn("Credentials.issue")(function* (credential) {
        const { kind, name, scopes, tenant_id } = credential
        const id = yield* newId(KeyId)
        const created_at = yield* DateTime.nowAsDate
        const prefix = tokenPrefix(kind, environment)
        const key = prefix + randomText(32)
        const last_four = key.slice(-4)
        const hash = digest("sha256", key, "buffer")
        yield* insert({
          id,
          tenant_id,
          kind,
          name,
          scopes,
          hash,
          prefix,
          last_four,
          agent_id: credential.agent_id ?? null,
          auth_key_id: credential.auth_key_id ?? null,
          account_id: credential.account_id ?? null,
          created_at,
          expires_at: credential.expires_at ?? null
        })
        return { id, name, environment, scopes, key, prefix, last_four, created_at }
      }, Effect.orDie)
      /** Nobody makes a key that may do more than its maker: `asked` is what this one may, in the maker's scopes. */
      const issueWithin = Effect.fnUntraced(function* (
        { scopes: held, tenant_id }: Principal,
        { kind, name, scopes }: Pick<NewCredential, "kind" | "name" | "scopes">,
        asked: ReadonlyArray<string>
      ) {
        const required_scope = scopeBeyond(held, asked)
        if (required_scope !== undefined) return yield* new InsufficientScope({ required_scope })
        return yield* issue({ tenant_id, kind, name, scopes: [...new Set(scopes)] })
      })
      const create = Effect.fn("Credentials.create")(function* (by: Principal, key: CreateApiKey) {
        if (key.environment !== undefined && key.environment !== environment) {
          const message = `this server makes ${environmentWord(environment)} keys only`
          return yield* new InvalidRequest({ errors: [{ path: "environment", message }] })
        }
        return yield* issueWithin(by, { ...key, kind: "api_key" }, key.scopes)
      })
      const createScannerKey = Effect.fn("Credentials.createScannerKey")(function* (
        by: Principal,
        key: CreateScannerKey
      ) {
        return yield* issueWithin(by, { ...key, kind: "scanner_key" }, neededFor(key.scopes))
      })

      const listPage = SqlSchema.findAll({
        Request: Schema.Struct({ tenant_id: Schema.String, kind: OpaqueKind, limit: Schema.Int, offset: Schema.Int }),
        Result: Schema.toType(ApiKey),
        execute: ({ tenant_id, kind, limit, offset }) =>
          sql`SELECT c.id, c.name, t.environment, c.scopes, c.prefix, c.last_four, c.created_at, c.revoked_at
            FROM credentials c JOIN tenants t ON t.id = c.tenant_id
            WHERE c.tenant_id = ${tenant_id} AND c.kind = ${kind} ORDER BY c.id DESC LIMIT ${limit} OFFSET ${offset}`
      })
      const count = SqlSchema.findOne({
        Request: Schema.Struct({ tenant_id: Schema.String, kind: OpaqueKind }),
        Result: Schema.Struct({ total: Schema.Int }),
        execute: ({ tenant_id, kind }) =>
          sql`SELECT count(*)::int AS total FROM credentials WHERE tenant_id = ${tenant_id} AND kind = ${kind}`
      })
      const list: Credentials["Service"]["list"] = Effect.fn("Credentials.list")(function* (
        tenant_id,
        { page, limit },
        kind = "api_key"
      ) {
        const data = yield* listPage({ tenant_id, kind, limit, offset: (page - 1) * limit })
        const { total } = yield* count({ tenant_id, kind })
        return { data, total }
      }, Effect.orDie)

      const matching = ({ agent_id, auth_key_id, id, kind, tenant_id }: Which) =>
        sql.and([
          sql`tenant_id = ${tenant_id}`,
          sql`revoked_at IS NULL`,
          ...(id === undefined ? [] : [sql`id = ${id}`]),
          ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
          ...(agent_id === undefined ? [] : [sql`agent_id = ${agent_id}`]),
          ...(auth_key_id === undefined ? [] : [sql`auth_key_id = ${auth_key_id}`])
        ])
      const Hashes = Schema.Array(Schema.Struct({ hash: Schema.Uint8Array }))
      const announce = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>) {
        const hashes = (yield* Schema.decodeUnknownEffect(Hashes)(rows)).map(({ hash }) =>
          Buffer.from(hash).toString("hex")
        )
        const tell = (hex: string) => Effect.andThen(memory.forget(hex), bus.publish(revokedSubject, hex))
        yield* sql.afterCommit(Effect.forEach(hashes, tell, { discard: true }))
        return hashes.length
      })
      // One transaction, also when nobody else has begun one: a caller who hangs up would leave a revocation that nobody hears of.
      const revokeAll = Effect.fn("Credentials.revokeAll")(
        function* (which: Which) {
          const now = yield* DateTime.nowAsDate
          const rows = yield* sql`UPDATE credentials SET revoked_at = ${now} WHERE ${matching(which)} RETURNING hash`
          return yield* announce(rows)
        },
        sql.withTransaction,
        Effect.orDie
      )
      const reconsider = Effect.fn("Credentials.reconsider")(function* (which: Which) {
        yield* announce(yield* sql`SELECT hash FROM credentials WHERE ${matching(which)}`)
      }, Effect.orDie)
      const revoke = Effect.fn("Credentials.revoke")(function* (
        tenant_id: TenantId,
        id: KeyId,
        kind: "api_key" | "scanner_key" = "api_key"
      ) {
        const revoked = yield* revokeAll({ tenant_id, id, kind })
        if (revoked === 0) return yield* new NotFound({ resource: kind, id: toTypeId("key", id) })
      })

      const forgetEnded = yield* Ended.make
      return Credentials.of({
        authenticate,
        isRemembered,
        create,
        createScannerKey,
        issue,
        list,
        revoke,
        revokeAll,
        reconsider,
        forgetEnded
      })
    })
  )

  /** Forgets every minute what ended long ago. Any number of processes may. */
  static readonly layerWorker = Layer.effectDiscard(
    Effect.flatMap(Credentials, ({ forgetEnded }) => keepForgetting("Ended credentials", forgetEnded, "1 minute"))
  )
}
