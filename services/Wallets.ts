import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { type AccountId, toTypeId, TransferId, WalletId } from "#domain/Ids.ts"
import { available, type LedgerAccount, systemAccount } from "#domain/LedgerAccount.ts"
import { Currency, formatDecimal } from "#domain/Money.ts"
import { addressForm, type Network, networksOf, parseAddress, sandboxAddress } from "#domain/Network.ts"
import type { IdempotencyClaim, Posted } from "#domain/Command.ts"
import { reaches, reachOf } from "#domain/Ownership.ts"
import { AmountTooLarge, type CurrencyMismatch, type IdempotencyKeyReused } from "#domain/PostingRefused.ts"
import type { Principal } from "#domain/Principal.ts"
import { Forbidden, NotFound } from "#domain/Refusal.ts"
import {
  AddressTaken,
  type CreateWallet,
  faucetLimit,
  Funding,
  type FundWallet,
  InvalidAddress,
  NetworkNotAvailable,
  ownerOnWire,
  type Wallet,
  walletDefaults,
  type WalletFilter
} from "#domain/Wallet.ts"
import { Ledger } from "./Ledger.ts"
import { newId } from "./NewId.ts"
import { NewWallet, TenantRef, WalletRef, WalletRow } from "./Wallets/Rows.ts"
import * as Known from "./Wallets/Known.ts"
import type { KnownWallet } from "./Wallets/Known.ts"
import * as Searching from "./Wallets/Searching.ts"
import * as Statement from "./Wallets/Statement.ts"
import type { StatementLine, StatementRange } from "./Wallets/Statement.ts"

/** Wallets of a tenant. Every method sees only what the caller reaches, but for wallets to pay to; all else is `NotFound`. */
export class Wallets extends Context.Service<
  Wallets,
  {
    /** Joins the caller's transaction. The owner must be there and, if an agent, active; `id` is made when left out. */
    create(
      caller: Principal,
      wallet: CreateWallet,
      id?: WalletId
    ): Effect.Effect<Wallet, NotFound | NetworkNotAvailable | InvalidAddress | AddressTaken>
    get(caller: Principal, id: WalletId): Effect.Effect<Wallet, NotFound>
    /** What never changes of a wallet of the caller's tenant, whoever has it, mostly without the database. */
    known(caller: Principal, id: WalletId): Effect.Effect<KnownWallet, NotFound>
    /** The same of a wallet that the caller may pay from. */
    own(caller: Principal, id: WalletId): Effect.Effect<KnownWallet, NotFound>
    /** Whether the caller reaches one of these wallets, and so may see what moves between them. */
    sees(caller: Principal, ids: ReadonlyArray<WalletId | null>): Effect.Effect<boolean>
    /** What an agent pays from when it names no wallet: its first, if it can be of this currency and network. */
    readonly firstOf: Effect.Success<typeof Known.make>["firstOf"]
    /** The same of many wallets at once; what is not there, or another tenant's, is not in the answer. */
    knownAll(caller: Principal, ids: Iterable<WalletId>): Effect.Effect<ReadonlyMap<WalletId, KnownWallet>>
    /** Newest first, with the number of all that match. */
    list(
      caller: Principal,
      filter: WalletFilter,
      range: { readonly limit: number; readonly offset: number }
    ): Effect.Effect<{ readonly wallets: ReadonlyArray<Wallet>; readonly total: number }>
    /** Where an account receives this currency on this network: its oldest active wallet. */
    byAccount(account: AccountId, currency: Currency, network: Network): Effect.Effect<Option.Option<Wallet>>
    /** What a caller would pay from as far as its credential says, its own or its account's; nothing for who cannot pay. */
    purseOf(caller: Principal, currency: Currency, network: Network): Effect.Effect<Option.Option<Wallet>>
    /** Gives sandbox money. A replay of the same idempotency claim answers what the first call answered. */
    fund(
      caller: Principal,
      id: WalletId,
      funding: FundWallet,
      claim?: IdempotencyClaim
    ): Effect.Effect<
      { readonly funding: Funding; readonly replayed: boolean },
      NotFound | Forbidden | AmountTooLarge | CurrencyMismatch | IdempotencyKeyReused
    >
    /** The statement, newest first, from before position `before`; `seq` is the position of a line. */
    entries(
      caller: Principal,
      id: WalletId,
      range: StatementRange
    ): Effect.Effect<ReadonlyArray<StatementLine>, NotFound>
    /** A frozen wallet receives but does not spend. Freezing it again only replaces the reason. */
    freeze(caller: Principal, id: WalletId, reason: string): Effect.Effect<Wallet, NotFound>
    /** Unfreezing an active wallet changes nothing. */
    unfreeze(caller: Principal, id: WalletId): Effect.Effect<Wallet, NotFound>
  }
>()("turnpike/services/Wallets") {
  static readonly layer = Layer.effect(
    Wallets,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const ledger = yield* Ledger
      const statement = yield* Statement.make
      const lookUp = yield* Known.make

      const wallets = sql`SELECT w.id, w.owner_type, w.owner_id, w.currency, w.network, w.address, w.name,
          a.posted - a.held AS balance_available, a.held AS balance_pending,
          CASE WHEN a.frozen THEN 'frozen' ELSE 'active' END AS status,
          w.frozen_reason, w.frozen_at, w.metadata, w.created_at, w.updated_at
        FROM wallets w JOIN ledger_accounts a ON a.id = w.id`

      const walletById = SqlSchema.findOneOption({
        Request: Schema.Struct({ tenant_id: TenantRef, id: WalletRef }),
        Result: WalletRow,
        execute: ({ tenant_id, id }) => sql`${wallets} WHERE w.id = ${id} AND w.tenant_id = ${tenant_id}`
      })
      const find = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
        const found = yield* Effect.orDie(walletById({ tenant_id: caller.tenant_id, id }))
        return Option.isSome(found) ? found.value : yield* noWallet(id)
      })
      const known = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
        const found = yield* lookUp.one(caller.tenant_id, id)
        return Option.isSome(found) ? found.value : yield* noWallet(id)
      })
      const own = Effect.fnUntraced(function* (caller: Principal, id: WalletId) {
        const found = yield* lookUp.one(caller.tenant_id, id)
        return Option.isSome(found) && reaches(caller, found.value) ? found.value : yield* noWallet(id)
      })
      // Who reaches the whole tenant need not be asked whose the wallet is.
      const reached = (caller: Principal, id: WalletId) =>
        reachOf(caller).to === "tenant" ? find(caller, id) : Effect.andThen(own(caller, id), find(caller, id))
      const get = Effect.fn("Wallets.get")(reached)
      const knownAll = (caller: Principal, ids: Iterable<WalletId>) => lookUp.all(caller.tenant_id, ids)
      const sees = Effect.fnUntraced(function* (caller: Principal, ids: ReadonlyArray<WalletId | null>) {
        if (reachOf(caller).to === "tenant") return true
        const found = yield* lookUp.all(
          caller.tenant_id,
          ids.filter((id) => id !== null)
        )
        return [...found.values()].some((wallet) => reaches(caller, wallet))
      })

      // The owner is looked up by the statement that names it: one of another tenant inserts nothing.
      const insert = SqlSchema.findOneOption({
        Request: NewWallet,
        Result: Schema.Struct({ id: WalletRef }),
        execute: (row) =>
          sql`INSERT INTO wallets (id, tenant_id, owner_type, owner_id, currency, network, address, name, metadata,
              created_at, updated_at)
            SELECT ${row.id}::uuid, tenant_id, type, id, ${row.currency}, ${row.network}, ${row.address},
              ${row.name}, ${row.metadata}::jsonb, ${row.at}::timestamptz, ${row.at}::timestamptz
            FROM (
              SELECT 'account' AS type, id, tenant_id FROM accounts WHERE id = ${row.owner_id}
              UNION ALL SELECT 'agent', id, tenant_id FROM agents WHERE id = ${row.owner_id} AND status <> 'deleted'
            ) owner WHERE type = ${row.owner_type} AND tenant_id = ${row.tenant_id} RETURNING id`
      })
      /** Whether an address is another tenant's, in whatever currency; until the commit nobody else makes a wallet of it. */
      const isForeign = Effect.fnUntraced(function* ({ address, network, tenant_id }: typeof NewWallet.Type) {
        yield* sql`SELECT pg_advisory_xact_lock(hashtextextended('turnpike.address', hashtext(${address})))`
        const others =
          yield* sql`SELECT 1 FROM wallets WHERE network = ${network} AND currency IN ${sql.in(Currency.literals)}
          AND address = ${address} AND tenant_id <> ${tenant_id} LIMIT 1`
        return others.length > 0
      })
      const insertOpened = Effect.fnUntraced(function* (caller: Principal, row: typeof NewWallet.Type) {
        const { address, currency, network } = row
        if (yield* isForeign(row)) return yield* new AddressTaken({ network, currency, address })
        yield* ledger.open({ id: row.id, purpose: "wallet", currency: row.currency })
        const inserted = yield* insert(row)
        if (Option.isNone(inserted)) return yield* new NotFound({ resource: row.owner_type, id: ownerOnWire(row) })
        return yield* find(caller, row.id)
      }, sql.withTransaction)
      const create = Effect.fn("Wallets.create")(function* (caller: Principal, input: CreateWallet, given?: WalletId) {
        const available = networksOf(caller.environment)
        const { currency, metadata, name, network, owner_id, owner_type } = { ...walletDefaults(caller), ...input }
        if (!available.includes(network)) return yield* new NetworkNotAvailable({ network, available })
        const id = given ?? (yield* newId(WalletId))
        const asked = input.address ?? (caller.environment === "sandbox" ? sandboxAddress(network, id) : "")
        const address = parseAddress(network, asked)
        if (address === undefined) {
          const reason = input.address === undefined ? "missing" : "malformed"
          return yield* new InvalidAddress({ network, reason, expected: addressForm(network) })
        }
        return yield* insertOpened(caller, {
          id,
          tenant_id: caller.tenant_id,
          owner_type,
          owner_id,
          currency,
          network,
          address,
          name,
          metadata,
          at: yield* DateTime.nowAsDate
        }).pipe(
          Effect.catchReason("SqlError", "UniqueViolation", () => new AddressTaken({ network, currency, address })),
          Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
        )
      })

      const fundable = Effect.fnUntraced(function* (caller: Principal, id: WalletId, { amount }: FundWallet) {
        if (caller.environment !== "sandbox") return yield* new Forbidden({ reason: "The faucet is sandbox only" })
        if (amount > faucetLimit) return yield* new AmountTooLarge({ maximum: formatDecimal(faucetLimit) })
        return yield* reached(caller, id)
      })
      const fund = Effect.fn("Wallets.fund")(function* (
        caller: Principal,
        id: WalletId,
        wanted: FundWallet,
        claim?: IdempotencyClaim
      ) {
        const found = yield* Effect.result(fundable(caller, id, wanted))
        if (Result.isFailure(found)) {
          // The ledger, which knows the keys, is not asked for what it could never do.
          const known = claim === undefined ? Option.none() : yield* ledger.recall(claim)
          if (Option.isNone(known)) return yield* found.failure
          return { funding: yield* Effect.orDie(decodeFunding(known.value)), replayed: true }
        }
        const wallet = found.success
        const { amount, currency } = wanted
        const after = (posted: Posted, account: LedgerAccount | undefined): Funding => ({
          transfer_id: TransferId.make(posted.command_id),
          wallet: {
            ...wallet,
            ...(account && { balance_available: available(account), balance_pending: account.held })
          }
        })
        const issuance = systemAccount("issuance", currency)
        const transfer_id = yield* newId(TransferId)
        const posted = yield* ledger
          .post({
            id: transfer_id,
            steps: [{ kind: "transfer", debit: issuance, credit: id, currency, amount, code: "faucet" }],
            idempotency: claim,
            result: (done, account) => encodeFunding(after(done, account(id)))
          })
          .pipe(
            Effect.catchTags({
              SAME_WALLET: Effect.die,
              WALLET_FROZEN: Effect.die,
              INSUFFICIENT_BALANCE: Effect.die,
              HOLD_NOT_OPEN: Effect.die
            })
          )
        // Under its own id it was this very call, whose first answer was lost on the way from the database.
        const replayed = posted.command_id !== transfer_id
        if (posted.result !== undefined) {
          return { funding: yield* Effect.orDie(decodeFunding(posted.result)), replayed }
        }
        return { funding: { ...after(posted, undefined), wallet: yield* find(caller, id) }, replayed: false }
      })

      const entries = Effect.fn("Wallets.entries")(function* (caller: Principal, id: WalletId, range: StatementRange) {
        return yield* statement(yield* reached(caller, id), range)
      })

      const setFreeze = SqlSchema.findOneOption({
        Request: Schema.Struct({
          tenant_id: TenantRef,
          id: WalletRef,
          reason: Schema.NullOr(Schema.String),
          at: Schema.Date
        }),
        Result: Schema.Struct({ id: WalletRef }),
        execute: ({ tenant_id, id, reason, at }) =>
          sql`UPDATE wallets SET frozen_reason = ${reason},
              frozen_at = CASE WHEN ${reason}::text IS NOT NULL THEN coalesce(frozen_at, ${at}::timestamptz) END,
              updated_at = CASE WHEN frozen_reason IS DISTINCT FROM ${reason} THEN ${at}::timestamptz ELSE updated_at END
            WHERE id = ${id} AND tenant_id = ${tenant_id} RETURNING id`
      })
      const setFrozen = Effect.fnUntraced(
        function* (caller: Principal, id: WalletId, reason: string | null) {
          const request = { tenant_id: caller.tenant_id, id, reason, at: yield* DateTime.nowAsDate }
          if (Option.isNone(yield* setFreeze(request))) return yield* noWallet(id)
          yield* ledger.setFrozen(id, reason !== null)
          return yield* find(caller, id)
        },
        sql.withTransaction,
        Effect.catchTags({ SqlError: Effect.die, SchemaError: Effect.die })
      )
      const freeze = Effect.fn("Wallets.freeze")(setFrozen)
      const unfreeze = Effect.fn("Wallets.unfreeze")((caller: Principal, id: WalletId) => setFrozen(caller, id, null))

      return Wallets.of({
        ...Searching.make(sql, wallets),
        create,
        get,
        known,
        own,
        knownAll,
        sees,
        firstOf: lookUp.firstOf,
        fund,
        entries,
        freeze,
        unfreeze
      })
    })
  )
}

const noWallet = (id: WalletId) => new NotFound({ resource: "wallet", id: toTypeId("wal", id) })

const encodeFunding = Schema.encodeSync(Funding)
const decodeFunding = Schema.decodeUnknownEffect(Funding)
